"""What stands around an answer in the block of a prompt: ``python -m benchmarks.blocks FILE…``.

Files with ``docs`` are memories of labelled questions, see `benchmarks.quality`. Gold files
(with ``remember``) become one memory a language that several people share: each person's own
chats, and the sessions of coding agents as those of a further person and of a project. They
are asked the prompts that were written for their items, as the person and in the project that
the item is of. Every block has the room that one has in a hook. The words of the figures:

========  ======================================================================
evidence  share of the blocks that show a turn or a note of the evidence
first     share of the blocks, of those with evidence, whose first line below the
          orders is evidence
place     lines down to the first evidence, orders among them
before    tokens above it
after     lines below the last evidence
noise     share of lines in which a tool reports success, in which an agent announces
          its next step, or that have at most a few words
foreign   share of the orders shown that another person or another project gave
========  ======================================================================
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from benchmarks.gold import judged
from benchmarks.gold.lived import Lived
from benchmarks.gold.prompts import FOLDER, Prompt, read_prompts
from benchmarks.gold.sessions import GoldSession, MissingTextError, Texts
from benchmarks.quality import asked
from benchmarks.quiet import is_gold, read_memories, sampled, written_memory
from benchmarks.record import save
from kimi_memory.domain.search_types import Context
from kimi_memory.nlp.basic.sentences import estimate

BUDGET = 900
"""Tokens of a block that a hook gives with a prompt."""
SAMPLE = 100
"""Questions of a memory that are asked."""
CODE = ("coder", "the-cli")
"""The person and the project that the sessions of coding agents are given."""
_SETS = frozenset({"own_chat", "specstory"})
_FEW = 3
"""A line of no more words, or of twice as many Chinese characters, says nothing by itself."""

_HEADING = re.compile(r"\| - .*\.(?:jsonl|md)(?:, \d{4}-\d\d-\d\d)?:")
_FRAME = re.compile(r"\| - (?:L\d+(?:-L\d+)? )?(?:\[[^\]]*\] )?(?:(?P<who>[\w .&-]{1,30}): )?")
_PLACE = re.compile(r" \([^()]*\.(?:jsonl|md)(?:#L[\d-]+L?\d*)?\)$")
_ECHO = re.compile(
    r"todos have been modified|has been (?:updated|created|modified|saved)\b.{0,30}success"
    r"|^(?:the )?file \S+ has been|^file created|^no (?:files|matches) found"
    r"|^found \d+ (?:files|match)"
    r"|^exit code|^\(no (?:content|output)\)|(?:\b\d+→.*){3}|^total \d+ |^(?:[-drwx]{10} .*){2}"
    r"|^(?:[\w./-]+\.\w{1,4}\s+){3,}|^(?:[+@-]{1,3} .*){2}",
    re.I,
)
_ANNOUNCES = re.compile(
    r"(?:(?:great|good|perfect|ok(?:ay)?|excellent|sure|yes|now|right)\b[^.!:]{0,30}[.!:,]? ?)*"
    r"(?:let me|let's|i'll|i will|i need to|i'm going to|now i|now let)\b"
    r"|(?:好的?，?)?(?:让我|我来|我先|接下来我|现在我)",
    re.I,
)
_LONGEST_ANNOUNCEMENT = 45
"""An agent's turn of more words tells more than what comes next."""


class Entry(NamedTuple):
    """One line of a block."""

    id: str
    text: str
    """As it stands there."""
    order: bool

    @property
    def noise(self) -> bool:
        """Whether it is an echo, an announcement, or says nothing."""
        frame = _FRAME.match(self.text)
        said = _PLACE.sub("", self.text[frame.end() :] if frame else self.text)
        words = len(re.findall(r"\w+", said)) + len(re.findall(r"[\u3400-\u9fff]", said)) // 2
        agent = "[agent" in self.text[:40] or bool(frame and frame["who"] == "assistant")
        announces = agent and words <= _LONGEST_ANNOUNCEMENT and _ANNOUNCES.match(said)
        return words <= _FEW or bool(_ECHO.search(said)) or bool(announces)


def read_entries(block: Context) -> list[Entry]:
    """Return the lines of a block with their ids."""
    found, orders = list[tuple[str, bool]](), False
    for line in block.text.splitlines():
        if line.startswith("| ## "):
            orders = line.endswith((" Orders", " 要求"))
        elif line.startswith("| - ") and not _HEADING.fullmatch(line):
            found.append((line, orders))
    if len(found) != len(block.lines):
        raise ValueError(f"{len(block.lines)} lines, and {len(found)} are seen:\n{block.text}")
    return [Entry(id, *one) for id, one in zip(block.lines, found, strict=True)]


