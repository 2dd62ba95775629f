"""A new generation of the index, made from an old one and what changed since."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import field
from pathlib import Path

from kimi_memory.errors import PluginError
from kimi_memory.hooks.host import Host
from kimi_memory.index.base import Base
from kimi_memory.index.cache import FOLDER as CACHE
from kimi_memory.index.cache import Cache
from kimi_memory.index.columns import FileRow
from kimi_memory.index.embed import Embedded, Embedder
from kimi_memory.index.files import TABLE
from kimi_memory.index.manifest import Manifest
from kimi_memory.index.stored import SYNONYMS, VECTORS, WORDS, Generation, Shelf, Stored
from kimi_memory.index.sync import Progress, Read, Sync
from kimi_memory.index.table import Table
from kimi_memory.index.units import Words
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.store.files.disk import give_back
from kimi_memory.store.files.paths import PRIVATE
from kimi_memory.store.store import Store

# An engine holds what it was given until it commits: this bounds the memory of a build.
BATCH_UNITS = 10_000
"""Units that are read before they are written; a build goes on from the last such step."""


@dataclass(slots=True)
class Built:
    """What a build did."""

    added: int = 0
    """Units written."""
    removed: int = 0
    """Files whose units were taken out."""


@dataclass(frozen=True, slots=True)
class Start:
    """What a build starts from: a generation and its table, or nothing."""

    generation: Generation | None = None
    table: Stored = field(default_factory=Stored)

    @property
    def manifest(self) -> Manifest:
        """What the generation was made of."""
        return self.generation.manifest if self.generation else Manifest("", "", scratch=True)


def build_of(store: Store, host: Host, shelf: Shelf, sync: Sync, key: bytes) -> Build:
    """Return what builds the index of a memory; `key` signs what a model answered."""
    cache = Cache(store.root / PRIVATE / CACHE, key)
    return Build(shelf, host, sync.words, Embedder(host, store, sync.split, cache), sync)


@dataclass(frozen=True, slots=True)
class Build:
    """Writes generations."""

    shelf: Shelf
    host: Host
    words: Words
    embedder: Embedder
    sync: Sync

    def start(self, base: Base | None, *, full: bool) -> Start:
        """Return what to start from: a build that was cut short before anything else.

        Args:
            base: what is in use.
            full: whether all is to be built anew.
        """
        found = self.shelf.unfinished(scratch=full)
        # Words of another splitter are of no use, however far that build came.
        if found is not None and found.manifest.words == self.words.fingerprint:
            return Start(found, Stored.open(found.folder / TABLE))
        # Asked for in full, nothing is taken over from an index that may be wrong.
        return Start() if full or base is None else Start(base.generation, base.table)

    def run(
        self, start: Start, progress: Progress | None = None, *, embed: bool = True
    ) -> Built | None:
        """Write and publish a generation; None when the one to start from is already right.

        Args:
            start: what to add to.
            progress: called with how many of how many files are read, which takes longest.
            embed: whether a model may be asked, which can take long.

        Raises:
            OSError: the folder takes no writes; the current generation stands.
        """
        paths = sorted(self.sync.survey(start.table))
        reads = self._read_batches(start.table, paths, progress)
        # Before a folder is made: mostly there is nothing to do.
        first = next(reads, None)
        had = start.manifest
        lacks = embed and self.embedder.lacks(had.model, had.embedded, start.table)
        finished = start.generation is not None and not had.partial
        if first is None and finished and not lacks:
            return None
        folder = self.shelf.start(start.generation)
        steps = _Steps(first, reads, len(paths))
        del first, paths  # Who holds them until the end needs room for them until the end.
        with ExitStack() as otherwise:
            # Whatever fails on the way: half a generation must not lie about.
            otherwise.callback(self.shelf.abandon, folder)
            made = self._write_generation(folder, start, steps, embed)
            otherwise.pop_all()
        return made

    def _read_batches(
        self, table: Stored, paths: Sequence[str], progress: Progress | None
    ) -> Iterator[dict[str, Read | None]]:
        """Yield files as they are read, so many at once as are written at once; gone ones None."""
        batch: dict[str, Read | None] = {}
        units = 0
        for number, path in enumerate(paths, 1):
            stat = self.sync.stats.get(path)
            found = None if stat is None else self.sync.load(path, stat, table)
            # None of a file that is there: only its time changed, and its rows stay.
            if found is not None or stat is None:
                batch[path] = found
                units += len(found.units) if found else 0
            if progress is not None:
                progress(number, len(paths))
            if units >= BATCH_UNITS:
                yield batch
                batch, units = {}, 0
        if batch:
            yield batch

    def _write_generation(self, folder: Path, start: Start, steps: _Steps, embed: bool) -> Built:
        made, table, last, name, removed = self._write_batches(folder, start, steps)
        # A memory without any text: the engine is asked for an index all the same.
        if not name:
            name = self._write_keywords(folder / WORDS, (), ())
            table.grow(folder / TABLE, Table(), ())
            table = Stored.open(folder / TABLE)
        if made.added >= BATCH_UNITS:
            self.sync.rest()
            give_back()
        done = self.embedder.run(folder / VECTORS, start.manifest, table, removed, ask=embed)
        # Before publishing: the manifest signs every file of the folder.
        self.words.keep_synonyms(folder / SYNONYMS)
        self.shelf.publish(folder, self._make_manifest(name, start, done), last)
        return made

    def _write_batches(
        self, folder: Path, start: Start, steps: _Steps
    ) -> tuple[Built, Stored, Generation | None, str, list[int]]:
        """Write words and table; return what was, what to go on from, and the keys that went."""
        made, table, last, name = Built(), start.table, start.generation, start.manifest.keywords
        removed: list[int] = []
        # Each step is signed as a checkpoint, so that a killed build of a large memory goes on
        # from there.
        for batch, more in steps:
            # A path is in one batch alone, so its earlier owner is where we started.
            gone = [path for path in batch if start.table.number(path) >= 0]
            keys = [key for path in gone for key in _file_keys(start.table, path)]
            fresh = _make_table(table.next_key, batch)
            words = (found for read in batch.values() if read is not None for found in read.words)
            name = self._write_keywords(folder / WORDS, zip(fresh.keys, words, strict=True), keys)
            table.grow(folder / TABLE, fresh, gone)
            table = Stored.open(folder / TABLE)
            made.added, made.removed = made.added + len(fresh), made.removed + len(gone)
            removed += keys
            if more:
                manifest = self._make_manifest(name, start, Embedded())
                last = self.shelf.checkpoint(folder, manifest, last)
        return made, table, last, name, removed

    def _make_manifest(self, name: str, start: Start, made: Embedded) -> Manifest:
        return Manifest(
            words=self.words.fingerprint,
            keywords=name,
            vectors=made.engine,
            model=made.model,
            dimensions=made.dimensions,
            embedded=made.upto,
            scratch=start.manifest.scratch and (not start.generation or start.manifest.partial),
        )

    def _write_keywords(
        self, folder: Path, add: Iterable[tuple[int, Sequence[str]]], remove: Sequence[int]
    ) -> str:
        index = self.host.answer("open_keywords", folder=folder)
        if index is None:
            raise PluginError("No plugin offers a keyword index (open_keywords).")
        try:
            index.write(add, remove)
            return str(index.name)
        finally:
            index.close()


class _Steps:
    """Batches of files, the next one read before the last is done with."""

    def __init__(
        self,
        first: dict[str, Read | None] | None,
        rest: Iterator[dict[str, Read | None]],
        files: int,
    ) -> None:
        self._next, self._rest = first, rest
        self._files, self._read = files, 0

    def __iter__(self) -> Iterator[tuple[dict[str, Read | None], bool]]:
        while self._next is not None:
            batch = self._next
            self._read += len(batch)
            yield batch, self._read < self._files
            self._next = next(self._rest, None)


def _make_table(next_key: int, batch: dict[str, Read | None]) -> Table:
    table = Table(next_key=next_key)
    for path, read in batch.items():
        if read is not None:
            file = FileRow(path, read.stat, read.digest, len(table), len(read.units), read.why)
            table.add(file, read.units, [len(words) for words in read.words])
    return table


def _file_keys(table: Stored, path: str) -> list[int]:
    file = table.file(path)
    return table.keys[file.first : file.first + file.rows]
