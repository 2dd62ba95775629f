"""Values as JSON knows them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from kimi_memory.domain.note import Role
from kimi_memory.formats.json_values import plain


@dataclass(frozen=True)
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
