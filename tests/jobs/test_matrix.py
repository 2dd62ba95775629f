"""Five shapes of contradiction, in both languages, looked at from every side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.domain.note import Card, Status
from kimi_memory.domain.search_types import Query
from kimi_memory.hooks.host import Host
from kimi_memory.store.notes.notes import Shelf
from tests.conftest import Clock


@dataclass(frozen=True)
class Shape:
    """What was said, what was said later, and what must hold after that."""

    old: str
    new: str
    question: str
    gone: str
    """A word of the old value that no live card may say."""
    now: str
    """A word that a live card must say; empty when nothing is left."""
    status: Status
    """What became of the old card."""


SHAPES = {
    "replacement-en": Shape(
        "The database of Atlas is PostgreSQL.",
        "The database of Atlas is now SQLite.",
        "What is the database of Atlas?",
        "PostgreSQL",
        "SQLite",
        Status.SUPERSEDED,
    ),
    "replacement-zh": Shape(
        "青鸾的数据库是达梦。",
        "青鸾的数据库换成金仓了。",
        "青鸾的数据库是什么？",
        "达梦",
        "金仓",
        Status.SUPERSEDED,
    ),
    "polarity-en": Shape(
        "I prefer dark mode in the editor.",
        "I don't like dark mode in the editor any more, I prefer light mode.",
        "Do I prefer dark or light mode?",
        "I prefer dark mode",
        "light mode",
        Status.SUPERSEDED,
    ),
    "polarity-zh": Shape(
        "我喜欢深色主题。",
        "我不再喜欢深色主题了，我喜欢浅色主题。",
        "我喜欢深色还是浅色主题？",
        "我喜欢深色",
        "浅色",
        Status.SUPERSEDED,
    ),
    "retraction-en": Shape(
        "The port of Atlas is 8080.",
        "Forget what I said about the port of Atlas.",
        "What is the port of Atlas?",
        "8080",
        "",
        Status.ARCHIVED,
    ),
    "retraction-zh": Shape(
        "青鸾的端口是8080。",
        "青鸾的端口别再记了。",
        "青鸾的端口是多少？",
        "8080",
        "",
        Status.ARCHIVED,
    ),
    "partial-en": Shape(
        "The release day of Atlas is Tuesday.",
        "The release day of Atlas has moved to Thursday.",
        "Which release day does Atlas have?",
        "Tuesday",
        "Thursday",
        Status.SUPERSEDED,
    ),
    "partial-zh": Shape(
        "青鸾的发布日是周二。",
        "青鸾的发布日改到周四了。",
        "青鸾的发布日是哪天？",
        "周二",
        "周四",
        Status.SUPERSEDED,
    ),
    "bounded-en": Shape(
        "The owner of Atlas is Dana.",
        "As of today, the owner of Atlas is Marco.",
        "Who is the owner of Atlas?",
        "Dana",
        "Marco",
        Status.SUPERSEDED,
    ),
    "bounded-zh": Shape(
        "青鸾的负责人是王芳。",
        "从今天起，青鸾的负责人是李雷。",
        "青鸾的负责人是谁？",
        "王芳",
        "李雷",
        Status.SUPERSEDED,
    ),
    "until-en": Shape(
        "The owner of Atlas is Dana until March 1.",
        "The logo of Ember is green.",
        "Who is the owner of Atlas?",
        "Dana",
        "",
        Status.SUPERSEDED,
    ),
    "until-zh": Shape(
        "青鸾的端口是8080，截至3月1日。",
        "麦田的标志是绿色的。",
        "青鸾的端口是多少？",
        "8080",
        "",
        Status.SUPERSEDED,
    ),
}
BESIDE = {"en": "The mascot of Ember is an otter.", "zh": "麦田的吉祥物是水獭。"}
"""Another matter, said at the same time, that no contradiction may touch."""


def say(memory: Memory, id: str, *texts: str) -> None:
    with memory.session(id, user="Lin") as session:
        for text in texts:
            session.turn("user", text)
            session.turn("assistant", "OK.")


def jobs(memory: Memory, clock: Clock) -> None:
    memory.consolidate("daily")
    clock.move(days=1)
    memory.consolidate("daily")
    memory.consolidate("weekly")


def lived(memory: Memory, clock: Clock, shape: Shape, name: str) -> None:
    say(memory, "before", shape.old, BESIDE[name[-2:]])
    clock.move(days=2)
    say(memory, "after", shape.new, BESIDE[name[-2:]])
    jobs(memory, clock)


def cards(memory: Memory) -> list[Card]:
    notes = [filed.note for filed in Shelf(memory.store).notes("card")]
    return [note for note in notes if isinstance(note, Card)]


def live(memory: Memory) -> list[Card]:
    return [card for card in cards(memory) if card.status in (Status.ACTIVE, Status.STALE)]


@dataclass(frozen=True)
class Life:
    """A memory that has lived through a shape, with all jobs done."""

    memory: Memory
    clock: Clock
    shape: Shape


@pytest.fixture(scope="module", params=SHAPES.items(), ids=SHAPES)
def life(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Life]:
    """One for all tests of a shape: the last of them is the only one that adds to it."""
    name, shape = request.param
    folder = tmp_path_factory.mktemp("life")
    clock = Clock(datetime(2026, 2, 27, 9, 0, tzinfo=UTC))
    home = Home(folder / "config", folder / "state")
    host = Host(entry_points=False)
    opening = Opening(home=home, clock=clock, host=host, background=False)
    with Memory.create(folder / "memory", opening=opening) as memory:
        lived(memory, clock, shape, name)
        yield Life(memory, clock, shape)


@pytest.fixture
def memory(life: Life) -> Memory:
    return life.memory


@pytest.fixture
def told(life: Life) -> Shape:
    return life.shape


def first_card(memory: Memory, question: str) -> str:
    hits = memory.recall(Query(text=question, limit=3, kind=("card",))).hits
    return hits[0].unit.text if hits else ""


def test_the_answer_is_the_present_value(memory: Memory, told: Shape) -> None:
    assert told.now in first_card(memory, told.question)
    shown = [hit.unit.text for hit in memory.recall(Query(text=told.question, kind=("card",))).hits]
    assert not [text for text in shown if told.gone in text and told.now not in text]


def test_the_prompt_says_the_present_value(memory: Memory, told: Shape) -> None:
    text = memory.context("task", told.question).text
    assert told.now in text
    if told.status is Status.ARCHIVED:  # What was so until then, somebody still said.
        assert told.gone not in text


def test_after_all_jobs_one_value_is_held_true(memory: Memory, told: Shape) -> None:
    said = [card for card in live(memory) if told.gone in card.value]
    assert not [card for card in said if not told.now or told.now not in card.value]
    if told.now:
        assert len([card for card in live(memory) if told.now in card.value]) == 1


def test_what_was_so_before_is_still_known(memory: Memory, told: Shape) -> None:
    [old] = [card for card in cards(memory) if told.old in [q.text for q in card.quotes]]
    assert old.status is told.status
    assert old.valid_to is not None
    [found] = memory.recall(Query(text=told.question, kind=("card",), status=(told.status,))).hits
    assert found.unit.id == old.id


def test_the_pages_agree_with_the_cards(memory: Memory, told: Shape) -> None:
    page = (memory.root / "MEMORY.md").read_text(encoding="utf-8")
    assert told.now in page
    lines = [line for line in page.splitlines() if told.gone in line]
    assert not [line for line in lines if not told.now or told.now not in line]


def test_what_was_said_beside_it_is_untouched(memory: Memory, told: Shape) -> None:
    kept = [card for card in live(memory) if card.value in BESIDE.values()]
    assert len(kept) == 1
    assert kept[0].confidence > 0.8


def test_old_words_fed_again_bring_nothing_back(life: Life) -> None:
    memory, clock, told = life.memory, life.clock, life.shape
    before = {card.id: card.value for card in live(memory)}
    long_ago = clock() - timedelta(days=30)
    with memory.session("again", user="Lin") as session:
        session.turn("user", told.old, at=long_ago)
        session.turn("assistant", "OK.", at=long_ago)
    jobs(memory, clock)
    assert {card.id: card.value for card in live(memory)} == before
