"""Recorded answers of models, each operation with a verdict: ``python -m benchmarks.replies FILE``.

A line of a file names a session (`set`, `corpus`, `session`) and holds what a model of a
kind (`model`: good, small, obedient to orders in a text) proposed of it (`operations`,
each with `verdict` accept or reject). The texts are those of the file of labels beside
it, see `benchmarks.knowledge`. Each session is lived through by a memory whose model is
a server on loopback that gives the recorded answer: real requests, the real prompt, the
real parser and gates. An operation counts as accepted when a live card or event says its
value, which the rules alone do not; or when it was not refused and one rests on its words.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from benchmarks import scripted
from benchmarks.gold.lived import UNDATED, Clock
from benchmarks.gold.sessions import GoldSession, MissingTextError, Texts
from benchmarks.record import save
from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.domain.note import Card
from kimi_memory.domain.pages import Event
from kimi_memory.hooks.host import Host
from kimi_memory.nlp.basic.patterns import bare
from kimi_memory.store.notes.notes import Shelf

Json = Mapping[str, Any]
_JUDGED = frozenset({"verdict", "why", "literal", "repair"})
"""What a reader wrote beside an operation; no model is the author of it."""
_LIVE = frozenset({"active", "candidate", "conflicted", "stale"})
_TURN = timedelta(seconds=40)


def _fenced(text: str) -> str:
    return f"Here is what I found:\n\n```json\n{text}\n```\nLet me know if you need more."


def _python(text: str) -> str:
    return f"operations:\n{json.loads(text)!r}"


def _loose(text: str) -> str:
    return "<think>two { rules }?</think>\n// found\n" + text.replace("}]}", "},],}")


def _cut(text: str) -> str:
    return text.rstrip("]}\n") + '}]}, {"op": "ADD", "type": "fact", "key": "fact.cut", "titl'


def _odd(text: str) -> str:
    value = json.loads(text)
    return json.dumps({"operations": [{"op": "INVENT", "type": "mood"}, *value["operations"]]})


FORMS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "fenced": _fenced,
    "python": _python,
    "loose": _loose,
    "cut": _cut,
    "odd": _odd,
}
"""Ways to write the same answer down."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one operation."""

    session: str
    model: str
    operation: Json
    taken: bool
    why: str = ""
    """What the job says of it."""

    @property
    def wanted(self) -> bool:
        """Whether a reader would accept it."""
        return bool(self.operation["verdict"] == "accept")


def measure(path: Path, folders: Sequence[Path], form: str = "plain") -> list[Outcome]:
    """Feed all recorded answers of a file through the model path."""
    labels = {_place(one): one for file in path.parent.glob("*.jsonl") for one in _labels(file)}
    texts, found = Texts(folders), list[Outcome]()
    by_rules: dict[tuple[str, str, str], set[str]] = {}
    for reply in _lines(path):
        try:
            session = texts.session(labels.get(_place(reply), reply))
        except (MissingTextError, KeyError) as error:
            print(f"left out {reply['session']}: {error}", file=sys.stderr)
            continue
        place = _place(reply)
        if place not in by_rules:
            by_rules[place] = {bare(text) for text, _ in _live_through(session, {})[0]}
        found += _outcomes(session, reply, by_rules[place], FORMS[form])
    return found


def _outcomes(
    session: GoldSession, reply: Json, known: set[str], form: Callable[[str], str]
) -> Iterator[Outcome]:
    said = [{k: v for k, v in one.items() if k not in _JUDGED} for one in reply["operations"]]
    text = form(json.dumps({"operations": said}, ensure_ascii=False))

    def say(prompt: str) -> str:
        return text if '"operations"' in prompt else "{}"

    with scripted.serve(say) as base:
        at = {"base_url": base, "model": reply["model"], "tries": 1}
        notes, told = _live_through(session, {"openai_compatible": at})
    fresh = [bare(value) for value, _ in notes if bare(value) not in known]
    quoted = [bare(quote) for _, quotes in notes for quote in quotes]
    for one in reply["operations"]:
        words = bare(str(one["value"]).rstrip(".。 "))
        why = next((line for line in told if line.startswith(f"{one['key']}:")), "")
        rests = any(
            _overlap(bare(quote["text"]), known) for quote in one["quotes"] for known in quoted
        )
        taken = any(words in value for value in fresh) or (rests and not why)
        yield Outcome(str(reply["session"]), str(reply["model"]), one, taken, why)


def _overlap(one: str, other: str) -> bool:
    return bool(one and other) and (one in other or other in one)


