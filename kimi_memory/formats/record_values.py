"""Members of a record of JSON, each of its type; ValueError says which one is wrong."""

from __future__ import annotations

from collections.abc import Mapping

from kimi_memory.domain.session import Json

Record = Mapping[str, Json]


def drop_empty(record: Record) -> dict[str, Json]:
    """Return the members of a record that say something."""
    return {name: value for name, value in record.items() if value}


def get_text(record: Record, name: str) -> str:
    """Return a text of a record, empty where it has none; ValueError for anything else."""
    value = record.get(name)
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{name!r} should be text")
    text = value or ""
    # Escapes in JSON can spell half a character, which no file can hold.
    return (
        text
        if text.isascii()
        else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    )


def get_texts(record: Record, name: str) -> list[str]:
    """Return a list of texts of a record."""
    found = record.get(name, [])
    if not isinstance(found, list):
        raise ValueError(f"{name!r} should be a list")
    return [str(one) for one in found]


def get_required(record: Record, name: str) -> str:
    """Return a text that a record must have."""
    if not (text := get_text(record, name)):
        raise ValueError(f"{name!r} is missing")
    return text


def get_integer(record: Record, name: str, *, least: int = 0) -> int:
    """Return a whole number of a record, 0 where it has none."""
    value = record.get(name, 0)
    # To Python, True is a whole number.
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name!r} should be a whole number from {least} on")
    return value


def get_number(record: Record, name: str, default: float) -> float:
    """Return a number of a record."""
    value = record.get(name, default)
    # Written so that NaN fails, too.
    if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) < 1e9:
        raise ValueError(f"{name!r} should be a number")
    return float(value)


def get_table(record: Record, name: str, default: dict[str, Json]) -> dict[str, Json]:
    """Return an object of a record."""
    value = record.get(name, default)
    if not isinstance(value, dict):
        raise ValueError(f"{name!r} should be an object")
    return value


def get_records(record: Record, name: str) -> list[dict[str, Json]]:
    """Return a list of objects of a record."""
    found = record.get(name, [])
    if not isinstance(found, list):
        raise ValueError(f"{name!r} should be a list")
    records = [one for one in found if isinstance(one, dict)]
    if len(records) != len(found):
        raise ValueError(f"{name!r} should hold objects")
    return records
