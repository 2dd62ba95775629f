"""Records of the journal as a chain: each names the hash of the line before it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kimi_memory.domain.json_value import Json


def whole_lines(content: bytes) -> list[bytes]:
    """Return the lines of a journal that are not torn, with their newlines."""
    return content[: content.rfind(b"\n") + 1].splitlines(keepends=True)


def hash_of(line: bytes) -> str:
    """Return what the next record names as the one before it; empty for no line."""
    return hashlib.sha256(line).hexdigest() if line else ""


def parsed(line: bytes) -> dict[str, Json] | None:
    """Return the record a line holds, None where it holds none."""
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) else None


def number_of(record: Mapping[str, Json] | None, otherwise: int) -> int:
    """Return the number of a record, or what it must be where it has none."""
    seq = (record or {}).get("seq")
    return seq if isinstance(seq, int) else otherwise


def misfits(record: Mapping[str, Json], where: str, seq: int, last: str) -> list[str]:
    """Say where a record does not fit the chain, as messages."""
    problems = []
    if record.get("seq") != seq:
        problems.append(f"{where}: record {record.get('seq')} stands where {seq} is due")
    if record.get("prev") != last:
        problems.append(f"{where}: the record does not follow the line before it")
    return problems


def of_another_key(count: int, total: int) -> list[str]:
    """Say how many of all records another key signed, as messages."""
    if count and count == total:
        return ["every record was written with another key: the journal is a foreign chain"]
    return [f"{count} records were not written with this memory's key"] if count else []
