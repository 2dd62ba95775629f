"""A view of earlier files: what differs from the files now is laid over the index."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kimi_memory.index.searcher import Searcher
from kimi_memory.index.sync import Difference, Read
from kimi_memory.index.units import Split, Words, capped_units, guard
from kimi_memory.store.files.disk import UNKNOWN
from kimi_memory.store.reading import Served


class PastSearcher(Searcher):
    """A searcher over files that cannot change any more."""

    def moved(self, rows: Iterable[int]) -> frozenset[int]:
        """Return no file: what was, stays as it was."""
        return frozenset()


def lay_over(
    found: Difference,
    earlier: Mapping[str, Served | None],
    hidden: frozenset[str],
    words: Words,
    split: Split,
) -> Difference:
    """Return a difference of an index to earlier files.

    Args:
        found: how the files now differ from the index.
        earlier: the files that were otherwise; None for those that were not there.
        hidden: ids of turns and notes that are not shown.
        words: splits texts.
        split: splits pages.
    """
    fresh = {path: read for path, read in found.fresh.items() if path not in earlier}
    for path, one in earlier.items():
        if one is not None:
            units, fault = guard(path, one.content, split)
            units = [unit for unit in capped_units(units, one) if unit.id not in hidden]
            split_words = [words.of_unit(unit) for unit in units]
            fresh[path] = Read(UNKNOWN, "", units, split_words, str(fault) if fault else "")
    return Difference({}, fresh, found.dead | earlier.keys())
