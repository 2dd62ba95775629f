"""Values as JSON knows them: what goes out comes back the same."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, get_args

import pytest

from kimi_memory.domain.job import Effect, Job, JobReport, Op, Operation, Spent
from kimi_memory.domain.note import Role
from kimi_memory.domain.search_types import Answer, Hit, Query, Related, Unit
from kimi_memory.formats.json_values import _field_types, plain, revive, schema
from kimi_memory.server.routes import ROUTES

AT = datetime(2026, 2, 27, 9, 30, tzinfo=UTC)
UNIT = Unit(
    id="card-1", kind="card", tier="semantic", path="a.md", first=1, last=2, text="部署", at=AT
)
VALUES: list[tuple[Any, Any]] = [
    (Answer, Answer((Hit(UNIT, 0.5, "部署", {"turn": 0.5}, ("keyword",)),), ("keyword",))),
    (Hit, Hit(UNIT, 1.0, "x", related=(Related("b", "B", "CAUSES", 0.5),))),
    (JobReport, JobReport("j", "daily", "x", (Operation(Op.ADD, "card-1"),), spent=Spent(1, 2, 3))),
    (Job, Job("j", "daily", AT, "", effects=(Effect("a.md", "", "0f"),))),
    (Query, Query(text="x", tier=("semantic",), since=AT, hops=0)),
    (list[Query], [Query(text="a"), Query(text="b")]),
    (date, date(2026, 2, 27)),
    (dict[str, int], {"a": 1}),
]


@pytest.mark.parametrize(("kind", "value"), VALUES, ids=lambda v: str(v)[:20])
def test_a_value_comes_back_as_it_was(kind: Any, value: Any) -> None:
    assert revive(kind, plain(value)) == value


def test_members_that_a_newer_server_adds_are_left_out() -> None:
    assert revive(Spent, {"calls": 1, "tokens_in": 2, "tokens_out": 3, "euros": 4}) == Spent(
        1, 2, 3
    )


def test_paths_and_sets_become_plain() -> None:
    assert plain({"at": Path("a/b"), "some": {1}}) == {"at": "a/b", "some": [1]}


def test_a_schema_names_its_classes_once() -> None:
    named: dict[str, Any] = {}
    assert schema(list[Answer], named)["items"] == {"$ref": "#/components/schemas/Answer"}
    assert set(named) == {"Answer", "Hit", "Unit", "Related"}
    at = {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]}
    assert named["Unit"]["properties"]["at"] == at
    assert schema(Any, named) == {}


def parts(kind: Any) -> Iterator[Any]:
    """Return the types that values of a type are made of."""
    yield kind
    for inner in get_args(kind):
        yield from parts(inner)
    if dataclasses.is_dataclass(kind):
        for inner in _field_types(kind).values():
            yield from parts(inner)


def test_no_answer_has_members_without_a_name() -> None:
    """A named tuple would be told as a list."""
    kinds = {kind for route in ROUTES for kind in parts(route.gives) if isinstance(kind, type)}
    assert Effect in kinds
    assert not [kind for kind in kinds if hasattr(kind, "_fields")]


@dataclasses.dataclass(frozen=True)
class Pair:
    """Two values."""

    one: object
    other: object = None


@pytest.mark.parametrize(
    ("value", "made"),
    [
        (Role.USER, "user"),
        (datetime(2026, 2, 27, 9, tzinfo=UTC), "2026-02-27T09:00:00+00:00"),
        (date(2026, 2, 27), "2026-02-27"),
        (Path("a/b.md"), "a/b.md"),
        (Pair(1, (2.5, None)), {"one": 1, "other": [2.5, None]}),
        ({1: Pair(Role.TOOL)}, {"1": {"one": "tool", "other": None}}),
        (frozenset({"a"}), ["a"]),
        ([True, "文"], [True, "文"]),
    ],
)
def test_a_value_becomes_what_json_knows(value: object, made: object) -> None:
    assert plain(value) == made
    assert json.loads(json.dumps(plain(value))) == made


def test_a_class_itself_is_no_value_of_its_fields() -> None:
    assert plain(Pair) is Pair
