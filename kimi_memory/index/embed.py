"""Vectors of units, kept in step with the table as far as a model answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from kimi_memory.errors import KimiMemoryError
from kimi_memory.host import Host
from kimi_memory.index.files import Files
from kimi_memory.index.manifest import Manifest
from kimi_memory.index.table import FileRow, Table
from kimi_memory.index.units import Split, guard
from kimi_memory.model.engine import Embedding, VectorIndex
from kimi_memory.model.unit import Unit

BATCH = 32


@dataclass(frozen=True, slots=True)
class Embedded:
    """How far the rows of a table have vectors, and whose."""

    engine: str = ""
    model: str = ""
    dimensions: int = 0
    upto: int = 0
    """Rows of smaller keys have a vector."""


def passage(unit: Unit) -> str:
    """Return the text of a unit as a model should see it: day, speaker, title, words."""
    head = [f"{unit.at:%Y-%m-%d}" if unit.at else "", unit.speaker, unit.title]
    return "\n".join([*(" ".join(part for part in head if part),), unit.text]).strip()


@dataclass(frozen=True, slots=True)
class Embedder:
    """Asks the embedding model, where there is one, and fills the vector index."""

    host: Host
    files: Files
    split: Split

    def lacks(self, model: str, upto: int, table: Table) -> bool:
        """Whether a model answers now and rows of the table have no vector by it."""
        if not len(table):
            return False
        probe = self._embed(["memory"])
        return probe is not None and (probe.model != model or upto < table.next_key)

    def run(
        self, folder: Path, before: Manifest, table: Table, gone: Sequence[int], *, ask: bool
    ) -> Embedded:
        """Take out vectors that are gone and, if we may ask, add missing ones.

        A model that fails on the way leaves the rest for the next time.
        """
        probe = self._embed(["memory"]) if ask else None
        kept = before.model and (probe is None or probe.model == before.model)
        if not kept:
            for path in folder.iterdir():
                path.unlink()
        if probe is None and not kept:
            return Embedded()
        model = before.model if probe is None else probe.model
        dimensions = before.dimensions if probe is None else len(probe.vectors[0])
        index = self.host.answer("open_vectors", folder=folder, dimensions=dimensions)
        if index is None:
            return Embedded()
        start = before.embedded if kept else 0
        try:
            index.write((), gone if kept else ())
            upto = self._fill(index, model, table, start) if probe is not None else start
            return Embedded(index.name, model, dimensions, upto)
        finally:
            index.close()

    def _fill(self, index: VectorIndex, model: str, table: Table, start: int) -> int:
        """Add vectors of rows from key `start` on; return the key it came to."""
        upto, pairs = start, list(self._missing(table, start))
        for at in range(0, len(pairs), BATCH):
            batch = pairs[at : at + BATCH]
            found = self._embed([passage(unit) for _, unit in batch])
            if found is None or found.model != model or len(found.vectors) != len(batch):
                return upto
            keys = [key for key, _ in batch]
            index.write(zip(keys, found.vectors, strict=True), ())
            upto = keys[-1] + 1
        return table.next_key

    def _missing(self, table: Table, start: int) -> Iterator[tuple[int, Unit]]:
        for file in table.files:
            keys = table.keys[file.first : file.first + file.rows]
            if keys and keys[-1] >= start:
                yield from ((key, unit) for key, unit in self._read(file, keys) if key >= start)

    def _read(self, file: FileRow, keys: Sequence[int]) -> list[tuple[int, Unit]]:
        try:
            units, _ = guard(file.path, self.files.read(file.path), self.split)
        except (OSError, KimiMemoryError):
            return []
        return list(zip(keys, units, strict=False)) if len(units) == len(keys) else []

    def _embed(self, texts: list[str]) -> Embedding | None:
        found: Embedding | None = self.host.answer("embed_texts", texts=texts, purpose="note")
        return found
