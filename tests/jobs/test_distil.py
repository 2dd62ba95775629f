"""Orders that were given as a list, and words that take others back."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from kimi_memory import Memory
from kimi_memory.domain.draft import Draft
from kimi_memory.domain.health import Severity
from kimi_memory.domain.note import Card, CardType, Lang, Quote
from kimi_memory.jobs.distil import apart
from kimi_memory.operations.doctor import verify
from kimi_memory.store.notes.notes import Shelf


def draft(text: str, type: CardType = CardType.RULE) -> Draft:
    return Draft(
        type=type,
        key="rule.some",
        title=text,
        value=text,
        quotes=(Quote("s1", 3, text),),
        at=datetime(2026, 3, 1, tzinfo=UTC),
        lang=Lang.EN,
    )


@pytest.mark.parametrize(
    ("text", "items"),
    [
        (
            "some rules: 1) sign every letter 2) never use nicknames, Pim hates them",
            ["sign every letter", "never use nicknames, Pim hates them"],
        ),
        ("定两条：1、周报用英文 2、不准引入新依赖", ["周报用英文", "不准引入新依赖"]),
        ("① keep it short ② cite the page", ["keep it short", "cite the page"]),
    ],
)
def test_each_item_is_a_draft_with_its_own_words(text: str, items: list[str]) -> None:
    found = list(apart([draft(text)]))
    assert [one.value for one in found] == items
    assert [one.quotes[0].text for one in found] == items
    assert len({one.key for one in found}) == len(items)


@pytest.mark.parametrize(
    "text",
    ["never use nicknames", "use python 3.12 and node 22", "1) sign every letter", "1) a 2) b"],
)
def test_what_is_no_list_stays_whole(text: str) -> None:
    assert list(apart([draft(text)])) == [draft(text)]


def test_only_orders_are_taken_apart() -> None:
    text = "plans: 1) rent the hall 2) invite the choir"
    assert len(list(apart([draft(text, CardType.DECISION)]))) == 1


@pytest.mark.parametrize("apart", [False, True], ids=["one turn", "two turns"])
@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("The editor is vim.", "No wait, the editor is emacs."),
        ("The port is 8080.", "Oops, the port is 9090."),
        ("We decided on MySQL as the database.", "Actually no, we take SQLite as the database."),
        ("消息队列是RabbitMQ。", "不对，消息队列是Kafka。"),
        ("数据库用MySQL。", "算了，数据库还是用PostgreSQL。"),
        ("负责人是张三。", "哦不，负责人是李四。"),
    ],
)
def test_who_corrects_themselves_is_believed_as_they_said_last(
    memory: Memory, first: str, then: str, apart: bool
) -> None:
    chat = memory.session("s")
    for text in [first, then] if apart else [f"{first} {then}"]:
        chat.turn("user", text)
    for text in ("What now?", "Thanks."):
        chat.turn("user", text)
    memory.end("s")
    shelf = Shelf(memory.store)
    notes = [shelf.file(entry.path).note for entry in shelf.entries().values()]
    held = [note.value for note in notes if isinstance(note, Card) and note.status == "active"]
    assert len(held) == 1 and then.lower().endswith(held[0].lower())
    assert not [found for found in verify(memory) if found.severity is Severity.ERROR]
