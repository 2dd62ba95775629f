"""How session files grew: which of their lines the journal accounts for."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from kimi_memory.domain.session import Json
from kimi_memory.formats.jsonl import is_whole, unseal
from kimi_memory.store.wal.records import EXTERNAL, is_mark, mark

if TYPE_CHECKING:
    from kimi_memory.store.store import Store
    from kimi_memory.store.wal.journal import Journal

_TURN = b'"kind":"turn"'
Records = Sequence[Mapping[str, Json]]


def find_unseen_lines(store: Store, path: str, earlier: bytes = b"") -> list[bytes]:
    """Return the turns of a session file, or an earlier state, that no write of ours brought there.

    None where the journal says nothing of the file: a folder from elsewhere is taken as it is.
    """
    content = earlier or store.read(path)
    turns = turn_lines(content)
    records = _read_records(store.journal, PurePosixPath(path).name) if turns else ()
    known = find_journaled_lines(content, records) if records else turns
    return [line for line in turns if line not in known]


def _read_records(journal: Journal, name: str) -> Records:
    """Return our records of the files of a name since it was made, oldest first."""
    found: list[dict[str, Json]] = []
    gone: set[Json] = set()
    written = json.dumps(name, ensure_ascii=False).strip('"').encode("utf-8", "replace")
    for record in journal.newest_first(written):
        if PurePosixPath(str(record.get("path"))).name != name or not journal.is_ours(record):
            continue
        found.append(record)
        if record.get("op") == "delete":
            gone.add(record.get("before"))
        # Where it was only moved, its beginning stands further back.
        elif not record.get("before") and record.get("after") not in gone:
            break
    return found[::-1]


def turn_lines(content: bytes) -> list[bytes]:
    """Return the lines of a session file that hold turns; one that was cut short holds none."""
    lines = content.splitlines(keepends=True)
    return [line for line in lines if _TURN in line and (is_whole(line) or _is_record(line))]


def _is_record(line: bytes) -> bool:
    # Without our checksum: a person may have edited it.
    try:
        return bool(unseal(line))
    except ValueError:
        return False


def find_journaled_lines(content: bytes, records: Records) -> set[bytes]:
    """Return the lines of a file that the journal's records of its growth account for.

    Args:
        content: the file.
        records: those of every file of its name, oldest first.
    """
    spans = _find_journaled_spans(content, records)
    return {line for first, end in spans for line in content[first:end].splitlines(keepends=True)}


def _find_journaled_spans(content: bytes, records: Records) -> Iterator[tuple[int, int]]:
    gone = {record.get("before") for record in records if record.get("op") == "delete"}
    whole = _Prefixes(content)
    for at, record in enumerate(records):
        before, after = str(record.get("before", "")), str(record.get("after", ""))
        if at == 0 and before:
            yield 0, whole.find_end(before)  # What was there before there was a journal.
        # A move brings what stood elsewhere, which need not be ours.
        if record.get("origin") == EXTERNAL or (at > 0 and after and after in gone):
            continue
        if not is_mark(after):
            yield 0, whole.find_end(after)
        elif (not before or whole.find_end(before)) and whole.find_end(after):
            yield _parse_mark_size(before), _parse_mark_size(after)


class _Prefixes:
    """Finds the beginning of a file that a content mark is of."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._ends: dict[str, int] = {}

    def find_end(self, wanted: str) -> int:
        """Return where the beginning with that mark ends; 0 where no beginning has it."""
        if is_mark(wanted):
            size = _parse_mark_size(wanted)
            return size if self._has_marked_tail(wanted, size) else 0
        if wanted and not self._ends:
            self._ends = dict(self._hash_prefixes())
        return self._ends.get(wanted, 0)

    def _has_marked_tail(self, wanted: str, size: int) -> bool:
        line = self._content[self._content.rfind(b"\n", 0, max(size - 1, 0)) + 1 : size]
        return size <= len(self._content) and mark(line, size) == wanted

    def _hash_prefixes(self) -> Iterator[tuple[str, int]]:
        hashed, size = sha256(), 0
        for line in self._content.splitlines(keepends=True):
            hashed.update(line)
            size += len(line)
            yield hashed.hexdigest(), size


def _parse_mark_size(tail: str) -> int:
    return int(tail.rpartition("@")[2]) if is_mark(tail) else 0
