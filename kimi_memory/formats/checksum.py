"""Sealed records: lines of JSON that prove they are whole.

A record is one line of JSON whose last member is ``"sum"``, the first 12 hex digits
of the SHA-256 of the bytes before it. A line that was torn by a crash, or edited by
hand, does not carry its own sum; the file stays plain JSONL for every other program.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kimi_memory.domain.session import Json


_TAIL = b',"sum":"'
_encoded = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def _hash_body(body: bytes) -> str:
    # 48 bits: against torn lines and slips of the hand, not against an attacker.
    return hashlib.sha256(body).hexdigest()[:12]


def seal(record: Mapping[str, Json]) -> bytes:
    """Return the line of a record, newline included; the record has no ``sum`` member."""
    return seal_bytes(encode(record))


def encode(record: Mapping[str, Json]) -> bytes:
    """Return a record as the JSON that its line begins with."""
    # Lone surrogates cannot be UTF-8; they come only from broken input.
    return _encoded(record).encode("utf-8", "replace")


def seal_bytes(body: bytes) -> bytes:
    """Return the line of a record that was encoded."""
    open_body = body[:-1]
    return open_body + _TAIL + _hash_body(open_body).encode() + b'"}\n'


def is_whole(line: bytes) -> bool:
    """Whether the line ends in a newline and carries its own sum."""
    # From the right: a text may hold the same characters.
    body, tail, rest = line.rpartition(_TAIL)
    return bool(tail) and rest == _hash_body(body).encode() + b'"}\n'


def sum_of(line: bytes) -> str:
    """Return the sum a sealed line carries, or an empty string."""
    at = line.rfind(_TAIL)
    if at < 0:
        return ""
    start = at + len(_TAIL)
    return line[start : start + 12].decode("ascii", "replace")


def unseal(line: bytes) -> dict[str, Json]:
    """Return the record without its sum; ValueError when the line is not JSON.

    A wrong sum is not an error here: a person may have edited the line. Ask
    `is_whole` where it matters.
    """
    try:
        record = json.loads(line)
    # Python's parser gives up on brackets within brackets with this, which is no ValueError.
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(record, dict):
        raise ValueError("a record is a JSON object")
    record.pop("sum", None)
    return record
