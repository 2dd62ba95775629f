"""The contract: every route, what it takes, what it gives, who may use it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any, Literal, NamedTuple

from kimi_memory.api.memory import Memory
from kimi_memory.errors import UsageError
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.dates.vocabulary import Zone, from_clocks
from kimi_memory.server.principal import Caller, Scope

Given = Mapping[str, Any]
Deed = Callable[[Memory, Caller, Given], Any]
Kind = Literal["text", "texts", "int", "float", "flag", "moment", "day", "object", "objects"]

MOST_CHARS = 1_000_000
"""Longest text of a request, whatever the limit of its body is."""
MOST_OBJECTS = 10_000
"""Longest list of objects of a request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One thing that a request may say."""

    name: str
    help: str
    kind: Kind = "text"
    required: bool = False
    choices: Sequence[str] = ()
    default: Any = None
    """What is meant where nothing is said."""
    least: float | None = None
    most: float | None = None
    place: Literal["body", "query", "path"] = "body"

    def parse_value(self, raw: Any) -> Any:
        """Return a value that was sent, as what it means.

        Raises:
            UsageError: it is not what the field holds.
        """
        try:
            value = _HOLDS[self.kind].parse(raw)
        except (ValueError, TypeError, OverflowError) as error:
            wanted = _HOLDS[self.kind].wanted
            raise UsageError(f"{self.name!r} must be {wanted}. {self.help}.") from error
        if self.choices and value not in self.choices:
            raise UsageError(f"{self.name!r} must be one of {', '.join(self.choices)}.")
        if self.required and value in ("", ()):
            raise UsageError(f"{self.name!r} is empty. {self.help}.")
        if self.least is not None and value < self.least:
            raise UsageError(f"{self.name!r} is below {self.least:g}. Give more.")
        if self.most is not None and value > self.most:
            raise UsageError(f"{self.name!r} is above {self.most:g}. Give less.")
        return value

    @property
    def schema(self) -> dict[str, Any]:
        """What it holds, as a JSON schema."""
        made: dict[str, Any] = {**_HOLDS[self.kind].schema, "description": f"{self.help}."}
        if self.choices:
            made["enum"] = list(self.choices)
        if self.required and self.kind == "text":
            made["minLength"] = 1
        if self.least is not None:
            made["minimum"] = self.least
        if self.most is not None:
            made["maximum"] = self.most
        return made if self.default in (None, (), "") else {**made, "default": self.default}


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One thing that can be asked for."""

    method: Literal["GET", "POST"]
    path: str
    name: str
    """Its operation in the OpenAPI document, and its method in the client."""
    summary: str
    gives: Any
    """Type of the answer."""
    deed: Deed
    scope: Scope | None = Scope.READ
    """None for what needs no token."""
    writes: bool = False
    """Whether it waits its turn in the queue of writers."""
    whole: bool = False
    """Whether it concerns the whole memory, and is refused to a bound token."""
    anywhere: bool = False
    """Whether a replica carries out this write itself, and does not send it on to the primary."""
    fields: tuple[Field, ...] = ()

    def given(self, sent: Mapping[str, Any]) -> Given:
        """Return what a request says, checked, with defaults.

        Raises:
            UsageError: something is missing, unknown or not what it must be.
        """
        known = {field.name for field in self.fields}
        for name in sorted(sent.keys() - known):
            there = ", ".join(sorted(known)) or "nothing"
            raise UsageError(f"There is no {name[:60]!r} here. It takes: {there}.")
        given: dict[str, Any] = {}
        for field in self.fields:
            if sent.get(field.name) is not None:
                given[field.name] = field.parse_value(sent[field.name])
            elif field.required:
                raise UsageError(f"{field.name!r} is missing. {field.help}.")
            else:
                absent = _HOLDS[field.kind].absent
                given[field.name] = absent if field.default is None else field.default
        return given


@dataclass(frozen=True, slots=True, kw_only=True)
class Special:
    """One thing that can be asked for and answers something else than one value."""

    path: str
    name: str
    scope: Scope | None
    """None for what needs no token."""
    whole: bool = False
    """Whether it is refused to a bound token."""


