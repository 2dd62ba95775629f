"""A generation opened for reading: table, postings, vectors."""

from __future__ import annotations

from typing import NamedTuple

from kimi_memory.domain.engine import KeywordIndex
from kimi_memory.errors import IndexDamagedError, PluginError
from kimi_memory.hooks.host import Host
from kimi_memory.index.columns import Layout
from kimi_memory.index.files import TABLE
from kimi_memory.index.held import Cache, Postings
from kimi_memory.index.searcher import Lane, on_rows
from kimi_memory.index.stored import VECTORS, WORDS, Generation, Stored
from kimi_memory.store.files.disk import uncollected


class Base(NamedTuple):
    """The part of a memory that is on disk."""

    generation: Generation
    table: Stored
    layout: Layout
    postings: Postings
    keywords: KeywordIndex
    lane: Lane | None = None

    def close(self) -> None:
        """Release the files."""
        self.keywords.close()
        if self.lane is not None:
            self.lane.close()


def open_base(generation: Generation, host: Host, fingerprint: str) -> Base:
    """Open a checked generation.

    Raises:
        IndexDamagedError: it was made by other plugins, or its engine cannot open it.
    """
    manifest, folder = generation.manifest, generation.folder
    # Words of another splitter would never be met by those of a question.
    if manifest.words != fingerprint:
        raise IndexDamagedError(f"{generation.name} holds words of another kind.")
    try:
        keywords = host.answer("open_keywords", folder=folder / WORDS)
        if keywords is None or keywords.name != manifest.keywords:
            raise IndexDamagedError(f"{generation.name} was made by {manifest.keywords}.")
        # Thousands of values are made at once, none of which is garbage.
        with uncollected():
            table = Stored.open(folder / TABLE)
            layout = Layout.from_table(table)
        # By rows of the table: after updates the engine numbers them in another way.
        postings = Cache(on_rows(keywords, layout.keys))
        return Base(generation, table, layout, postings, keywords, _make_lane(generation, host))
    # A plugin that fails costs the index, not the answer: the files are still there.
    except (OSError, PluginError) as error:
        raise IndexDamagedError(f"{generation.name} cannot be opened: {error}") from error


def _make_lane(generation: Generation, host: Host) -> Lane | None:
    manifest = generation.manifest
    if not manifest.model:
        return None
    return Lane(
        # Opened at the first query that has a vector: most have none.
        lambda: host.answer(
            "open_vectors", folder=generation.folder / VECTORS, dimensions=manifest.dimensions
        ),
        manifest.model,
        manifest.vectors,
    )
