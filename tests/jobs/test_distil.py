"""Orders that were given as a list."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from kimi_memory.domain.draft import Draft
from kimi_memory.domain.note import CardType, Lang, Quote
from kimi_memory.jobs.distil import apart


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
