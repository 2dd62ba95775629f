"""The index of a memory: what is on disk, kept in step with the files."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING

from kimi_memory.domain.search_types import Chunk, ChunkSizes
from kimi_memory.errors import IndexDamagedError, KimiMemoryError, LockTimeoutError, ReadOnlyError
from kimi_memory.hooks.host import Host
from kimi_memory.index.base import Base, open_base
from kimi_memory.index.columns import Layout
from kimi_memory.index.files import INDEX, Files
from kimi_memory.index.past_view import PastSearcher, lay_over
from kimi_memory.index.searcher import Part, Searcher
from kimi_memory.index.stored import SYNONYMS, Generation, Shelf, Stored
from kimi_memory.index.sync import Difference, Overlay, Progress, Sync
from kimi_memory.index.units import Words
from kimi_memory.index.verify import IndexReport, IndexStatus, compare, damaged, unreadable
from kimi_memory.nlp.dates.vocabulary import Zone
from kimi_memory.store.files.disk import Stats
from kimi_memory.store.files.paths import PRIVATE
from kimi_memory.store.reading import Served
from kimi_memory.store.store import Store

if TYPE_CHECKING:
    from kimi_memory.domain.health import Finding
    from kimi_memory.index.build import Build

LOCK = "index"
BESIDE = "index-check"
"""Folder and lock of an index that is built to compare the one in use with."""
# Below that, what changed is read in a moment; above, every process would read it again.
FLUSH_UNITS = 500
"""From so many changed units on, recall updates the index on disk first."""


class Index:
    """The searchable state of one memory folder.

    Args:
        store: where the files are.
        host: the plugins that split and embed texts and open the engines.
        key: this machine's own secret; indexes it did not sign are not opened.
        clock: tells the time.
        zone: the zone of the days people ask for.
        name: of its folder and its lock.
        sizes: of the chunks of a page.
    """

    def __init__(  # noqa: PLR0913  what a memory lends its index
        self,
        store: Store,
        host: Host,
        *,
        key: bytes,
        clock: Callable[[], datetime],
        zone: Zone = UTC,
        name: str = LOCK,
        sizes: tuple[int, int, bool] = ChunkSizes(),
    ) -> None:
        self._store, self._host, self._clock, self._zone = store, host, clock, zone
        self._key, self._lock = key, name
        self._sizes = ChunkSizes(*sizes)
        self.words: Words = Words(host, zone, self._sizes)
        self._shelf = Shelf(store.root / PRIVATE / name, key)
        self._sync = Sync(store, self.words, self.split)
        self._base: Base | None = None
        self._nothing = Stored()
        self._why = ""
        self._searcher: tuple[object, Searcher] | None = None
        self.guard = threading.RLock()
        """Held while the engines are read: their files have one position for all threads."""
        self.on_write: Progress | None = None
        """Called, as `refresh` calls its progress, where a search writes many changes first."""
        self._mine = threading.local()

    def refresh(
        self, *, full: bool = False, progress: Progress | None = None, embed: bool = True
    ) -> IndexReport:
        """Bring the index on disk in step with the files.

        Args:
            full: build it anew instead of adding what changed.
            progress: called with how many of how many files are read.
            embed: whether a model may be asked for vectors.

        Raises:
            LockTimeoutError: another process is writing the index.
            ReadOnlyError: the folder takes no writes.
        """
        # In this order everywhere: two threads that took them the other way round would wait for
        # ever.
        with self.guard, self._store.lock(self._lock):
            self._open_current(ignore=full)
            self._sync.scan()
            start = self._index_builder.start(self._base, full=full)
            try:
                made = self._index_builder.run(start, progress, embed=embed)
            except OSError as error:
                # A full disk or a folder without rights; recall goes on from the files.
                raise ReadOnlyError(f"the index cannot be written: {error}") from error
            if made:
                self._open_current()
        manifest = self._base.generation.manifest if self._base else None
        return IndexReport(
            added=made.added if made else 0,
            removed=made.removed if made else 0,
            units=self._base_table.living(),
            files=self._base_table.count_files(),
            broken=tuple((row.path, row.why) for row in self._base_table.faults()),
            embedded=manifest.embedded if manifest and manifest.model else 0,
        )

    @property
    def file_count(self) -> int:
        """How many searchable files there were at the last look."""
        return len(self._sync.stats)

    def hint(self, paths: Iterable[str]) -> None:
        """Have these files looked at by the next search, as who saw them change may know."""
        with self.guard:
            self._sync.hint(paths)

    def trust(self, seconds: float) -> None:
        """Rely on hints: let so long pass until a search looks at all files again.

        Args:
            seconds: 0 for as long as it suits the memory, as before.
        """
        with self.guard:
            self._sync.trust(seconds)

    def scan_files(self) -> None:
        """Look at every file now, so that the next search need not."""
        with self.guard:
            self._sync.scan()
            self.searcher()

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Look at the folder but once until the end of the block, in this thread."""
        outer = getattr(self._mine, "view", None)
        self._mine.view = outer or self.searcher()
        try:
            yield
        finally:
            self._mine.view = outer

    def searcher(self) -> Searcher:
        """Return a view of the files as they are now.

        Many changes are written to disk first, where that is possible at once.
        """
        with self.guard:
            held = getattr(self._mine, "view", None)
            # Another thread may have opened another index, which closed the files of this one.
            if held is not None and self._searcher is not None and held is self._searcher[1]:
                return held
            self._scan_while_opening()
            differing = self._sync.survey(self._base_table)
            if len(differing) > FLUSH_UNITS and self._flush_changes():
                differing = self._sync.survey(self._base_table)
            found = self._sync.read(self._base_table, differing)
            # A few files may hold thousands of turns, which only reading them shows.
            if found.weight > FLUSH_UNITS and self._flush_changes():
                found = self._sync.compare_folder(self._base_table)
            return self._cached_view(found)

    def at(
        self, files: Files, earlier: Mapping[str, Served | None], hidden: frozenset[str]
    ) -> Searcher:
        """Return a view of earlier files.

        Args:
            files: the memory as it was.
            earlier: the files that were otherwise than they are; None for those not there.
            hidden: ids of turns and notes that are not shown.
        """
        with self.guard:
            self.searcher()
            found = lay_over(self._sync.last, earlier, hidden, self.words, self.split)
            parts = self._parts_of(found, found.overlay(), self._base)
            lane = self._base.lane if self._base else None
            view = PastSearcher(parts, self.words, files, self.split, lane=lane)
            view.hidden = hidden
            return view

    def status(self) -> IndexStatus:
        """Return how the index stands to the files."""
        with self.guard:
            self._open_current()
            differing = self._sync.survey(self._base_table)
            # To read so many takes minutes, and the next refresh tells what they hold.
            many = len(differing) > FLUSH_UNITS
            found = self._sync.read(self._base_table, () if many else differing)
            view = self._cached_view(found)
            return IndexStatus(
                generation=self._base.generation.name if self._base else "",
                units=int(view.alive.sum()),
                files=len(found.stats),
                pending=len(differing) if many else found.weight,
                model=self._base.generation.manifest.model if self._base else "",
                broken=tuple(self._broken_files(found)),
                why=self._why,
            )

    def verify(self) -> list[Finding]:
        """Compare the index on disk with the files, word by word."""
        with self.guard:
            self._open_current()
            found = self._sync.compare_folder(self._base_table)
            findings = [damaged(self._why, INDEX)] if self._why else []
            findings += [unreadable(path, why) for path, why in self._broken_files(found)]
            if self._base is not None:
                # Compared with an empty table, so that every file is read anew.
                whole = Sync(self._store, self.words, self.split).compare_folder(Stored())
                findings += compare(self._cached_view(found), self._view_of(whole))
            return findings

    @contextmanager
    def beside(self, progress: Progress | None = None) -> Iterator[Index]:
        """Yield an index built anew from the files alone; it is removed afterwards.

        The one in use stands as it is and goes on answering. No model is asked.

        Raises:
            LockTimeoutError: another process does the same.
            ReadOnlyError: the folder takes no writes.
        """
        other = Index(
            self._store,
            self._host,
            key=self._key,
            clock=self._clock,
            zone=self._zone,
            name=BESIDE,
            sizes=self._sizes,
        )
        with self._store.lock(BESIDE, timeout_seconds=0):
            other._shelf.drop()
            try:
                # A model would have to be asked for every unit again.
                other.refresh(full=True, progress=progress, embed=False)
                yield other
            finally:
                other.close()
                other._shelf.drop()

    def drop(self) -> None:
        """Remove the index from disk; the next search works without, the next refresh builds."""
        with self.guard:
            self._close_base()
            self._shelf.drop()
            # A purge drops the index: vectors of purged words must not outlive it.
            self._index_builder.embedder.cache.drop()

    def close(self) -> None:
        """Release the files of the index."""
        with self.guard:
            self._close_base()

    @property
    def looks(self) -> Stats:
        """How the searchable files looked at the last look."""
        return self._sync.stats

    def split(self, text: str) -> list[Chunk]:
        """Split a page into chunks the way this memory's plugins do."""
        return list(self._host.answer("split_note", text=text, sizes=self._sizes) or ())

    @property
    def _base_table(self) -> Stored:
        return self._base.table if self._base else self._nothing

    @cached_property
    def _index_builder(self) -> Build:
        from kimi_memory.index.build import build_of  # Recall seldom writes.

        return build_of(self._store, self._host, self._shelf, self._sync, self._key)

    def _flush_changes(self) -> bool:
        try:
            # Somebody who asks must not wait for another process: without the lock, it is read in
            # memory.
            with self._store.lock(self._lock, timeout_seconds=0):
                self._open_current()
                start = self._index_builder.start(self._base, full=False)
                self._index_builder.run(start, self.on_write, embed=False)
        except (LockTimeoutError, KimiMemoryError, OSError):
            # Somebody else builds, or cannot: the question is answered from the files.
            return False
        self._open_current()
        return True

    def _scan_while_opening(self) -> None:
        """Scan the folder while the index is checked: hashing leaves the interpreter free."""
        name = self._shelf.current_name()
        if self._is_open(name) or (not name and self._base is None):
            return
        from concurrent.futures import ThreadPoolExecutor  # Few processes come here.

        with ThreadPoolExecutor(max_workers=1) as beside:
            checked = beside.submit(self._shelf.open)
            self._sync.scan()
        self._replace_base(checked.result)

    def _open_current(self, *, ignore: bool = False) -> None:
        """Open the current generation if it is not open; a bad one counts as absent."""
        name = "" if ignore else self._shelf.current_name()
        if not self._is_open(name):
            self._replace_base(self._shelf.open if name else lambda: None)

    def _is_open(self, name: str) -> bool:
        return self._base is not None and self._base.generation.name == name

    def _replace_base(self, checked: Callable[[], Generation | None]) -> None:
        self._close_base()
        self._why = ""
        try:
            generation = checked()
            if generation is not None:
                self._base = open_base(generation, self._host, self.words.fingerprint)
                self.words.kept = generation.folder / SYNONYMS
        except IndexDamagedError as error:
            self._why = str(error)

    def _close_base(self) -> None:
        if self._base is not None:
            self._base.close()
        self._base = self._searcher = None

    def _cached_view(self, found: Difference) -> Searcher:
        mark = (self._base.generation.name if self._base else "", found.version)
        if self._searcher is None or self._searcher[0] != mark:
            self._searcher = (mark, self._view_of(found, self._base))
            self._base_table.release()
        return self._searcher[1]

    def _view_of(self, found: Difference, base: Base | None = None) -> Searcher:
        overlay = self._sync.overlay(found) if base is not None else found.overlay()
        parts = self._parts_of(found, overlay, base)
        notes = (self._why,) if self._why else ()
        lane = base.lane if base else None
        return Searcher(parts, self.words, self._store, self.split, lane=lane, notes=notes)

    def _parts_of(self, found: Difference, overlay: Overlay, base: Base | None) -> list[Part]:
        parts = [Part(Layout.from_table(overlay.table), overlay.postings, words=overlay.words)]
        if base is not None:
            parts.insert(0, Part(base.layout, base.postings, found.dead, base.keywords.words))
        return parts

    def _broken_files(self, found: Difference) -> Iterator[tuple[str, str]]:
        for row in self._base_table.faults():
            if row.path not in found.dead:
                yield row.path, row.why
        yield from ((path, read.why) for path, read in found.fresh.items() if read.why)
