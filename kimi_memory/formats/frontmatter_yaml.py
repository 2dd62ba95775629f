"""Strict YAML: the small part of the language that front matter may use.

The text is read as a stream of events, so that a bomb is refused before anything
is built from it: no aliases, anchors, tags or directives, no repeated keys, no deep
nesting, one mapping.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

import yaml

from kimi_memory.errors import FormatError
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.basic.safe_text import Value, typed

# Notes need 2; each level is a call more on Python's own stack.
MAX_DEPTH = 20


@dataclass(frozen=True, slots=True)
class Place:
    """Where a key of the outer mapping and its value stand, as character offsets."""

    key: tuple[int, int]
    value: tuple[int, int]
    """For a block collection the end may lie beyond its last line."""
    shape: str
    """plain, quoted, block (a ``|`` or ``>`` scalar), flow, list or map."""
    items: tuple[tuple[int, int], ...] = ()
    """Of a list of scalars: where each item stands."""


@dataclass(slots=True)
class Tree:
    """What a block of front matter says."""

    values: dict[str, Value] | None = None
    """None where the outermost value is not a mapping."""
    places: dict[str, Place] = field(default_factory=dict)
    flow: bool = False
    """Whether the whole mapping is written in braces."""


def load(block: str, path: str, first: int) -> Tree:
    """Read a block whose first line is line `first` of its file.

    Raises:
        FormatError: The block is not strict YAML.
    """
    try:
        return _Builder(block, path, first).document()
    except yaml.YAMLError as error:
        raise _make_error(error, path, first) from None
    except ValueError:  # an escape that is no character; libyaml reports it, the pure parser not
        raise FormatError(path, first, "an escape here is no character") from None


def _make_error(error: yaml.YAMLError, path: str, first: int) -> FormatError:
    mark, opened = getattr(error, "problem_mark", None), getattr(error, "context_mark", None)
    why = str(getattr(error, "problem", None) or "it cannot be read")
    # What is never closed fails at the end; a person looks for where it was opened.
    shown = opened if opened and "end of stream" in why else mark
    return FormatError(path, first + (shown.line if shown else 0), f"not valid front matter: {why}")


class _Builder:
    """Builds values from events; lives for one block."""

    def __init__(self, block: str, path: str, first: int) -> None:
        # Several times faster, and missing where PyYAML was built without libyaml.
        loader: type = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
        self._events: Iterator[yaml.Event] = yaml.parse(block, Loader=loader)
        self._path, self._first = path, first
        self._tree = Tree()
        self._spans: tuple[tuple[int, int], ...] = ()

    def document(self) -> Tree:
        self._next_event()
        start = self._next_event()
        if isinstance(start, yaml.StreamEndEvent):
            self._tree.values = {}
            return self._tree
        if getattr(start, "version", None) or getattr(start, "tags", None):
            raise self._make_error(start, "YAML directives are not allowed here")
        self._read_root(self._next_event())
        self._next_event()
        if not isinstance(after := self._next_event(), yaml.StreamEndEvent):
            raise self._make_error(after, "a second YAML document begins here")
        return self._tree

    def _next_event(self) -> yaml.Event:
        self._last = next(self._events)
        return self._last

    def _read_root(self, event: yaml.Event) -> None:
        self._check_event(event, 1)
        if isinstance(event, yaml.MappingStartEvent):
            self._tree.flow = bool(event.flow_style)
            self._tree.values = self._read_mapping(1)
        elif self._read_value(event, 1) is None:
            self._tree.values = {}

    def _read_value(self, event: yaml.Event, depth: int) -> Value:
        self._check_event(event, depth)
        if isinstance(event, yaml.ScalarEvent):
            # Quotes mean text: '12' stays the two characters.
            return str(event.value) if event.style else typed(event.value)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._read_sequence(depth)
        return self._read_mapping(depth)

    def _read_sequence(self, depth: int) -> list[Value]:
        items: list[Value] = []
        spans: list[tuple[int, int]] = []
        while not isinstance(event := self._next_event(), yaml.SequenceEndEvent):
            items.append(self._read_value(event, depth + 1))
            if isinstance(event, yaml.ScalarEvent):
                spans.append(_event_span(event, event))
        self._spans = tuple(spans) if len(spans) == len(items) else ()
        return items

    def _read_mapping(self, depth: int) -> dict[str, Value]:
        found: dict[str, Value] = {}
        while not isinstance(event := self._next_event(), yaml.MappingEndEvent):
            self._check_event(event, depth)
            if not isinstance(event, yaml.ScalarEvent):
                raise self._make_error(event, "a key must be plain text")
            name = str(event.value)
            # YAML takes the last of two; a person who wrote both would lose the first without a
            # word.
            if name in found:
                raise self._make_error(event, f"the key {name!r} stands here a second time")
            value = self._next_event()
            found[name] = self._read_value(value, depth + 1)
            if depth == 1:
                spans = self._spans if isinstance(value, yaml.SequenceStartEvent) else ()
                whole = _event_span(value, self._last)
                self._tree.places[name] = Place(
                    _event_span(event, event), whole, _value_shape(value), spans
                )
        return found

    def _check_event(self, event: yaml.Event, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise self._make_error(event, f"nested more than {MAX_DEPTH} levels deep")
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise self._make_error(event, "YAML anchors and aliases are not allowed here")
        if (tag := getattr(event, "tag", None)) is not None:
            raise self._make_error(event, f"the YAML tag {tag!r} is not allowed here")

    def _make_error(self, event: yaml.Event, why: str) -> FormatError:
        remedy = "Write plain keys and values, each key once"
        line = event.start_mark.line if event.start_mark else 0
        return FormatError(self._path, self._first + line, why, remedy)


def _event_span(first: yaml.Event, last: yaml.Event) -> tuple[int, int]:
    assert first.start_mark, "events of a parser have marks"
    assert last.end_mark, "events of a parser have marks"
    return first.start_mark.index, last.end_mark.index


def _value_shape(event: yaml.Event) -> str:
    if isinstance(event, yaml.ScalarEvent):
        return {"": "plain", "|": "block", ">": "block"}.get(event.style or "", "quoted")
    if getattr(event, "flow_style", False):
        return "flow"
    return "list" if isinstance(event, yaml.SequenceStartEvent) else "map"