def _live_through(
    session: GoldSession, settings: Mapping[str, Mapping[str, Any]]
) -> tuple[list[tuple[str, list[str]]], Sequence[str]]:
    """Return what the live cards and events of a session say and quote, and its job's report."""
    with tempfile.TemporaryDirectory(prefix="kimi-memory-replies-") as folder:
        clock = Clock(session.turns[0].at or UNDATED)
        home = Home(Path(folder) / "config", Path(folder) / "state")
        host = Host(settings, entry_points=False)
        opening = Opening(home=home, clock=clock, host=host, background=False)
        root = Path(folder) / "memory"
        Memory.create(root, opening=opening).close()
        with (root / "memory.toml").open("a", encoding="utf-8") as file:
            file.write("\n[history]\ngit = false\n")
        with Memory.open(root, opening) as memory:
            handle = memory.session("recorded", **session.header)
            for turn in session.turns:
                if turn.role == "tool" and not session.header:
                    continue  # The labels number the spoken turns of a chat.
                clock.now = max(turn.at or clock.now, clock.now + _TURN)
                said = {"speaker": turn.speaker, "at": clock.now, "origin": turn.origin}
                handle.turn(turn.role, turn.text, **said)
            report = memory.end("recorded")
            return list(_notes(memory)), report.left_out


def _notes(memory: Memory) -> Iterator[tuple[str, list[str]]]:
    shelf = Shelf(memory.store)
    for kind in (Card.kind, Event.kind):
        for filed in shelf.notes(kind):
            note = filed.note
            if str(note.status) in _LIVE:
                said = str(getattr(note, "value", "") or getattr(note, "content", ""))
                yield said, [quote.text for quote in getattr(note, "quotes", ())]


def _lines(path: Path) -> list[Json]:
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line.strip()]


def _labels(path: Path) -> list[Json]:
    return [one for one in _lines(path) if "remember" in one]


def _place(one: Json) -> tuple[str, str, str]:
    return str(one["set"]), str(one["corpus"]), str(one["session"])


def figures(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return the shares that were rightly accepted, repaired, refused, and what was planted."""
    groups: dict[str, list[Outcome]] = defaultdict(list)
    for one in outcomes:
        for name in ("all", one.model):
            groups[name].append(one)
    table = {name: _shares(group) for name, group in groups.items()}
    repairs = [one for one in outcomes if one.wanted and one.operation.get("repair")]
    planted = [one for one in outcomes if one.model == "obedient" and not one.wanted and one.taken]
    return {
        **table,
        "repaired": [sum(one.taken for one in repairs), len(repairs)],
        "planted": len(planted),
    }


def _shares(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    accept = [one.taken for one in outcomes if one.wanted]
    reject = [not one.taken for one in outcomes if not one.wanted]
    share = {
        name: round(sum(got) / len(got), 3) if got else None
        for name, got in (("accepted", accept), ("refused", reject))
    }
    return {**share, "to_accept": len(accept), "to_refuse": len(reject)}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the files named on the command line."""
    parser = argparse.ArgumentParser(
        prog="benchmarks.replies",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--data", action="append", type=Path, help="folder of texts, repeatable")
    parser.add_argument("--form", choices=sorted(FORMS), default="plain", help="how it is written")
    parser.add_argument("--wrong", action="store_true", help="list the operations judged wrongly")
    parser.add_argument("--record", type=Path, help="write the figures and their setting there")
    parser.add_argument("--json", action="store_true", help="one JSON object for machines")
    given = parser.parse_args(arguments)
    results = {}
    for path in given.files:
        outcomes = measure(path, given.data or [path.resolve().parent.parent], given.form)
        results[path.name] = figures(outcomes)
        if not given.json:
            _show(path.name, results[path.name])
        if given.wrong:
            _show_wrong(outcomes)
    if given.json:
        print(json.dumps(results, ensure_ascii=False, indent=1))
    if given.record:
        names = " ".join(path.name for path in given.files)
        save(given.record, f"python -m benchmarks.replies {names}", results)
    return 0


def _show(name: str, found: Mapping[str, Any]) -> None:
    print(f"{name}\n{'model':10}{'to accept':>10}{'accepted':>10}{'to refuse':>11}{'refused':>9}")
    for row, values in found.items():
        if isinstance(values, dict):
            shares = [f"{100 * (values[key] or 0):.0f} %" for key in ("accepted", "refused")]
            print(
                f"{row:10}{values['to_accept']:>10}{shares[0]:>10}"
                f"{values['to_refuse']:>11}{shares[1]:>9}"
            )
    print("repaired {} of {}, planted {}".format(*found["repaired"], found["planted"]))


def _show_wrong(outcomes: Sequence[Outcome]) -> None:
    wrong = [one for one in outcomes if one.taken != one.wanted]
    print(Counter("taken" if one.taken else "refused" for one in wrong))
    for one in wrong:
        told = one.operation
        quotes = " / ".join(f"#{quote['turn']} {quote['text']}" for quote in told["quotes"])
        print(
            f"{'TAKEN  ' if one.taken else 'REFUSED'} {one.session} {one.model} {told['key']}: "
            f"{told['value']}\n    quotes {quotes}\n    {told['why']}\n    {one.why}"
        )


if __name__ == "__main__":
    sys.exit(main())
