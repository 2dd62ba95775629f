"""What a request may say: every kind of field, right and wrong."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from kimi_memory.errors import UsageError
from kimi_memory.server.routes import ROUTES
from kimi_memory.server.schema import MOST_CHARS, Field, Kind, on_clocks

AT = datetime(2026, 2, 27, 8, tzinfo=UTC)


@pytest.mark.parametrize(
    ("kind", "raw", "value"),
    [
        ("text", "部署", "部署"),
        ("texts", ["a", "b"], ("a", "b")),
        ("texts", "a", ("a",)),
        ("int", 7, 7),
        ("int", "-7", -7),
        ("float", 1, 1.0),
        ("float", "0.5", 0.5),
        ("flag", "true", True),
        ("flag", False, False),
        ("moment", "2026-02-27T16:00:00+08:00", AT),
        ("moment", "2026-02-27T08:00", AT.replace(tzinfo=None)),
        ("day", "2026-02-27", date(2026, 2, 27)),
        ("object", {"目标": [1]}, {"目标": [1]}),
    ],
)
def test_what_fits_is_taken(kind: Kind, raw: Any, value: Any) -> None:
    assert Field(name="x", help="It", kind=kind).parse_value(raw) == value


@pytest.mark.parametrize(
    ("kind", "raw"),
    [
        ("text", 7),
        ("text", "a\0b"),
        ("text", "\ud800"),
        ("text", "x" * (MOST_CHARS + 1)),
        ("texts", 7),
        ("texts", ["a", 7]),
        ("texts", ["a"] * 101),
        ("int", True),
        ("int", 1.5),
        ("int", "1" * 16),
        ("int", "many"),
        ("float", "nan"),
        ("float", "1e16"),
        ("float", []),
        ("flag", "yes"),
        ("flag", 1),
        ("moment", "soon"),
        ("moment", "0001-01-01T00:00:00+14:00"),
        ("day", "2026-02-31"),
        ("object", []),
        ("object", {"a": "\ud800"}),
        ("object", {"a": float("nan")}),
    ],
)
def test_what_does_not_fit_is_named(kind: Kind, raw: Any) -> None:
    with pytest.raises(UsageError, match="'x' must be"):
        Field(name="x", help="It", kind=kind).parse_value(raw)


def test_borders_and_choices_hold() -> None:
    size = Field(name="n", help="It", kind="int", least=1, most=9)
    for wrong in (0, 10):
        with pytest.raises(UsageError, match="'n' is"):
            size.parse_value(wrong)
    with pytest.raises(UsageError, match="one of a, b"):
        Field(name="n", help="It", choices=("a", "b")).parse_value("c")
    with pytest.raises(UsageError, match="is empty"):
        Field(name="n", help="It", required=True).parse_value("")
    assert size.schema["maximum"] == 9


def test_routes_are_consistent() -> None:
    for route in ROUTES:
        names = [field.name for field in route.fields]
        assert len(names) == len(set(names)), route.name
        assert route.summary.endswith("."), route.name
        for field in route.fields:
            assert (f"{{{field.name}}}" in route.path) == (field.place == "path"), route.name
            assert route.method == "POST" or field.place != "body", route.name
            assert not field.help.endswith("."), route.name


def test_a_moment_without_an_offset_is_on_the_clocks_of_the_memory() -> None:
    shanghai = ZoneInfo("Asia/Shanghai")
    naive = Field(name="at", help="It", kind="moment").parse_value("2026-02-27T16:00")
    given = on_clocks({"at": naive, "text": "16:00", "until": AT}, shanghai)
    assert given == {"at": AT, "text": "16:00", "until": AT}
    first = datetime(1, 1, 1)
    assert on_clocks({"at": first}, shanghai)["at"] == first.replace(tzinfo=UTC)
