"""Data classes whose methods are compiled late are as those that are compiled at once."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, asdict, field, fields, replace
from dataclasses import dataclass as compiled
from typing import Any, ClassVar

import pytest

from kimi_memory.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Point:
    """A point."""

    kind: ClassVar[str] = "point"
    x: int
    y: int = 2
    tags: list[str] = field(default_factory=list, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Named(Point):
    """A point with a name."""

    name: str

    def __post_init__(self) -> None:
        """Refuse an empty name."""
        if not self.name:
            raise ValueError(self.name)


@dataclass(slots=True)
class Count:
    """A number that changes."""

    n: int = 0


def test_instances_are_those_of_the_compiled_class() -> None:
    @compiled(frozen=True, slots=True)
    class Other:
        x: int
        y: int = 2
        tags: list[str] = field(default_factory=list, compare=False, repr=False)

    point, other = Point(1), Other(1)
    assert repr(point) == "Point(x=1, y=2)" and repr(other).endswith("Other(x=1, y=2)")
    assert hash(point) == hash(other) and point != other
    assert (point.x, point.y, point.tags, Point.kind) == (1, 2, [], "point")
    assert point == Point(1, tags=["a"]) != Point(2)
    assert replace(point, y=3) == Point(1, 3) and asdict(point) == asdict(other)
    assert [one.name for one in fields(Point)] == ["x", "y", "tags"]
    match point:
        case Point(x, y):
            assert (x, y) == (1, 2)


def test_each_class_makes_its_own_instances() -> None:
    assert Named(1, name="a") != Point(1) != Named(1, name="a")
    assert repr(Named(1, name="a")) == "Named(x=1, y=2, name='a')"
    with pytest.raises(ValueError, match=r"^$"):
        Named(1, name="")
    with pytest.raises(TypeError, match="missing 1 required"):
        Named(1)  # type: ignore[call-arg]  # that is the point


def test_an_instance_cannot_be_changed() -> None:
    point: Any = Point(1)
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'x'"):
        point.x = 2
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'x'"):
        del point.x
    count = Count()
    count.n += 1
    assert count == Count(1)


def test_an_instance_that_was_not_made_here_has_its_methods() -> None:
    @dataclass(frozen=True, slots=True)
    class Unused:
        x: int = 1

    raw = object.__new__(Unused)
    object.__setattr__(raw, "x", 1)
    assert raw == Unused() and repr(raw).endswith("Unused(x=1)") and hash(raw) == hash((1,))


def test_a_copy_is_the_same() -> None:
    named = Named(1, name="a")
    assert named == copy.copy(named) == copy.deepcopy(named) == pickle.loads(pickle.dumps(named))