class Shown(NamedTuple):
    """What one prompt brought."""

    memory: str
    prompt: str
    entries: Sequence[Entry]
    tokens: int
    right: frozenset[str]
    """Ids of lines that are evidence."""
    foreign: frozenset[str] = frozenset()
    """Ids of orders that somebody else gave."""

    @property
    def places(self) -> list[int]:
        """Where the evidence stands, from 0."""
        return [place for place, one in enumerate(self.entries) if one.id in self.right]


def of_questions(path: Path, sample: int) -> Iterator[Shown]:
    """Yield the blocks for the questions of each memory of a file."""
    for memory in read_memories(path):
        with written_memory(memory) as (one, written):
            name = f"{path.name.partition('.')[0]}/{memory['corpus']}"
            for question in sampled(asked(memory), sample):
                block = one.context("task", question.text, budget=BUDGET)
                right = {id for id in block.lines if written.name_of(id) in question.evidence}
                yield Shown(
                    name, question.text, read_entries(block), block.tokens, frozenset(right)
                )


def of_people(path: Path, folders: Sequence[Path]) -> Iterator[Shown]:
    """Yield the blocks for the prompts to the sessions of a gold file."""
    for lang, sessions in sorted(shared_sessions(path, Texts(folders)).items()):
        with tempfile.TemporaryDirectory(prefix="kimi-memory-blocks-") as folder:
            lived = Lived("shared", lang, sessions, Path(folder))
            judged.judge(lived)
            yield from _ask(lived, lang)
            lived.memory.close()


def shared_sessions(path: Path, texts: Texts) -> Mapping[str, Sequence[GoldSession]]:
    """Return the sessions of a gold file by language, each with whose it is in its header."""
    found = defaultdict[str, list[GoldSession]](list)
    for line in filter(str.strip, path.read_text("utf-8").split("\n")):
        labels = json.loads(line)
        if labels.get("set") not in _SETS:
            continue
        try:
            one = texts.session(labels)
        except MissingTextError as error:
            print(f"left out {labels['session']}: {error}", file=sys.stderr)
            continue
        user, project = whose(labels["set"], labels["corpus"])
        header = {**one.header, "user": user, "project": project}
        found[labels["lang"]] += [one._replace(header=header)] if one.turns else []
    return found


def whose(set: str, corpus: str) -> tuple[str, str]:
    """Return the person and the project of a labelled session."""
    return (corpus.rpartition("_")[2], "") if set == "own_chat" else CODE


def _ask(lived: Lived, lang: str) -> Iterator[Shown]:
    of = {one.id: whose(one.labels["set"], one.labels["corpus"]) for one in lived.sessions}
    items = {(one.id, item["id"]): item for one, item in lived.items()}
    files = [FOLDER / f"related.{lang}.txt", *([FOLDER / "related.code.txt"] * (lang == "en"))]
    # As in a hook, the prompt is a turn of a running session, which says whose it is.
    running = {who: f"runs-{number}" for number, who in enumerate(sorted(set(of.values())))}
    for (user, project), id in running.items():
        lived.memory.session(id, user=user, project=project).turn("user", "Hello.")
    for prompt in (prompt for file in files for prompt in read_prompts(file)):
        item = items.get((prompt.session, prompt.item))
        if item:
            who = of[prompt.session]
            block = lived.memory.context("task", prompt.text, budget=BUDGET, session=running[who])
            entries = read_entries(block)
            right = _evidence(lived, prompt, item, block.lines)
            orders = (one.id for one in entries if one.order)
            foreign = {id for id in orders if _owners(lived, of, id) - {who}}
            name = f"{lang}/{who[1] or who[0]}"
            yield Shown(name, prompt.text, entries, block.tokens, right, frozenset(foreign))


def _evidence(
    lived: Lived, prompt: Prompt, item: Mapping[str, Any], ids: Iterable[str]
) -> frozenset[str]:
    """Return the lines that are a turn of the evidence, or a note that quotes one."""
    proof = {(prompt.session, turn) for turn in item["evidence"]}
    near = {note.id for note in lived.notes if (prompt.session, item["id"]) in note.near}
    turns = lived.turn_ids()
    return frozenset(id for id in ids if turns.get(id) in proof or id.partition("#")[0] in near)


