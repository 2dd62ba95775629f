"""Edits in a folder that follows: proposed, merged where it is led, and nothing lost unseen."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from kimi_memory import Memory
from kimi_memory.cluster.proposals import Proposer, take_proposals
from kimi_memory.cluster.registry import Registry
from kimi_memory.domain.job import Actor, Create, Update, digest
from kimi_memory.domain.note import Origin
from kimi_memory.store.edits_aside import find_aside
from tests.cluster.test_kept import exchange
from tests.conftest import Clock
from tests.store.pair import Pair, files_of, relay_of

ME = Actor("cli", Origin.HUMAN)
PAGE = "semantic/shop/notes.md"
TEXT = "".join(f"line {n}\n" for n in range(9))


@pytest.fixture
def nodes(tmp_path: Path, clock: Clock) -> Iterator[tuple[Memory, Memory]]:
    pair = Pair(tmp_path, clock)
    with pair.open("a") as a, pair.open("b") as b:
        a.store.apply([Create(PAGE, TEXT.encode()), Create("semantic/shop/old.md", b"old\n")], ME)
        a.batch.flush()
        relay_of(b).follow()
        yield a, b


def is_same(a: Memory, b: Memory) -> bool:
    return files_of(a) == files_of(b) and a.history.head() == b.history.head()


def save(memory: Memory, path: str, text: str) -> None:
    """As an editor does: a new file in the place of the old one."""
    part = memory.root / f"{path}.tmp"
    part.parent.mkdir(parents=True, exist_ok=True)
    part.write_text(text, encoding="utf-8")
    part.replace(memory.root / path)


def test_what_is_edited_made_and_removed_where_it_follows_is_so_everywhere(
    nodes: tuple[Memory, Memory],
) -> None:
    a, b = nodes
    save(b, PAGE, TEXT.replace("line 3", "第三行"))
    save(b, "semantic/shop/new.md", "新的\n")
    (b.root / "semantic/shop/old.md").unlink()
    assert len(exchange(a, b)) == 3
    assert exchange(a, b) == []
    assert is_same(a, b)
    assert a.store.read(PAGE).decode() == TEXT.replace("line 3", "第三行")
    assert a.store.read("semantic/shop/new.md").decode() == "新的\n"
    assert not a.store.exists("semantic/shop/old.md")
    last = a.store.journal.last(PAGE)
    assert last is not None and (last.actor, last.op) == ("external", "edited")
    assert not list((b.root / ".kimi/lost+found").glob("*"))


def test_an_edit_is_merged_with_what_others_wrote_since(nodes: tuple[Memory, Memory]) -> None:
    a, b = nodes
    save(b, PAGE, TEXT.replace("line 1\n", "from b\n"))
    theirs = TEXT.replace("line 7\n", "from a\n")
    a.store.apply([Update(PAGE, digest(TEXT.encode()), theirs.encode())], ME)
    exchange(a, b)
    exchange(a, b)
    merged = theirs.replace("line 1\n", "from b\n")
    assert a.store.read(PAGE).decode() == merged
    assert is_same(a, b)


def test_of_two_edits_of_one_line_both_are_kept(nodes: tuple[Memory, Memory]) -> None:
    a, b = nodes
    mine = TEXT.replace("line 4\n", "from b\n")
    theirs = TEXT.replace("line 4\n", "from a\n")
    save(b, PAGE, mine)
    exchange_begun(b)
    a.store.apply([Update(PAGE, digest(TEXT.encode()), theirs.encode())], ME)
    exchange(a, b)
    exchange(a, b)
    contents = {path.read_text() for path in a.root.rglob("*.md*") if "notes" in path.name}
    assert {mine, theirs} <= contents
    assert is_same(a, b)


def test_an_edit_keeps_no_folder_from_following(nodes: tuple[Memory, Memory]) -> None:
    """Of a file that grows, and of one that is committed a moment later."""
    a, b = nodes
    lines = [b'{"n":1}\n', b'{"n":2}\n', b'{"n":3}\n']
    a.store.append("mid-term/x.jsonl", lines[:2], ME)
    a.store.apply([Update(PAGE, digest(TEXT.encode()), b"theirs\n")], ME)
    relay_of(b).follow()
    edited = '{"n":1}\n{"n":"two"}\n'
    save(b, "mid-term/x.jsonl", edited)
    save(b, PAGE, "theirs\nand mine\n")
    a.store.append("mid-term/x.jsonl", lines[2:], ME)
    a.batch.note()
    a.batch.flush()
    relay_of(b).follow()
    assert is_same(a, b)
    exchange(a, b)
    exchange(a, b)
    assert is_same(a, b)
    assert a.store.read(PAGE) == b"theirs\nand mine\n"
    grown = a.store.read("mid-term/x.jsonl")
    kept = [path.read_text() for path in a.root.rglob("x*.jsonl")]
    assert grown in (edited.encode(), b"".join(lines)) and edited in kept
    assert not [*find_aside(b.root)]


def exchange_begun(follows: Memory) -> None:
    """Propose, and let the one that leads be late."""
    relay = relay_of(follows)
    Proposer(follows, relay, Registry(relay.position.log)).propose(edits=True)


def test_an_edit_that_nobody_took_yet_outlives_its_node(
    nodes: tuple[Memory, Memory], tmp_path: Path
) -> None:
    a, b = nodes
    save(b, PAGE, "mine\n")
    exchange_begun(b)
    shutil.rmtree(b.root)
    assert take_proposals(a, relay_of(a), Registry(relay_of(a).position.log))
    assert a.store.read(PAGE) == b"mine\n"
