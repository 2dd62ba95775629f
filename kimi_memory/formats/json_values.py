"""Values as JSON knows them and back, and the schema that says so.

Dataclasses are objects; moments and paths are texts.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from enum import Enum
from pathlib import PurePath
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from kimi_memory.domain.job import Effect
from kimi_memory.domain.search_types import Hit

_PLAIN: Mapping[Any, dict[str, Any]] = {
    type(None): {"type": "null"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    str: {"type": "string"},
    datetime: {"type": "string", "format": "date-time"},
    date: {"type": "string", "format": "date"},
}
_LISTS = (list, tuple, Sequence)


def plain(value: Any) -> Any:
    """Return a value made of what JSON knows."""
    if isinstance(value, Enum):
        return value.value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    return str(value) if isinstance(value, PurePath) else value


def revive(kind: Any, value: Any) -> Any:
    """Return what `plain` made JSON of, as a value of a type; unknown members are left out.

    Raises:
        ValueError, TypeError, KeyError: it is no such value.
    """
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return None if value is None else revive(_optional_type(inner), value)
    if origin in _LISTS:
        made = [revive(inner[0], item) for item in value]
        return tuple(made) if origin is tuple else made
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {key: revive(inner[1], item) for key, item in value.items()}
    return _revive_instance(kind, value)


def _revive_instance(kind: Any, value: Any) -> Any:
    if dataclasses.is_dataclass(kind):
        hints = _field_types(kind)
        # A newer server may send more members, an older one fewer: the rest keeps its defaults.
        names = [f.name for f in dataclasses.fields(kind) if f.name in value]
        return kind(**{name: revive(hints[name], value[name]) for name in names})  # type: ignore[operator]  # a class, as its fields were found
    if kind in (datetime, date):
        return kind.fromisoformat(value)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(value)
    return value


def _field_types(kind: Any) -> dict[str, Any]:
    """Return the types of a dataclass's fields, also those its module knows by name only."""
    return get_type_hints(kind, localns={"Effect": Effect, "Hit": Hit})


def _optional_type(kinds: tuple[Any, ...]) -> Any:
    """Return the one type of an optional value."""
    return next(kind for kind in kinds if kind is not type(None))


def schema(kind: Any, named: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of a type.

    Args:
        kind: the type.
        named: schemas of dataclasses by name; what is missing is added.
    """
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return {"anyOf": [schema(one, named) for one in inner]}
    if origin in _LISTS:
        return {"type": "array", "items": schema(inner[0], named)}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": schema(inner[1], named)}
    return _object_schema(kind, named) if dataclasses.is_dataclass(kind) else _scalar_schema(kind)


def _scalar_schema(kind: Any) -> dict[str, Any]:
    """Return the schema of what has no parts; an open one for what may be anything."""
    if get_origin(kind) is Literal:
        return {"type": "string", "enum": list(get_args(kind))}
    if isinstance(kind, type) and issubclass(kind, Enum):
        return {"type": "string", "enum": [one.value for one in kind]}
    return dict(_PLAIN.get(kind, {}))


def _object_schema(kind: Any, named: dict[str, Any]) -> dict[str, Any]:
    name = kind.__name__
    if name not in named:
        # Before its parts are looked at: a dataclass may hold others of its own kind.
        named[name] = {}
        hints, fields = _field_types(kind), dataclasses.fields(kind)
        named[name] = {
            "type": "object",
            "description": (kind.__doc__ or "").partition("\n")[0],
            "properties": {f.name: schema(hints[f.name], named) for f in fields},
            "required": [f.name for f in fields],
        }
    return {"$ref": f"#/components/schemas/{name}"}