def _owners(lived: Lived, of: Mapping[str, tuple[str, str]], id: str) -> frozenset[tuple[str, str]]:
    """Return whose sessions an order was given in."""
    if place := lived.turn_ids().get(id):
        return frozenset({of[place[0]]})
    quotes = [place for note in lived.notes if note.id == id for place, _ in note.quotes]
    return frozenset(of[session] for session, _ in quotes)


def figures(shown: Iterable[Shown]) -> dict[str, Any]:
    """Return the figures by memory and over all."""
    return {name: _measure(group) for name, group in judged.group_by_memory(shown).items()}


def _measure(group: Sequence[Shown]) -> dict[str, Any]:
    found = [one for one in group if one.places]
    entries = [entry for one in group for entry in one.entries]
    orders = sum(entry.order for entry in entries)
    leads = [sum(entry.order for entry in one.entries) == one.places[0] for one in found]
    above = [_tokens(one.entries[: one.places[0]]) for one in found]
    spoken = [one for one in group if one.entries]
    return {
        "prompts": len(group),
        "evidence": judged.share(len(found), len(group)),
        "silent": judged.share(len(group) - len(spoken), len(group)),
        "first": judged.share(sum(leads), len(found)),
        "place": _mean(one.places[0] + 1 for one in found),
        "before": _mean(above),
        "after": _mean(len(one.entries) - one.places[-1] - 1 for one in found),
        "lines": _mean(len(one.entries) for one in spoken),
        "tokens": _mean(one.tokens for one in spoken),
        "noise": judged.share(sum(entry.noise for entry in entries), len(entries)),
        "orders": _mean(sum(entry.order for entry in one.entries) for one in spoken),
        "foreign": judged.share(sum(len(one.foreign) for one in group), orders),
    }


def _tokens(entries: Iterable[Entry]) -> int:
    return sum(estimate(entry.text) for entry in entries)


def _mean(values: Iterable[float]) -> float | None:
    known = list(values)
    return round(fmean(known), 1) if known else None


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the files named on the command line."""
    parser = argparse.ArgumentParser(
        prog="benchmarks.blocks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--data", action="append", type=Path, help="folder of texts, repeatable")
    parser.add_argument("--sample", type=int, default=SAMPLE, help="questions of a memory")
    parser.add_argument("--details", type=Path, help="write every prompt and its block there")
    parser.add_argument("--record", type=Path, help="write the figures and their setting there")
    parser.add_argument("--json", action="store_true", help="one JSON object for machines")
    given = parser.parse_args(arguments)
    named, shown = os.environ.get("KIMI_MEMORY_DATA"), list[Shown]()
    for path in given.files:
        folders = given.data or [Path(named or path.resolve().parent.parent)]
        shown += of_people(path, folders) if is_gold(path) else of_questions(path, given.sample)
    table = figures(shown)
    if given.details:
        given.details.write_text("\n".join(map(_told, shown)), "utf-8")
    if given.record:
        names = " ".join(path.name for path in given.files)
        save(given.record, f"python -m benchmarks.blocks {names}", table)
    if given.json:
        print(json.dumps(table, ensure_ascii=False, indent=1))
    else:
        _show(table)
    return 0


def _told(one: Shown) -> str:
    """Return a prompt and its lines, each with what it is."""
    marks = [
        f"{'*' if line.id in one.right else ' '}{'~' if line.noise else ' '}"
        f"{'!' if line.id in one.foreign else ' '} {line.text}"
        for line in one.entries
    ]
    return "\n".join([f"\n=== {one.memory}: {one.prompt} ({one.tokens} tokens)", *marks])


def _show(table: Mapping[str, Any]) -> None:
    names = list(next(iter(table.values()), {}))
    print(f"{'':20}{''.join(f'{name:>9}' for name in names)}")
    for memory, row in table.items():
        cells = (_cell(name, row[name]) for name in names)
        print(f"{memory[:19]:20}{''.join(f'{cell:>9}' for cell in cells)}")


_SHARES = frozenset({"evidence", "silent", "first", "noise", "foreign"})


def _cell(name: str, value: float | None) -> str:
    if value is None:
        return "-"
    return f"{100 * value:.1f}%" if name in _SHARES else f"{value:g}"


if __name__ == "__main__":
    sys.exit(main())
