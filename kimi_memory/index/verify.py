"""Whether the index on disk says what the files say."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import merge
from itertools import groupby

from kimi_memory.domain.health import Finding, Severity
from kimi_memory.index.searcher import Searcher

SHOWN = 5
_REMEDY = "Run 'kimi-memory index --full'"


def damaged(why: str, folder: str) -> Finding:
    """Return what is to be said of an index that is not used."""
    return Finding("index", Severity.WARNING, why, _REMEDY, folder, fixable=True)


def unreadable(path: str, why: str) -> Finding:
    """Return what is to be said of a file that cannot be parsed."""
    return Finding("index", Severity.WARNING, why, "Mend the file", path)


def compare(view: Searcher, whole: Searcher) -> list[Finding]:
    """Compare a view through the index with one read anew from all files.

    Every unit must be in both, and every word must stand in the same units as often.
    """
    # Where units differ, so do their words: those would only repeat it.
    wrong = list(_compare_units(view, whole)) or list(_compare_words(view, whole))
    shown = [Finding("index", Severity.ERROR, why, _REMEDY, fixable=True) for why in wrong[:SHOWN]]
    if len(wrong) > SHOWN:
        more = f"{len(wrong) - SHOWN} more differences"
        shown.append(Finding("index", Severity.ERROR, more, _REMEDY, fixable=True))
    return shown


def _compare_units(view: Searcher, whole: Searcher) -> Iterator[str]:
    held, wanted = _living_ids(view), _living_ids(whole)
    for id in sorted(wanted - held):
        yield f"the index lacks {id}"
    for id in sorted(held - wanted):
        yield f"the index holds {id}, which no file does"


def _living_ids(searcher: Searcher) -> set[str]:
    ids = searcher.column("id")
    return {ids[row] for row in searcher.living()}


def _compare_words(view: Searcher, whole: Searcher) -> Iterator[str]:
    for word, _ in groupby(merge(view.vocabulary(), whole.vocabulary())):
        if _sorted_postings(view, word) != _sorted_postings(whole, word):
            yield f"the index is wrong about the word {word!r}"


def _sorted_postings(searcher: Searcher, word: str) -> list[tuple[str, float]]:
    ids, (rows, counts) = searcher.column("id"), searcher.postings(word)
    return sorted((ids[row], float(count)) for row, count in zip(rows, counts, strict=True))
