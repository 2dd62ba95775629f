"""The start block of a large memory: the same as that of a small one, without reading it all."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.domain.brief import MOST
from kimi_memory.domain.job import Append
from kimi_memory.domain.note import Card, CardType, Lang, Note, Origin, Quote, Source, Status
from kimi_memory.domain.pages import Part, Project, Todo
from kimi_memory.domain.search_types import Context
from kimi_memory.domain.tombstone import Tombstone
from kimi_memory.formats.codec import place, render
from kimi_memory.formats.jsonl import tombstone_line
from kimi_memory.index import manifest as manifests
from kimi_memory.index.stored import Shelf as Generations
from kimi_memory.recall import start
from kimi_memory.store.files.paths import TOMBSTONES
from tests.opened_files import opened_files
from tests.store.notes.test_known import AT, card, digest, keep, line

DAY = timedelta(days=1)


def notes(chance: random.Random) -> Iterator[Note]:
    """Yield cards of any kind, more of one section than a block has room for, and pages."""
    keys = ("topic.x", "user.home", "user.dates.d", "user.name", "user.dates.e")
    for number in range(420):
        text = chance.choice(["Never push on Fridays", "Use tabs", "周五不要发版", "It is so"])
        state = chance.choice([*Status, *[Status.ACTIVE] * 20])
        quotes = (Quote(f"s{chance.randrange(20)}", 1, text),)
        sources = tuple(Source.from_quote(quote) for quote in quotes)
        yield card(
            f"{number:04d}", f"{text} {number} of {chance.randrange(300)}.",
            type=chance.choice([*CardType, *[CardType.FACT] * 12]),
            key=f"{chance.choice(keys)}{'' if number % 9 else number}",
            status=state, confidence=chance.choice([0.7, 0.71, 0.9]),
            trust=chance.choice(list(Origin)), lang=chance.choice(list(Lang)),
            project=chance.choice(["", "", "hut", "boat"]),
            scope=chance.choice(["", "", "", "user:ann", "agent:bot"]),
            updated=AT + chance.randrange(4) * DAY, verified=chance.choice([None, AT + 2 * DAY]),
            valid_to=chance.choice([*[None] * 12, AT + 9999 * DAY, AT - DAY]),
            expires=chance.choice([*[None] * 12, AT - DAY]),
            quotes=quotes, sources=chance.choice([(), sources]),
            title=f"k {number:04d}",
        )  # fmt: skip
    for number in range(20):
        said = line(Part.TOLD, f"My brother {number} moved to Bern and likes tea.")
        yield digest(f"s{number}", said, at=AT + number % 15 * DAY, project="hut" * (number % 2))
    for name in ("hut", "boat"):
        yield Project(id=f"project-{name}", name=name, created=AT, updated=AT,
                      todos=(Todo(f"Paint the {name}"),))  # fmt: skip


def named(note: Note) -> str:
    """Return a path of its own for a card: many share a key."""
    path = place(note)
    return f"{path.rpartition('/')[0]}/k-{note.id}.md" if isinstance(note, Card) else path


def fill(memory: Memory, seed: int) -> None:
    """Write notes as a person does, who puts files into the folder."""
    for note in notes(random.Random(seed)):
        path = memory.root / named(note)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(render(note), "utf-8")


ASKED: tuple[dict[str, Any], ...] = (
    {}, {"project": "hut"}, {"within": ()}, {"within": ("user:ann",)}, {"budget": 9000},
    {"project": "boat", "budget": 300},
    {"narrowed": lambda query: replace(query, project="hut")},
)  # fmt: skip


def blocks(memory: Memory) -> list[Context]:
    """Return the block as each of some callers gets it."""
    return [memory.context("start", counted=False, **asked) for asked in ASKED]


def show_both(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> list[Context]:
    """Return the blocks that the index makes, and check that the files make the same."""
    monkeypatch.setattr(start, "LARGE_BYTES", 0)
    by_index = blocks(memory)
    monkeypatch.setattr(start, "LARGE_BYTES", 1 << 60)
    assert by_index == blocks(memory)
    return by_index


@pytest.mark.parametrize("seed", [1, 2])
def test_index_and_files_make_the_same_block(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    fill(memory, seed)
    memory.index.refresh()
    first = show_both(memory, monkeypatch)
    assert first[0].text.count("\n| - ") > 20
    assert first[0].dropped > MOST
    assert first[4].dropped  # more of a section than could ever have room
    # What changes after the index was written counts as well.
    fresh = card("fresh", "Never feed the owl.", type=CardType.RULE)
    path = "semantic/general/mine.md"
    (memory.root / path).write_text(render(fresh), "utf-8")
    gone = next(memory.root.glob("semantic/*/k-card-00*.md"))
    gone.unlink()
    named = next(memory.root.glob("episodic/2026*_of-s14.md"))
    named.rename(named.with_name("my own name.md"))
    second = show_both(memory, monkeypatch)
    assert "Never feed the owl." in second[0].text
    assert second != first


def test_what_is_over_or_forgotten_is_dropped_alike(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = line(Part.DECIDED, "We use Redis.", 3)
    quotes = (Quote("s", 3, told.text),)
    old = card(
        "a", status=Status.SUPERSEDED, quotes=quotes, sources=(Source.from_quote(quotes[0]),)
    )
    kin = line(Part.TOLD, "My daughter is called Ida.")
    keep(memory, old, digest("s", told, kin, line(Part.TOLD, "I live in Leeds.")))
    memory.index.refresh()
    before = show_both(memory, monkeypatch)[0].text
    assert ("Redis" in before, "Ida" in before, "Leeds" in before) == (False, True, True)
    stone = Tombstone("memory", "", "my daughter is called ida.", AT, "me")
    memory.store.apply([Append(TOMBSTONES, (tombstone_line(stone),))], memory.actor)
    assert "Ida" not in show_both(memory, monkeypatch)[0].text


def test_only_what_may_have_room_is_read(
    memory: Memory, opening: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(memory, *(card(f"{n:04d}", key=f"k-{n:04d}") for n in range(4 * MOST)))
    memory.index.refresh()
    monkeypatch.setattr(start, "LARGE_BYTES", 0)
    with Memory.open(memory.root, opening) as other, opened_files() as names:
        shown = other.context("start", counted=False)
    assert shown.dropped == 3 * MOST
    opened = {name for name in names if "/k-" in name or name.startswith("k-")}
    assert 0 < len(opened) <= MOST


def test_an_index_of_an_older_form_is_built_anew(
    memory: Memory, opening: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(memory, 3)
    memory.index.refresh()
    expected = show_both(memory, monkeypatch)
    folder, key = memory.root / ".kimi" / "index", memory.home.key()
    held = Generations(folder, key).open()
    assert held is not None
    older = held.manifest._replace(schema=manifests.SCHEMA - 1)
    (held.folder / manifests.NAME).write_bytes(manifests.sign(older, key))
    with Memory.open(memory.root, opening) as other:
        monkeypatch.setattr(start, "LARGE_BYTES", 0)
        assert blocks(other) == expected
        other.index.refresh()
        found = Generations(folder, key).open()
        assert found is not None
        assert found.manifest.schema == manifests.SCHEMA
