"""The difference between the folder and what an index holds, read into an overlay.

The overlay holds in memory what the disk index does not hold yet.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kimi_memory.domain.search_types import Unit
from kimi_memory.errors import FormatError, KimiMemoryError, NotFoundError
from kimi_memory.index.columns import FileRow
from kimi_memory.index.files import Files, Folder
from kimi_memory.index.stored import Stored
from kimi_memory.index.table import Table
from kimi_memory.index.units import Split, Words, capped_units, guard
from kimi_memory.store.files.disk import UNKNOWN, Stat
from kimi_memory.store.files.paths import forget

if TYPE_CHECKING:
    from kimi_memory.domain.engine import Floats, Ints

Progress = Callable[[int, int], None]
LARGEST_PAGE = 16 * 2**20
"""Bytes of the largest page that is searched: no person reads a longer one, and each MiB takes a
second to split and up to sixty of memory."""


class Overlay:
    """A table and its postings, grown file by file."""

    def __init__(self) -> None:
        self.table = Table()
        self._postings: dict[str, tuple[list[int], list[int]]] = {}

    def add(
        self, path: str, stat: Stat, digest: str, units: Sequence[Unit], words: list[list[str]]
    ) -> None:
        """Append a file: its units and the words of each."""
        first = len(self.table)
        file = FileRow(path, stat, digest, first, len(units))
        self.table.add(file, units, [len(found) for found in words])
        for row, found in enumerate(words, start=first):
            for word, count in Counter(found).items():
                rows, counts = self._postings.setdefault(word, ([], []))
                rows.append(row)
                counts.append(count)

    def grown(
        self, stat: Stat, digest: str, units: Sequence[Unit], words: Sequence[list[str]]
    ) -> Overlay:
        """Return an overlay whose last file has more units; this one stays as it is."""
        made = Overlay()
        made.table, made._postings = self.table.copy(), dict(self._postings)
        for row, found in enumerate(words, start=len(self.table)):
            for word, count in Counter(found).items():
                rows, counts = made._postings.get(word, ([], []))
                # Copied, not appended to: a view that somebody holds still reads the old lists.
                made._postings[word] = [*rows, row], [*counts, count]
        made.table.extend(stat, digest, units, [len(found) for found in words])
        return made

    def fail(self, path: str, stat: Stat, digest: str, why: str) -> None:
        """Append a file that cannot be parsed, so that it is not tried at every look."""
        self.table.files.append(FileRow(path, stat, digest, len(self.table), 0, why))

    def words(self, begin: str = "") -> list[str]:
        """Return the words that begin so, ascending."""
        return sorted(word for word in self._postings if word.startswith(begin))

    def postings(self, word: str) -> tuple[Ints, Floats]:
        """Return the rows that hold `word`, ascending, and how often each does."""
        rows, counts = self._postings.get(word, ((), ()))
        return np.asarray(rows, dtype=np.int64), np.asarray(counts, dtype=np.float64)


class Read(NamedTuple):
    """One file as it was read: its units and the words of each."""

    stat: Stat
    digest: str
    units: list[Unit]
    words: list[list[str]]
    why: str = ""
    """What is wrong with it, when it cannot be parsed."""

    def follows(self, before: Read) -> bool:
        """Whether it begins with the very units of another reading."""
        firsts = zip(self.units, before.units, strict=False)
        held = len(before.units) <= len(self.units) and not (self.why or before.why)
        return held and all(one is other for one, other in firsts)


_UNREAD = Read((0, 0, 0), "", [], [])


class Difference(NamedTuple):
    """What a look at the folder found."""

    stats: Mapping[str, Stat]
    """All searchable files."""
    fresh: dict[str, Read]
    """Files the index does not hold in this state."""
    dead: frozenset[str] = frozenset()
    """Files of the index that changed or are gone."""
    version: int = 0
    """Another one for every other difference."""
    weight: int = 0
    """About how many units the index lacks or has too many of.

    A session that goes on weighs what it gained: it differs again after its next turn,
    however often the index is written.
    """

    def overlay(self) -> Overlay:
        """Return the fresh files as an index in memory."""
        made = Overlay()
        for path in sorted(self.fresh):
            read = self.fresh[path]
            if read.why:
                made.fail(path, read.stat, read.digest, read.why)
            else:
                made.add(path, read.stat, read.digest, read.units, read.words)
        return made


class Sync:
    """Looks at the folder again and again, reading only what changed in between."""

    def __init__(self, files: Files, words: Words, split: Split) -> None:
        self._files, self.words, self.split = files, words, split
        self._folder = Folder(files.root)
        self._table: Stored | None = None
        self._differing: set[str] | None = None
        self._known: dict[str, Read] = {}
        self._same: dict[str, Stat] = {}
        """How files look now that hold what the table has of them all the same."""
        self.last = Difference({}, {})
        """What the last look found."""
        self._laid: tuple[dict[str, Read], Overlay] = {}, Overlay()
        self._hints: set[str] = set()
        self._scanned = False

    @property
    def stats(self) -> Mapping[str, Stat]:
        """The searchable files as last seen."""
        return self._folder.stats

    def hint(self, paths: Iterable[str]) -> None:
        """Have these files looked at next time, without a look at all others."""
        self._hints.update(paths)

    def trust(self, seconds: float) -> None:
        """Let so long pass until all files are looked at again; 0 for as long as it suits us."""
        self._folder.patience = seconds

    def scan(self) -> None:
        """Look at every file now."""
        self._folder.scan()
        self._scanned, self._differing = True, None

    def rest(self) -> None:
        """Give back what is known of the folder; the next look asks for every file."""
        forget()
        patience, self._folder = self._folder.patience, Folder(self._files.root)
        self._folder.patience = patience
        self._table = self._differing = None
        self._scanned = False

    def survey(self, table: Stored) -> set[str]:
        """Return the files that are not as a table has them, by their state alone."""
        changed = None if self._scanned else self._folder.find_changed(self._drain_hints())
        self._scanned = False
        # Another generation: what differed from the last one says nothing about it.
        if self._table is not table:
            self._table, self._differing, self._same = table, None, {}
        if self._differing is None or changed is None:
            self._differing = differing(self._folder.stats, table)
        else:
            for path in changed:
                number = table.number(path)
                held = table.state(number) if number >= 0 else None
                # An edit that was taken back, or that the index has meanwhile.
                same = held == self._folder.stats.get(path)
                (self._differing.discard if same else self._differing.add)(path)
        return self._differing

    def compare_folder(self, table: Stored) -> Difference:
        """Return how the folder differs from a table, fresh files read."""
        return self.read(table, self.survey(table))

    def read(self, table: Stored, paths: Iterable[str]) -> Difference:
        """Return the difference that these files make, read where that was not done yet."""
        fresh: dict[str, Read] = {}
        dead = set()
        for path in paths:
            stat = self._folder.stats.get(path)
            found = None if stat is None else self.load(path, stat, table)
            if found is not None:
                fresh[path] = found
            if (found is not None or stat is None) and table.number(path) >= 0:
                dead.add(path)
        same = dead == self.last.dead and _file_states(fresh) == _file_states(self.last.fresh)
        # A view of the same difference is still right and is not made again.
        version = self.last.version + (not same)
        self._known = fresh
        weight = len(dead - fresh.keys()) + sum(
            max(1, abs(len(read.units) - table.size(path))) for path, read in fresh.items()
        )
        self.last = Difference(self._folder.stats, fresh, frozenset(dead), version, weight)
        return self.last

    def overlay(self, found: Difference) -> Overlay:
        """Return the fresh files as an index in memory, made of the last one where that grew."""
        before, made = self._laid
        fresh = found.fresh
        last = max(fresh, default="")
        same = before.keys() == fresh.keys() and all(
            read is before[path] for path, read in fresh.items() if path != last
        )
        was, now = before.get(last), fresh.get(last)
        if not (same and was and now and now.follows(was)):
            made = found.overlay()
        elif now is not was:
            count = len(was.units)
            made = made.grown(now.stat, now.digest, now.units[count:], now.words[count:])
        self._laid = fresh, made
        return made

    def load(self, path: str, stat: Stat, table: Stored) -> Read | None:
        """Read a changed file; None when its content is what the table holds."""
        if table is self._table and self._same.get(path) == stat:
            return None
        before = self._known.get(path)
        if before is not None and before.stat == stat:
            return before
        return self._read_file(path, stat, table)

    def _read_file(self, path: str, stat: Stat, table: Stored) -> Read | None:
        before = self._known.get(path, _UNREAD)
        if stat[0] > LARGEST_PAGE and not path.endswith(".jsonl"):
            return Read(stat, "", [], [], str(_make_size_error(path)))
        try:
            served = self._files.served(path)
        except NotFoundError:
            return Read(stat, "", [], [], "")  # moved since the look; the next one sees it
        except (OSError, KimiMemoryError) as error:
            return Read(stat, "", [], [], str(error))
        content = served.content
        # With the cap: the same words count differently once they are trusted.
        cap = f"\0{served.cap}".encode() if served.cap else b"".join(sorted(served.unseen))
        found = hashlib.sha256(content + cap).hexdigest()
        if served.passing:
            stat = UNKNOWN  # No file looks like this, so it is read again at the next look.
        if table.digest(path) == found:
            if table is self._table:
                self._same[path] = stat
            return None
        more = None if cap else self._read_gained_units(path, content, before)
        if more is not None:
            words = [self.words.of_unit(unit) for unit in more]
            return Read(stat, found, before.units + more, before.words + words)
        known = dict(zip(map(_unit_identity, before.units), before.words, strict=True))
        units, fault = guard(path, content, self.split)
        units = capped_units(units, served)
        # Splitting takes longest, and of a page with many chunks mostly one has changed.
        words = [known.get(_unit_identity(unit)) or self.words.of_unit(unit) for unit in units]
        return Read(stat, found, units, words, str(fault) if fault else "")

    def _read_gained_units(self, path: str, content: bytes, before: Read) -> list[Unit] | None:
        """Return what a session gained since it was read; None where it did more than grow."""
        size, _, _ = before.stat
        # A last line that was still being written when it was read is not whole.
        goes_on = size < len(content) and content[:size].endswith(b"\n") and not before.why
        if not (goes_on and path.endswith(".jsonl")):
            return None
        # An edit or a forgotten turn above: then the whole file is read.
        if hashlib.sha256(content[:size]).hexdigest() != before.digest:
            return None
        # Whose a turn is stands in the first line of its session.
        header = content[: content.index(b"\n") + 1]
        units, fault = guard(path, header + content[size:], self.split)
        if fault is not None:
            return None
        lines = len(content[:size].splitlines()) - 1  # as a whole reading counts them
        return [replace(one, first=one.first + lines, last=one.last + lines) for one in units]

    def _drain_hints(self) -> Iterator[str]:
        hints, self._hints = self._hints, set()
        return iter(hints)


def _make_size_error(path: str) -> FormatError:
    why = f"larger than {LARGEST_PAGE // 2**20} MiB, so it is not searched"
    return FormatError(path, 1, why, "Part it into several files, or move it out of the memory")


def differing(stats: Mapping[str, Stat], table: Stored) -> set[str]:
    """Return the paths whose state differs, or that stand on one side alone."""
    held = table.stats()
    if stats == held:
        return set()
    changed = {path for path, stat in stats.items() if held.get(path) != stat}
    return changed | (held.keys() - stats.keys())


def _file_states(fresh: Mapping[str, Read]) -> dict[str, tuple[Stat, str]]:
    return {path: (read.stat, read.digest) for path, read in fresh.items()}


def _unit_identity(unit: Unit) -> tuple[object, ...]:
    return (unit.text, unit.title, unit.speaker, unit.at, unit.kind)