def _parse_text(raw: Any) -> str:
    if not isinstance(raw, str) or len(raw) > MOST_CHARS or "\0" in raw:
        raise TypeError
    raw.encode()  # half a surrogate pair is no text
    return raw


def _parse_texts(raw: Any) -> tuple[str, ...]:
    items = [raw] if isinstance(raw, str) else raw
    if not isinstance(items, list) or len(items) > 100:
        raise TypeError
    return tuple(_parse_text(item) for item in items)


def _parse_int(raw: Any) -> int:
    # Longer whole numbers lose their last digits in clients that read JSON as floats.
    if isinstance(raw, bool) or not isinstance(raw, int | str) or len(str(raw)) > 15:
        raise TypeError
    return int(raw)


def _parse_float(raw: Any) -> float:
    if isinstance(raw, bool) or not isinstance(raw, int | float | str):
        raise TypeError
    # NaN is unequal to itself, and would pass both bounds.
    if (value := float(raw)) != value or abs(value) > 1e15:
        raise ValueError
    return value


def _parse_flag(raw: Any) -> bool:
    value = _FLAGS.get(raw) if isinstance(raw, str) else raw
    if not isinstance(value, bool):
        raise TypeError
    return value


def _parse_moment(raw: Any) -> datetime:
    found = datetime.fromisoformat(_parse_text(raw))
    # Without an offset it is on the clocks of the memory, which are known when it is its turn.
    return found.astimezone(UTC) if found.tzinfo else found


def on_clocks(given: Given, zone: Zone) -> Given:
    """Return what was given with each moment that names no offset as one of a zone."""
    return {
        name: from_clocks(value, zone) if isinstance(value, datetime) else value
        for name, value in given.items()
    }


def _parse_object(raw: Any) -> Mapping[str, Any]:
    if not isinstance(raw, dict):
        raise TypeError
    # Refuses NaN and half of a surrogate pair, which no file of the memory could hold.
    json.dumps(raw, ensure_ascii=False, allow_nan=False).encode()
    return raw


def _parse_objects(raw: Any) -> tuple[Mapping[str, Any], ...]:
    if not isinstance(raw, list) or len(raw) > MOST_OBJECTS:
        raise TypeError
    return tuple(map(_parse_object, raw))


_FLAGS = {"true": True, "1": True, "false": False, "0": False}
_TEXT: Mapping[str, Any] = {"type": "string"}
_OBJECT: Mapping[str, Any] = {"type": "object", "additionalProperties": True}


class _Holds(NamedTuple):
    """What a field of a kind holds."""

    parse: Callable[[Any], Any]
    wanted: str
    """The same in words."""
    schema: Mapping[str, Any]
    absent: Any = None
    """What is meant where nothing is said."""


_HOLDS: Mapping[Kind, _Holds] = {
    "text": _Holds(_parse_text, "text", _TEXT, ""),
    "texts": _Holds(
        _parse_texts, "a list of at most 100 texts",
        {"type": "array", "items": _TEXT, "maxItems": 100}, (),
    ),
    "int": _Holds(_parse_int, "a whole number", {"type": "integer"}, 0),
    "float": _Holds(_parse_float, "a number", {"type": "number"}, 0.0),
    "flag": _Holds(_parse_flag, "true or false", {"type": "boolean"}, False),
    "moment": _Holds(
        _parse_moment, "a moment such as 2026-02-27T09:30:00Z", {**_TEXT, "format": "date-time"}
    ),
    "day": _Holds(
        lambda raw: date.fromisoformat(_parse_text(raw)), "a day such as 2026-02-27",
        {**_TEXT, "format": "date"},
    ),
    "object": _Holds(_parse_object, "an object", _OBJECT),
    "objects": _Holds(
        _parse_objects, f"a list of at most {MOST_OBJECTS} objects",
        {"type": "array", "items": _OBJECT, "maxItems": MOST_OBJECTS}, (),
    ),
}  # fmt: skip
