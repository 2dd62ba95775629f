"""Three copies that go on with one session, end it and merge each other in any order.

Also crosswise, so that a merge has several bases, and cut off: the files of a merge are there, but
no commit tells that it was one. So a fork forks again.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import product
from pathlib import PurePosixPath
from random import Random

import pytest

from kimi_memory.domain.note import Card, Quote, Role, Source
from kimi_memory.domain.session import Turn
from kimi_memory.formats import codec
from kimi_memory.formats.jsonl import (
    archive_path,
    chain_start,
    context_of,
    end_line,
    session_of,
    turn_line,
    turn_of,
    unseal,
)
from kimi_memory.merge.trees import join
from tests.merge.talks import Talk, assert_chained
from tests.merge.values import NOW, card

Tree = dict[str, bytes]
COPIES = range(3)


@dataclass(eq=False)
class Commit:
    """The files of a copy, and what they were made of."""

    files: Tree
    parents: tuple[Commit, ...] = ()
    past: set[Commit] = field(default_factory=set)
    """All commits before this one, and itself."""
    number: int = 0

    def __post_init__(self) -> None:
        self.past = {self}.union(*(parent.past for parent in self.parents))
        self.number = len(self.past)


def find_base(one: Commit, other: Commit) -> Tree:
    """Return what the last common states have together, as a merge of copies reads it."""
    common = one.past & other.past
    last = [c for c in common if not any(c in more.past for more in common - {c})]
    first, *rest = sorted(last, key=lambda commit: (commit.number, sorted(commit.files.items())))
    base = first.files
    for more in rest:
        base = join({}, base, more.files).files
    return base


def talks_of(tree: Tree) -> dict[str, list[Turn]]:
    """The turns of each session, whose chain and name are whole."""
    found: dict[str, list[Turn]] = {}
    for path, content in tree.items():
        if path.endswith(".jsonl"):
            lines = tuple(content.splitlines(keepends=True))
            id = session_of(unseal(lines[0])).id
            assert PurePosixPath(path).name == f"session_{id}.jsonl"
            found[id] = assert_chained(lines)
    return found


def texts_of(tree: Tree) -> Counter[str]:
    return Counter(turn.text for turns in talks_of(tree).values() for turn in turns)


def assert_proven(tree: Tree) -> None:
    """Each card quotes the turn that its evidence names."""
    talks = talks_of(tree)
    for path in (path for path in tree if path.startswith("semantic/")):
        note = codec.parse(tree[path].decode(), path)
        assert isinstance(note, Card)
        for source, quote in zip(note.sources, note.quotes, strict=True):
            assert (source.session, source.first) == (quote.session, quote.n)
            assert [t.text for t in talks[quote.session] if t.n == quote.n] == [quote.text]


class Copies:
    """Three copies of one memory, and what chance does to them."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance
        talk = Talk().say("hello")
        self.heads = [Commit({talk.path: talk.content})] * len(COPIES)
        self.said = 0

    def act(self) -> None:
        """Do one thing in one copy."""
        copy, kind = self.chance.choice(COPIES), self.chance.random()
        path = self.open_session(copy)
        if kind > 0.55:
            self.merge(copy, self.chance.choice(COPIES), cut=kind > 0.9)
        elif path:
            (self.end if kind < 0.05 else self.say)(copy, path)

    def open_session(self, copy: int) -> str:
        paths = [path for path in sorted(self.heads[copy].files) if path.startswith("short-term/")]
        return self.chance.choice(paths) if paths else ""

    def write(self, copy: int, files: Tree) -> None:
        head = self.heads[copy]
        gone = {path for path, content in files.items() if not content}
        tree = {path: c for path, c in {**head.files, **files}.items() if path not in gone}
        self.heads[copy] = Commit(tree, (head,))

    def say(self, copy: int, path: str) -> None:
        """Go on with one of the open sessions, and learn a card from it."""
        content = self.heads[copy].files[path]
        header, *lines = content.splitlines(keepends=True)
        context, n = chain_start(header), 0
        for line in lines:
            if b'"kind":"turn"' in line:
                context, n = context_of(context, line), turn_of(unseal(line)).n
        self.said += 1
        text = f"turn {self.said}"
        turn = Turn(
            n + 1,
            NOW + timedelta(seconds=self.chance.randint(1, 99)),
            Role.USER,
            text,
            context=context,
        )
        quote = Quote(session_of(unseal(header)).id, n + 1, text)
        learnt = card(
            id=f"card-{self.said}",
            key=f"k.{self.said}",
            quotes=(quote,),
            sources=(Source.from_quote(quote),),
        )
        note = codec.render(learnt).encode()
        self.write(copy, {path: content + turn_line(turn), codec.place(learnt): note})

    def end(self, copy: int, path: str) -> None:
        """End an open session, and archive it."""
        content = self.heads[copy].files[path]
        session = session_of(unseal(content.splitlines()[0]))
        ended = content + end_line(NOW + timedelta(seconds=100 + self.said))
        self.write(copy, {path: b"", archive_path(session): ended})

    def merge(self, copy: int, other: int, *, cut: bool) -> None:
        """Merge another copy; cut off, the result looks like an edit of this copy."""
        here, there = self.heads[copy], self.heads[other]
        if there in here.past:
            return
        if here in there.past:
            self.heads[copy] = there
            return
        base = find_base(here, there)
        files = join(base, here.files, there.files).files
        assert files == join(base, there.files, here.files).files
        files = {path: files[path] for path in files if not path.endswith(".json")}
        said = texts_of(files)
        assert set(said) == {*texts_of(here.files), *texts_of(there.files)}, "a turn is lost"
        assert set(said.values()) == {1}, "a turn stands twice"
        assert_proven(files)
        self.heads[copy] = Commit(files, (here,) if cut else (here, there))


@pytest.mark.parametrize("seed", range(60))
def test_no_turn_is_lost_or_doubled_in_any_order_of_merges(seed: int) -> None:
    copies = Copies(Random(seed))
    for _ in range(14):
        copies.act()
    for _, copy, other in product(range(2), COPIES, COPIES):
        copies.merge(copy, other, cut=False)
    assert all(head.files == copies.heads[0].files for head in copies.heads)
