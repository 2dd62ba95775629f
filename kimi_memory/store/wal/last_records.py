"""The last record of each path, read from the end of the journal as far as it takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from kimi_memory.domain.json_value import Json
from kimi_memory.store.wal.contents import EXTERNAL
from kimi_memory.store.wal.hash_chain import parsed


class Record(NamedTuple):
    """What the journal says of a file as it was written last."""

    mark: str
    """Of its content; empty where it is gone."""
    actor: str
    origin: str
    op: str
    before: str = ""
    why: str = ""
    """Why the content waits for a person's word."""
    vetted: str = ""
    """The mark of the last version that did not wait, where this one does."""


class Reach(NamedTuple):
    """How far a segment was read."""

    inode: int = 0
    end: int = 0


_Lines = Callable[[str, Reach], tuple[Reach, bool, list[bytes]]]


class LastRecords:
    """Knows the segments it has read, newest first; only the newest one grows."""

    def __init__(self) -> None:
        self._days: dict[str, tuple[Reach, dict[str, Record]]] = {}
        self._whole: set[str] = set()
        """Segments that were read since a newer one was begun."""

    def find(self, path: str, segments: Sequence[str], lines: _Lines) -> Record | None:
        """Return the last record of a path, None where no segment has one.

        Args:
            path: the file.
            segments: the names of all segments, oldest first.
            lines: returns how far a segment goes now, whether it is the one that was read
                before, and its lines, of that one only those beyond.
        """
        for segment in reversed(segments):
            found = self._read_segment(segment, lines, newest=segment == segments[-1]).get(path)
            if found is not None:
                return found
        return None

    def _read_segment(self, segment: str, lines: _Lines, *, newest: bool) -> dict[str, Record]:
        if segment in self._whole and not newest:
            return self._days[segment][1]
        reach, last = self._days.get(segment, (Reach(), {}))
        reach, goes_on, added = lines(segment, reach)
        last = last if goes_on else {}
        for line in added:
            _apply_record(parsed(line) or {}, last)
        self._days[segment] = reach, last
        if not newest:
            self._whole.add(segment)
        return last


def _apply_record(record: Mapping[str, Json], last: dict[str, Record]) -> None:
    was, path = str(record.get("was", "")), str(record.get("path", ""))
    if was:
        last[was] = Record("", "", "", "move")
    if path:
        before, found = last.get(path), record_of(record)
        grown = found.op == "append" and before and before.origin.startswith(f"{EXTERNAL}:")
        if before is not None and grown:
            found = found._replace(origin=before.origin, why=before.why, vetted=before.vetted)
        last[path] = found


def record_of(record: Mapping[str, Json]) -> Record:
    """Return what a line of the journal says of its path."""
    names = ("after", "actor", "origin", "op", "before", "why", "vetted")
    return Record(*(str(record.get(name, "")) for name in names))
