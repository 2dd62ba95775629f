"""Vectors of units, kept in step with the table as far as a model answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from kimi_memory.domain.engine import Embedding, VectorIndex
from kimi_memory.domain.search_types import COLD_BELOW, Unit
from kimi_memory.errors import KimiMemoryError
from kimi_memory.hooks.host import Host
from kimi_memory.index.cache import Cache, Kept
from kimi_memory.index.files import Files
from kimi_memory.index.manifest import Manifest
from kimi_memory.index.stored import Stored
from kimi_memory.index.units import Split, passage, served_units
from kimi_memory.lazy_dataclass import dataclass

BATCH = 256
"""Units between two writes; what a model is sent at once, its plugin decides."""


@dataclass(frozen=True, slots=True)
class Embedded:
    """How far the rows of a table have vectors, and whose."""

    engine: str = ""
    model: str = ""
    dimensions: int = 0
    upto: int = 0
    """Rows of smaller keys have a vector."""


@dataclass(frozen=True, slots=True)
class Embedder:
    """Asks the embedding model, where there is one, and fills the vector index."""

    host: Host
    files: Files
    split: Split
    cache: Cache

    def lacks(self, model: str, upto: int, table: Stored) -> bool:
        """Whether a model answers now and rows of the table have no vector by it."""
        if not len(table):
            return False
        probe = self._embed_texts(["memory"])
        return probe is not None and (probe.model != model or upto < table.next_key)

    def run(
        self, folder: Path, before: Manifest, table: Stored, gone: Sequence[int], *, ask: bool
    ) -> Embedded:
        """Take out vectors that are gone and, if we may ask, add missing ones.

        A model that fails on the way leaves the rest for the next time.
        """
        # One word tells which model answers, and how long its vectors are.
        probe = self._embed_texts(["memory"]) if ask else None
        kept = before.model and (probe is None or probe.model == before.model)
        # Vectors of another model are worth nothing beside the new ones.
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
            made_by = (model, dimensions)
            upto = self._add_vectors(index, made_by, table, start) if probe is not None else start
            return Embedded(index.name, model, dimensions, upto)
        finally:
            index.close()

    def _add_vectors(
        self, index: VectorIndex, made_by: tuple[str, int], table: Stored, start: int
    ) -> int:
        """Add vectors of rows from key `start` on; return the key it came to."""
        upto, pairs, kept = start, self._find_missing_units(table, start), None
        while batch := list(islice(pairs, BATCH)):
            kept = kept or self.cache.open(*made_by)
            rows = self._get_vectors([passage(unit) for _, unit in batch], made_by, kept)
            if rows is None:
                return upto
            keys = [key for key, _ in batch]
            index.write(zip(keys, rows, strict=True), ())
            # So far a later run need not ask again, even where the model fails at the next batch.
            upto = keys[-1] + 1
            # Otherwise all of the mapped table would be in memory at the end.
            table.release()
        return table.next_key

    def _get_vectors(
        self, texts: list[str], made_by: tuple[str, int], kept: Kept
    ) -> list[Sequence[float]] | None:
        """Return the vectors of texts, known ones without asking; None when the model fails."""
        known: dict[str, Sequence[float]] = dict(kept.get(texts))
        new = [text for text in dict.fromkeys(texts) if text not in known]
        found = self._embed_texts(new) if new else Embedding(made_by[0], ())
        # A server may load another model between two calls; vectors of two models cannot be
        # compared.
        if found is None or found.model != made_by[0] or len(found.vectors) != len(new):
            return None
        # The engine is made for one length.
        if any(len(row) != made_by[1] for row in found.vectors):
            return None
        fresh = dict(zip(new, found.vectors, strict=True))
        kept.put(fresh)
        known |= fresh
        return [known[text] for text in texts]

    def _find_missing_units(self, table: Stored, start: int) -> Iterator[tuple[int, Unit]]:
        places = table.places()
        for path, first, rows in table.spans():
            keys = places[first : first + rows].tolist()
            if keys and keys[-1] >= start:
                for key, unit in self._read_units(path, keys):
                    # A cold card has not been said or used for long; words still find it.
                    if key >= start and unit.temperature >= COLD_BELOW:
                        yield key, unit

    def _read_units(self, path: str, keys: Sequence[int]) -> list[tuple[int, Unit]]:
        try:
            units, _ = served_units(path, self.files.served(path), self.split)
        except (OSError, KimiMemoryError):
            return []
        # The file has changed since: it gets new rows, and vectors with them.
        return list(zip(keys, units, strict=False)) if len(units) == len(keys) else []

    def _embed_texts(self, texts: list[str]) -> Embedding | None:
        found: Embedding | None = self.host.answer("embed_texts", texts=texts, purpose="note")
        return found
