"""A new generation of the index, made from an old one and what changed since."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from kimi_memory.errors import PluginError
from kimi_memory.host import Host
from kimi_memory.index.base import Base
from kimi_memory.index.embed import Embedded, Embedder
from kimi_memory.index.generation import TABLE, VECTORS, WORDS, Shelf
from kimi_memory.index.manifest import Manifest
from kimi_memory.index.sync import Difference, Progress
from kimi_memory.index.table import FileRow, Table
from kimi_memory.index.words import Words


@dataclass(frozen=True, slots=True)
class Build:
    """Writes generations."""

    shelf: Shelf
    host: Host
    words: Words
    embedder: Embedder

    def run(
        self,
        base: Base | None,
        found: Difference,
        progress: Progress | None = None,
        *,
        embed: bool = True,
    ) -> bool:
        """Write and publish a generation; False when the current one is already right.

        Args:
            base: the current generation, None to start from nothing.
            found: what differs from it.
            progress: told how many of how many units are written.
            embed: whether a model may be asked, which can take long.

        Raises:
            OSError: the folder takes no writes; the current generation stands.
        """
        if base is not None and not (found.fresh or found.dead or (embed and self._lacks(base))):
            return False
        folder = self.shelf.start(base.generation if base else None)
        try:
            self._write(folder, (base, found), progress, embed=embed)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return True

    def _lacks(self, base: Base) -> bool:
        manifest = base.generation.manifest
        return self.embedder.lacks(manifest.model, manifest.embedded, base.table)

    def _write(
        self,
        folder: Path,
        change: tuple[Base | None, Difference],
        progress: Progress | None,
        *,
        embed: bool,
    ) -> None:
        base, found = change
        table = base.table.without(found.dead) if base else Table()
        first = table.next_key
        for path, read in found.fresh.items():
            file = FileRow(path, read.stat, read.digest, len(table), len(read.units), read.why)
            table.add(file, read.units, [len(words) for words in read.words])
        name = self._keywords(folder / WORDS, _told(found, first, progress), _gone(base, found))
        before = base.generation.manifest if base else Manifest("", "")
        made = self.embedder.run(folder / VECTORS, before, table, _gone(base, found), ask=embed)
        (folder / TABLE).write_bytes(table.dump())
        self.shelf.publish(
            folder, _manifest(self.words.fingerprint, name, made), base.generation if base else None
        )

    def _keywords(
        self, folder: Path, add: Iterator[tuple[int, Sequence[str]]], remove: Sequence[int]
    ) -> str:
        index = self.host.answer("open_keywords", folder=folder)
        if index is None:
            raise PluginError("No plugin offers a keyword index (open_keywords).")
        try:
            index.write(add, remove)
            return str(index.name)
        finally:
            index.close()


def _manifest(words: str, name: str, made: Embedded) -> Manifest:
    return Manifest(
        words=words,
        keywords=name,
        vectors=made.engine,
        model=made.model,
        dimensions=made.dimensions,
        embedded=made.upto,
    )


def _told(
    found: Difference, key: int, progress: Progress | None
) -> Iterator[tuple[int, Sequence[str]]]:
    """Yield the fresh units' words by key, telling how far we are."""
    every = [words for read in found.fresh.values() for words in read.words]
    for number, words in enumerate(every):
        yield key + number, words
        if progress is not None:
            progress(number + 1, len(every))


def _gone(base: Base | None, found: Difference) -> list[int]:
    if base is None:
        return []
    table = base.table
    files = [file for file in table.files if file.path in found.dead]
    return [key for file in files for key in table.keys[file.first : file.first + file.rows]]
