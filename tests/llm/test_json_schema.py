"""Answers held against a schema: the first misfit is named with its place."""

from __future__ import annotations

import pytest

from kimi_memory.domain.json_value import Json
from kimi_memory.llm.json_schema import problem_of

SCHEMA: dict[str, Json] = {
    "type": "object",
    "required": ["items"],
    "properties": {
        "items": {
            "type": "array",
            "maxItems": 2,
            "items": {
                "type": "object",
                "required": ["op"],
                "properties": {
                    "op": {"type": "string", "enum": ["ADD", "DROP"]},
                    "n": {"type": "integer"},
                    "x": {"type": "number"},
                    "t": {"type": "string", "maxLength": 3},
                    "f": {"type": "boolean"},
                },
            },
        }
    },
}


@pytest.mark.parametrize(
    "value",
    [
        {"items": []},
        {"items": [{"op": "ADD"}, {"op": "DROP", "n": 3, "x": 1, "t": "部署吧", "f": False}]},
        {"items": [{"op": "ADD", "more": "is no harm"}], "and": 1},
    ],
)
def test_what_fits_has_no_problem(value: Json) -> None:
    assert problem_of(value, SCHEMA) == ""


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ([], "the answer is no object"),
        ({}, "the answer lacks 'items'"),
        ({"items": {}}, "items is no array"),
        ({"items": [1]}, "items, item 1, is no object"),
        ({"items": [{"op": "ADD"}, {}]}, "items, item 2, lacks 'op'"),
        ({"items": [{"op": "ADD"}] * 3}, "items has more than 2 items"),
        ({"items": [{"op": "EAT"}]}, "op is 'EAT', not one of ADD, DROP"),
        ({"items": [{"op": "ADD", "n": 1.5}]}, "n is no integer"),
        ({"items": [{"op": "ADD", "n": True}]}, "n is no integer"),
        ({"items": [{"op": "ADD", "x": "1"}]}, "x is no number"),
        ({"items": [{"op": "ADD", "t": "long"}]}, "t is longer than 3 characters"),
        ({"items": [{"op": "ADD", "f": 1}]}, "f is no boolean"),
    ],
)
def test_what_does_not_fit_is_named(value: Json, told: str) -> None:
    assert problem_of(value, SCHEMA) == told


def test_without_a_schema_everything_fits() -> None:
    assert problem_of({"any": [1]}, {}) == ""
