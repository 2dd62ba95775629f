"""What a memory keeps of labelled real sessions: ``python -m benchmarks.knowledge FILE…``.

A gold file (see `benchmarks.gold.sessions`) says what a careful reader would keep of each
session and what only looks like knowledge. One memory a corpus lives through its sessions
under a clock that is set, with the daily and the weekly job, by the public interface and
without a model. ``--data DIR`` names the folders of the texts, by default the one above
the file's. The words of the figures:

=========  ======================================================================
held       a live note quotes an evidence turn, and all words that the item cannot
           do without stand in the note or its quotes
own        the same without the quotes
lenient    a live note quotes an evidence turn
bad        the note keeps what only looks like knowledge, and holds no item
supported  the note is not bad and quotes evidence of some item
=========  ======================================================================

``_w`` counts items by their weight. The worst misses and the worst cards are printed too.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.gold import judged
from benchmarks.gold.judged import Figures, Row, share
from benchmarks.gold.lived import Lived, Note
from benchmarks.gold.matching import letters
from benchmarks.gold.sessions import GoldSession, MissingTextError, Texts
from benchmarks.record import save

BLOCK_TOKENS = 800
WORST = 12
"""So many misses and cards are printed."""
_KINDS = {"cards": "card", "events": "event", "digest": "digest"}
_IDLE = re.compile(r"\^[\w.-]+\s*$|<!--.*?-->|\[\[[^\]]*\]\]")
_LEAST = 4
"""Letters of a line that says something."""


def said_lines(text: str) -> list[str]:
    """Return the lines of a page that say something: no headings, tags, ids or links."""
    lines = (_IDLE.sub("", line).strip().lstrip("|>-*+ ").strip() for line in text.splitlines())
    return [
        line
        for line in lines
        if line and not line.startswith(("#", "<", "---")) and len(letters(line)) >= _LEAST
    ]


@dataclass(slots=True)
class Tally:
    """Everything that was counted over the corpora of a gold file."""

    sessions: int = 0
    turns: Counter[str] = field(default_factory=Counter)
    rows: list[tuple[str, Row]] = field(default_factory=list)
    notes: list[tuple[str, Note]] = field(default_factory=list)
    pages: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    changes: list[Figures] = field(default_factory=list)
    ceilings: list[tuple[bool, bool, bool]] = field(default_factory=list)
    nevers: list[bool] = field(default_factory=list)
    details: list[Figures] = field(default_factory=list)

    def add(self, lived: Lived) -> None:
        """Count one memory."""
        judged.judge(lived)
        self.sessions += len(lived.sessions)
        self.turns[lived.set] += lived.turn_count
        for row, session, item in judged.rows_of(lived):
            self.rows.append((lived.set, row))
            self.details.append(_told_item(lived, row, session, item))
        self.notes += [(lived.set, note) for note in lived.notes]
        self.details += [_told_note(lived, note) for note in lived.notes]
        for name, lines in _pages(lived).items():
            self.pages[name].update(judged.stand_in_lines(lived, lines))
        self.changes += judged.changes(lived)
        self.ceilings += judged.ceilings(lived)
        self.nevers += judged.kept_nevers(lived)

    def figures(self) -> Figures:
        """Return the figures of everything that was counted."""
        rows = [row for _, row in self.rows]
        live = [(name, note) for name, note in self.notes if note.live]
        statuses = Counter(f"{note.kind}/{note.status}" for _, note in self.notes)
        named = [row for row in rows if row.named is not None]
        quoted = [row for row in named if row.lenient]
        ceilings = list(zip(*self.ceilings, strict=True)) or [(), (), ()]
        names = ("all_evidence", "one_turn", "one_sentence")
        return {
            "sessions": self.sessions,
            "turns": self.turns.total(),
            "items": len(rows),
            "never": len(self.nevers),
            "coverage": self._coverage(),
            "named": {
                "items_of_named_speakers": len(named),
                "of_those_quoted": share(sum(bool(row.named) for row in quoted), len(quoted)),
            },
            "ceiling_of_quoting": {
                name: share(sum(held), len(held))
                for name, held in zip(names, ceilings, strict=True)
            },
            "precision": self._precision(live),
            "card_types": self._card_types(live),
            "statuses": dict(sorted(statuses.items())),
            "never_kept": share(sum(self.nevers), len(self.nevers)),
            **{name: _page_figures(counts) for name, counts in self.pages.items()},
            "replaces": self._replaces(),
            **self._amounts(live),
        }

    def _coverage(self) -> Figures:
        rows = [row for _, row in self.rows]
        return {
            "all": judged.cover(rows),
            "by_set": _cover_by(self.rows, lambda set, row: set),
            "by_kind": _cover_by(self.rows, lambda set, row: row.kind),
            "by_weight": _cover_by(self.rows, lambda set, row: str(row.weight)),
            "by_said": _cover_by(self.rows, lambda set, row: row.said_by),
        }

    def _precision(self, live: Sequence[tuple[str, Note]]) -> Figures:
        found: Figures = {}
        for label, kind in _KINDS.items():
            notes = [(name, note) for name, note in live if note.kind == kind]
            found[label] = judged.precision([note for _, note in notes])
            for one in sorted(self.turns):
                of_set = [note for name, note in notes if name == one]
                found[f"{label}/{one}"] = judged.precision(of_set)
        return found

    def _card_types(self, live: Sequence[tuple[str, Note]]) -> Figures:
        types = sorted({note.type for _, note in self.notes if note.kind == "card"})
        cards = [note for _, note in live if note.kind == "card"]
        return {one: judged.precision([n for n in cards if n.type == one]) for one in types}

    def _replaces(self) -> Figures:
        both = [{**one, "both": one["old_superseded"] and one["new_live"]} for one in self.changes]
        names = ("both", "old_known", "old_superseded", "old_no_longer_live", "new_live")
        counted = {
            name: share(sum(one[name] for one in both), len(both))
            for name in (*names, "new_live_lenient")
        }
        return {"items": len(both), **counted}

    def _amounts(self, live: Sequence[tuple[str, Note]]) -> Figures:
        def often(kind: str, only: str = "") -> float:
            count = sum(note.kind == kind and only in ("", name) for name, note in live)
            turns = self.turns[only] if only else self.turns.total()
            return round(100 * count / max(1, turns), 1)

        return {
            "cards_per_100_turns": often("card"),
            "events_per_100_turns": often("event"),
            "cards_per_100_turns_by_set": {one: often("card", one) for one in sorted(self.turns)},
        }


def _cover_by(rows: Iterable[tuple[str, Row]], key: Callable[[str, Row], str]) -> Figures:
    groups = defaultdict[str, list[Row]](list)
    for name, row in rows:
        groups[key(name, row)].append(row)
    return {name: judged.cover(of) for name, of in sorted(groups.items())}


def _pages(lived: Lived) -> dict[str, list[str]]:
    """Return the lines of MEMORY.md and of the block at the start of a session."""
    path = lived.root / "MEMORY.md"
    text = path.read_text("utf-8") if path.is_file() else ""
    body = re.sub(r"\A\ufeff?---\r?\n.*?\r?\n---\r?\n?", "", text, flags=re.S)
    block = lived.memory.context("start", budget=BLOCK_TOKENS)
    return {"MEMORY.md": said_lines(body), f"context_start_{BLOCK_TOKENS}": said_lines(block.text)}


def _page_figures(counts: Counter[str]) -> Figures:
    found: Figures = dict(counts)
    found["share_there"] = share(counts["there"], counts["wanted"])
    for name in ("bad", "bad_any", "supported"):
        found[f"share_{name}"] = share(counts[name], counts["lines"])
    return found


def _told_item(lived: Lived, row: Row, session: GoldSession, item: Mapping[str, Any]) -> Figures:
    near = [note for note in lived.notes if (session.id, item["id"]) in note.near]
    return {
        "what": "item",
        **{"corpus": lived.name, "session": session.id, "id": item["id"]},
        **{"kind": row.kind, "weight": row.weight},
        **{"held": row.held, "own": row.own, "lenient": row.lenient},
        **{"statement": item["statement"], "must_words": item["must_words"]},
        "notes": [f"{note.kind}/{note.type}/{note.status}: {note.own[:160]}" for note in near[:4]],
    }


def _told_note(lived: Lived, note: Note) -> Figures:
    verdict = "bad" if note.bad else "supported" if note.supported else "neither"
    return {
        "what": "note",
        **{"corpus": lived.name, "kind": note.kind, "type": note.type, "status": note.status},
        **{"verdict": verdict, "never": [text for _, text in note.hits[:2]]},
        **{"holds": sorted("/".join(place) for place in note.holds), "own": note.own[:300]},
        "quotes": [(place[1], quote[:200]) for place, quote in note.quotes[:3]],
    }


def measure(path: Path, folders: Sequence[Path], corpus: str = "") -> tuple[Figures, list[Figures]]:
    """Return the figures of a gold file, and every item and note with its verdict.

    Args:
        path: the gold file.
        folders: where the texts are.
        corpus: only those whose set or name holds this.
    """
    texts, tally, groups = Texts(folders), Tally(), defaultdict[tuple[str, str], list[Any]](list)
    for labels in map(json.loads, filter(str.strip, path.read_text("utf-8").split("\n"))):
        if corpus in f"{labels['set']}/{labels['corpus']}":
            groups[labels["set"], labels["corpus"]].append(labels)
    wanted = sum(map(len, groups.values()))
    for (set_name, name), lines in groups.items():
        sessions = []
        for labels in lines:
            try:
                session = texts.session(labels)
            except MissingTextError as error:
                print(f"left out {name}/{labels['session']}: {error}", file=sys.stderr)
                continue
            sessions += [session] if session.turns else []
        if sessions:
            with tempfile.TemporaryDirectory(prefix="kimi-memory-gold-") as folder:
                lived = Lived(set_name, name, sessions, Path(folder))
                tally.add(lived)
                lived.memory.close()
    left_out = {"left_out": wanted - tally.sessions}
    return {"gold": path.name, **left_out, **tally.figures()}, tally.details


def worst_misses(details: Iterable[Figures]) -> list[Figures]:
    """Return items that no live note holds, those of most weight first."""
    missed = [one for one in details if one["what"] == "item" and not one["held"]]
    return sorted(missed, key=lambda one: (-one["weight"], one["lenient"]))


def worst_cards(details: Iterable[Figures]) -> list[Figures]:
    """Return live cards and events that are bad, then those that are about no item."""
    ranks = {"bad": 0, "neither": 1}
    live = (one for one in details if one["what"] == "note" and one["status"] in judged.LIVE)
    return sorted(
        (one for one in live if one["verdict"] in ranks and one["kind"] != "digest"),
        key=lambda one: ranks[one["verdict"]],
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the gold files named on the command line."""
    parser = argparse.ArgumentParser(
        prog="benchmarks.knowledge",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--data", action="append", type=Path, help="folder of texts, repeatable")
    parser.add_argument("--corpus", default="", help="only corpora with this in set/name")
    parser.add_argument("--details", type=Path, help="write every item and note there, JSONL")
    parser.add_argument("--worst", type=int, default=WORST, help="so many misses and cards")
    parser.add_argument("--record", type=Path, help="write the figures and their setting there")
    parser.add_argument("--json", action="store_true", help="one JSON object for machines")
    given = parser.parse_args(arguments)
    results, details = {}, list[Figures]()
    for path in given.files:
        folders = given.data or [_texts_of(path)]
        results[path.name], found = measure(path, folders, given.corpus)
        details += found
        if not given.json:
            _show(results[path.name])
            _show_worst(found, given.worst)
    if given.json:
        print(json.dumps(results, ensure_ascii=False, indent=1))
    if given.details:
        lines = (json.dumps(one, ensure_ascii=False) for one in details)
        given.details.write_text("\n".join(lines) + "\n", "utf-8")
    if given.record:
        names = " ".join(path.name for path in given.files)
        save(given.record, f"python -m benchmarks.knowledge {names}", results)
    return 0


def _texts_of(path: Path) -> Path:
    named = os.environ.get("KIMI_MEMORY_DATA")
    return Path(named) if named else path.resolve().parent.parent


def _percent(value: float | None) -> str:
    return "   –" if value is None else f"{100 * value:4.0f}"


def _show(figures: Figures) -> None:
    coverage = figures["coverage"]
    weights = {f"weight {name}": row for name, row in reversed(coverage["by_weight"].items())}
    said = {f"said by {name}": row for name, row in coverage["by_said"].items()}
    rows = {"all": coverage["all"], **coverage["by_set"], **weights, **coverage["by_kind"], **said}
    print(f"\n{figures['gold']}: {figures['sessions']} sessions, {figures['turns']} turns")
    print(f"{'coverage, %':22}{'items':>6} held  own  len | held_w own_w len_w")
    for name, row in rows.items():
        plain = " ".join(_percent(row[key]) for key in ("held", "own", "lenient"))
        heavy = "  ".join(_percent(row[key]) for key in ("held_w", "own_w", "lenient_w"))
        print(f"{name:22}{row['items']:>6} {plain} |  {heavy}")
    print(f"\n{'precision, %':22}{'n':>6}  bad  any supp neither holds an item")
    types = {f"type {name}": row for name, row in figures["card_types"].items()}
    for name, row in {**figures["precision"], **types}.items():
        if row["n"]:
            keys = ("bad", "bad_any", "supported", "neither", "holds_item")
            print(f"{name:22}{row['n']:>6} {' '.join(_percent(row[key]) for key in keys)}")
    for name in ("MEMORY.md", f"context_start_{BLOCK_TOKENS}"):
        row = figures[name]
        shares = {
            key: _percent(row[f"share_{key}"]).strip() for key in ("there", "bad", "supported")
        }
        print(
            f"{name:22}important items {row['there']}/{row['wanted']} ({shares['there']} %), "
            f"{row['lines']} lines, bad {shares['bad']} %, hold an item {shares['supported']} %"
        )
    for name in ("ceiling_of_quoting", "named", "never_kept", "replaces", "cards_per_100_turns"):
        print(f"{name:22}{figures[name]}")


def _show_worst(details: Sequence[Figures], count: int) -> None:
    print("\nworst misses")
    for one in worst_misses(details)[:count]:
        near = f"\n      beside: {one['notes'][0]}" if one["notes"] else ""
        print(f"  {one['weight']} {one['kind']:11} {one['corpus']}: {one['statement']}{near}")
    print("\nworst cards and events")
    for one in worst_cards(details)[:count]:
        never = f"\n      keeps: {one['never'][0]}" if one["never"] else ""
        said = one["own"].replace("\n", " | ")[:160]
        print(
            f"  {one['verdict']:8} {one['type'] or one['kind']:11} {one['corpus']}: {said}{never}"
        )


if __name__ == "__main__":
    sys.exit(main())
