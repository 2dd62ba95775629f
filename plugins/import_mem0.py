"""Memories as mem0 gives them out: JSON of ``get_all``, ``search`` or an export.

Why it exists: such a store is a list of short statements without their evidence; it is
audited and imported statement by statement. Understood are an array of objects with
``memory``, and an object that holds one under ``results``, ``memories`` or ``data``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePath
from typing import Any

from kimi_memory import hookimpl
from kimi_memory.domain.foreign_note import Memo
from kimi_memory.domain.note import CardType
from kimi_memory.domain.screen import TranscriptFile
from kimi_memory.errors import TranscriptError
from kimi_memory.nlp.dates.timestamps import moment

SYSTEM = "mem0"
_LISTS = ("results", "memories", "data")
_TYPES = {
    "preference": CardType.PREFERENCE,
    "preferences": CardType.PREFERENCE,
    "personal_preferences": CardType.PREFERENCE,
    "rule": CardType.RULE,
    "decision": CardType.DECISION,
}


@hookimpl
def read_memories(file: TranscriptFile, system: str) -> Iterable[Memo] | None:
    """Read a JSON file of memories; None for any other file."""
    if system not in ("", SYSTEM) or PurePath(file.name).suffix.lower() != ".json":
        return None
    # Any program writes JSON. Without the word in its head the file is not even parsed.
    if not system and b'"memory"' not in file.head:
        return None
    with file.open() as stream:
        text = stream.read().decode("utf-8", "replace")
    try:
        rows = _find_rows(json.loads(text))
    except (ValueError, RecursionError) as error:
        raise TranscriptError(file.name, 1, f"not JSON: {error}") from error
    return _yield_memos(rows, text) if rows else None


def _find_rows(value: object) -> list[Mapping[str, Any]]:
    if isinstance(value, dict):
        value = next((value[name] for name in _LISTS if isinstance(value.get(name), list)), [])
    if not isinstance(value, list):
        return []
    return [row for row in value if isinstance(row, dict) and isinstance(row.get("memory"), str)]


def _yield_memos(rows: list[Mapping[str, Any]], text: str) -> Iterator[Memo]:
    at, line = 0, 1
    for number, row in enumerate(rows):
        id = str(row.get("id") or f"row-{number}")
        found = text.find(json.dumps(id, ensure_ascii=False), at)
        if found > 0:
            line, at = line + text.count("\n", at, found), found
        yield _make_memo(row, id, line)


def _make_memo(row: Mapping[str, Any], id: str, line: int) -> Memo:
    about = row.get("metadata")
    metadata: Mapping[str, Any] = about if isinstance(about, dict) else {}
    tags = [*_text_values(row.get("categories")), *_text_values(metadata.get("category"))]
    words = (*tags, *_text_values(metadata.get("type")))
    return Memo(
        system=SYSTEM,
        id=id,
        text=str(row["memory"]),
        line=line,
        type=next((_TYPES[word] for word in words if word in _TYPES), None),
        tags=tuple(tags),
        created=moment(row.get("created_at")),
        updated=moment(row.get("updated_at")),
        expires=moment(row.get("expiration_date")),
        sources=tuple(_text_values(metadata.get("source"))),
        project=next(iter(_text_values(metadata.get("project"))), ""),
    )


def _text_values(value: object) -> list[str]:
    """Return a text or a list of texts as a list."""
    many = value if isinstance(value, list) else [value]
    return [one for one in many if isinstance(one, str) and one]
