"""Operations of an answer, read with what models write for the same."""

from __future__ import annotations

from typing import Any

import pytest

from kimi_memory.llm.proposals.proposal import Act, Proposal, read_proposal


def read(**item: Any) -> Proposal:
    found = read_proposal({"type": "fact", "value": "The roof is slate.", **item})
    assert isinstance(found, Proposal)
    return found


@pytest.mark.parametrize(
    ("item", "quotes"),
    [
        ({"quotes": [{"turn": 3, "text": "slate"}]}, ((3, "slate"),)),
        ({"quotes": [{"turn": "#3", "text": "slate"}]}, ((3, "slate"),)),
        ({"quotes": "slate"}, ((0, "slate"),)),
        ({"quote": {"turn": 3, "text": "slate"}}, ((3, "slate"),)),
        ({"quotes": [7, {"turn": 3}, {"turn": None, "text": "slate"}]}, ((0, "slate"),)),
        ({}, ()),
    ],
)
def test_quotes_come_in_many_forms(item: dict[str, Any], quotes: object) -> None:
    assert read(**item).quotes == quotes


@pytest.mark.parametrize(
    ("said", "type"),
    [("Order", "rule"), ("todo", "task"), ("Task-State", "task"), ("GOTCHA", "lesson")],
)
def test_types_have_other_names(said: str, type: str) -> None:
    assert read(type=said).type == type


def test_what_is_missing_is_filled_in() -> None:
    found = read(op="add", importance=7, title="")
    assert (found.act, found.title, found.importance) == (Act.ADD, "The roof is slate", 0.8)
    assert read(importance="high").importance == 0.5
    veto = read_proposal({"op": "VETO", "target": [2, "3"], "why": "a joke"})
    assert isinstance(veto, Proposal)
    assert (veto.targets, veto.why, veto.name) == ((2, 3), "a joke", "VETO 2, 3")


@pytest.mark.parametrize(
    ("item", "why"),
    [
        ({"type": "mood", "value": "fine"}, "unknown type"),
        ({"type": "fact", "value": "  "}, "empty"),
        ({"type": "fact", "value": "x" * 601}, "too long"),
        ({"op": "DELETE", "type": "fact", "value": "x"}, "unknown operation"),
        ({"op": "VETO"}, "without the number"),
        ({"op": "MERGE", "target": ["all"], "value": "x"}, "without the number"),
    ],
)
def test_what_is_no_operation_says_why(item: dict[str, Any], why: str) -> None:
    found = read_proposal(item)
    assert isinstance(found, str)
    assert why in found
