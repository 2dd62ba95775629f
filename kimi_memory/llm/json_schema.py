"""The part of JSON Schema that our questions use, checked without a library."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kimi_memory.domain.json_value import Json
from kimi_memory.domain.prompt import Schema

_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
}


def problem_of(value: Json, schema: Schema, place: str = "the answer") -> str:
    """Return the first reason why a value does not fit a schema, or an empty string."""
    return next(_find_problems(value, schema, place), "")


def _find_problems(value: Json, schema: Schema, place: str) -> Iterator[str]:
    wanted = str(schema.get("type", ""))
    if wanted and not _is_type(value, wanted):
        yield f"{place} is no {wanted}"
        return
    choices = schema.get("enum")
    if isinstance(choices, list) and value not in choices:
        yield f"{place} is {str(value)[:40]!r}, not one of {', '.join(map(str, choices))}"
    if isinstance(value, str) and len(value) > _read_bound(schema, "maxLength"):
        yield f"{place} is longer than {schema['maxLength']} characters"
    if isinstance(value, dict):
        yield from _of_object(value, schema, place)
    if isinstance(value, list):
        yield from _of_list(value, schema, place)


def _is_type(value: Json, wanted: str) -> bool:
    fits = isinstance(value, _TYPES[wanted])
    # To Python, True is an integer.
    return fits and (wanted == "boolean" or not isinstance(value, bool))


def _of_object(value: Mapping[str, Json], schema: Schema, place: str) -> Iterator[str]:
    needed = schema.get("required")
    for name in needed if isinstance(needed, list) else ():
        if name not in value:
            yield f"{place} lacks {name!r}"
    known = schema.get("properties")
    for name, inner in known.items() if isinstance(known, dict) else ():
        if name in value and isinstance(inner, dict):
            yield from _find_problems(value[name], inner, name)


def _of_list(value: list[Json], schema: Schema, place: str) -> Iterator[str]:
    if len(value) > _read_bound(schema, "maxItems"):
        yield f"{place} has more than {schema['maxItems']} items"
    inner = schema.get("items")
    if isinstance(inner, dict):
        for number, item in enumerate(value, 1):
            yield from _find_problems(item, inner, f"{place}, item {number},")


def _read_bound(schema: Schema, name: str) -> float:
    bound = schema.get(name)
    return float(bound) if isinstance(bound, int | float) else float("inf")
