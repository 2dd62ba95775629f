"""The difference between the folder and what an index holds, read into an overlay."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from kimi_memory.errors import KimiMemoryError, NotFoundError
from kimi_memory.index.files import Files, Stat, scan
from kimi_memory.index.overlay import Overlay
from kimi_memory.index.table import FileRow
from kimi_memory.index.units import Split, guard
from kimi_memory.index.words import Words
from kimi_memory.model.unit import Unit

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Read:
    """One file as it was read: its units and the words of each."""

    stat: Stat
    digest: str
    units: list[Unit]
    words: list[list[str]]
    why: str = ""
    """What is wrong with it, when it cannot be parsed."""


@dataclass(slots=True)
class Difference:
    """What a look at the folder found."""

    stats: dict[str, Stat]
    """All searchable files."""
    fresh: dict[str, Read] = field(default_factory=dict)
    """Files the index does not hold in this state."""
    dead: frozenset[str] = frozenset()
    """Files of the index that changed or are gone."""

    @property
    def weight(self) -> int:
        """About how many units differ from the index."""
        return len(self.dead - self.fresh.keys()) + sum(
            len(read.units) or 1 for read in self.fresh.values()
        )

    def overlay(self) -> Overlay:
        """Return the fresh files as an index in memory."""
        made = Overlay()
        for path, read in self.fresh.items():
            if read.why:
                made.fail(path, read.stat, read.digest, read.why)
            else:
                made.add(path, read.stat, read.digest, read.units, read.words)
        return made


class Sync:
    """Looks at the folder again and again, reading only what changed in between."""

    def __init__(self, files: Files, words: Words, split: Split) -> None:
        self._files, self._words, self._split = files, words, split
        self._read: dict[str, Read] = {}
        self._same: dict[str, tuple[Stat, str]] = {}

    def look(
        self,
        rows: Iterable[FileRow],
        progress: Progress | None = None,
        *,
        stats: dict[str, Stat] | None = None,
    ) -> Difference:
        """Return how the folder differs from an index that holds these files.

        Args:
            rows: the files of the index.
            progress: told how many of how many files are read.
            stats: the folder as it was just scanned; it is scanned now if not given.
        """
        held = {row.path: row for row in rows}
        found = Difference(scan(self._files.root) if stats is None else stats)
        changed = sorted(
            path
            for path, stat in found.stats.items()
            if (row := held.get(path)) is None or (row.stat != stat and not self._known(row, stat))
        )
        for done, path in enumerate(changed):
            read = self._load(path, found.stats[path], held.get(path))
            if read is not None:
                found.fresh[path] = read
            if progress is not None:
                progress(done + 1, len(changed))
        found.dead = frozenset(
            path for path in held if path in found.fresh or path not in found.stats
        )
        self._read = dict(found.fresh)
        return found

    def _known(self, row: FileRow, stat: Stat) -> bool:
        """Whether the file was read in this state, and held what the index holds."""
        return self._same.get(row.path) == (stat, row.digest)

    def _load(self, path: str, stat: Stat, row: FileRow | None) -> Read | None:
        """Read a changed file; None when its content is what the index holds."""
        before = self._read.get(path)
        if before is not None and before.stat == stat:
            return before
        try:
            content = self._files.read(path)
        except NotFoundError:
            return Read(stat, "", [], [], "")  # moved since the look; the next one sees it
        except (OSError, KimiMemoryError) as error:
            return Read(stat, "", [], [], str(error))
        digest = hashlib.sha256(content).hexdigest()
        if row is not None and row.digest == digest:
            self._same[path] = (stat, digest)
            return None
        units, fault = guard(path, content, self._split)
        known = {} if before is None else dict(zip(_marks(before.units), before.words, strict=True))
        words = [known.get(mark) or self._words.of_unit(unit) for mark, unit in _marked(units)]
        return Read(stat, digest, units, words, str(fault) if fault else "")


def _mark(unit: Unit) -> tuple[object, ...]:
    return (unit.text, unit.title, unit.speaker, unit.at, unit.kind)


def _marks(units: list[Unit]) -> list[tuple[object, ...]]:
    return [_mark(unit) for unit in units]


def _marked(units: list[Unit]) -> list[tuple[tuple[object, ...], Unit]]:
    return [(_mark(unit), unit) for unit in units]
