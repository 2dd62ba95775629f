"""Browsing: every unit that passes some filters, in an order, page by page, with totals."""

from __future__ import annotations

import base64
import json
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from kimi_memory.domain.note import Status
from kimi_memory.domain.search_types import COLD_BELOW, Hit, Query, Unit
from kimi_memory.errors import UsageError
from kimi_memory.index.columns import Bools, Floats, Ints
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.recall.filters import allowed, on_clocks, redact_hits, restrict_to_caller

if TYPE_CHECKING:
    from kimi_memory.index.searcher import Searcher

HOT_FROM = 0.7
"""A card is listed as hot from this temperature on, which is that of its last introspection."""
BANDS = ("hot", "warm", "cold")
FACETS = ("kind", "type", "status", "project", "band")
"""Fields whose values are counted; those of one that filters are counted as if it did not."""
MOST = 1000
"""Most units on one page of a list."""
SORTS: Mapping[str, tuple[str, int]] = {
    "newest": ("at", -1),
    "oldest": ("at", 1),
    "key": ("key", 1),
    "confidence": ("confidence", -1),
    "importance": ("importance", -1),
    "warmth": ("temperature", -1),
}
"""The field of each order, and whether it ascends; equal ones stand newest first, by their last
change and then by when they began to hold, then by id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListQuery:
    """What a list should hold, and which page of it."""

    filters: Query = field(default_factory=lambda: Query(text=""))
    """Its filters alone count; its text, its limit and its weights do not."""
    bands: tuple[str, ...] = ()
    """Bands of temperature: hot, warm, cold; all if empty."""
    sort: str = "newest"
    """One of `SORTS`."""
    after: str = ""
    """The cursor of the page before, `Listing.next`; the first page if empty."""
    limit: int = 50
    facets: tuple[str, ...] = FACETS
    """Which fields are counted."""


@dataclass(frozen=True, slots=True)
class Listing:
    """One page of a list."""

    units: tuple[Unit, ...]
    total: int
    """How many there are on all pages."""
    facets: Mapping[str, Mapping[str, int]]
    """By field how many units have each value, the most frequent first."""
    next: str = ""
    """Cursor of the next page; empty on the last."""


def browse(searcher: Searcher, query: ListQuery, now: datetime) -> Listing:
    """Return one page of the units that pass the filters of a query.

    Args:
        searcher: a view of the memory; its guard is held by the caller.
        query: what, in which order, from where.
        now: the present moment; times are shown on its clocks.

    Raises:
        UsageError: the order, a band or the cursor is none, or the limit is out of range.
    """
    _check(query)
    view = restrict_to_caller(searcher, query.filters)
    rows = _matching(view, query)
    total = int(np.count_nonzero(rows))
    page, following = _cut_page(view, query, np.flatnonzero(rows))
    found = view.units(page)
    hits = [Hit(found[row], 0.0, "") for row in page if row in found]
    shown = (hit.unit for hit in redact_hits(view.files, hits, query.filters, now))
    units = tuple(on_clocks(unit, now.tzinfo) if now.tzinfo else unit for unit in shown)
    return Listing(units, total, _count_facets(view, query, rows), following)


def _check(query: ListQuery) -> None:
    if query.sort not in SORTS:
        raise UsageError(f"{query.sort!r} is no order. Use one of {', '.join(SORTS)}.")
    if unknown := set(query.bands) - set(BANDS):
        raise UsageError(f"{min(unknown)!r} is no band. Use one of {', '.join(BANDS)}.")
    if unknown := set(query.facets) - set(FACETS):
        raise UsageError(f"{min(unknown)!r} is not counted. Use of {', '.join(FACETS)}.")
    if not 0 < query.limit <= MOST:
        raise UsageError(f"A page has 1 to {MOST} units, not {query.limit}.")


def _matching(searcher: Searcher, query: ListQuery) -> Bools:
    found = allowed(searcher, query.filters)
    if query.bands:
        found = found & np.isin(_bands(searcher), [BANDS.index(band) for band in query.bands])
    return found


def _bands(searcher: Searcher) -> Ints:
    """Return the ordinal of each row's band."""
    warmth = searcher.once("warmth", lambda: searcher.column("temperature").numbers())
    return np.where(warmth >= HOT_FROM, 0, np.where(warmth >= COLD_BELOW, 1, 2))


def _count_facets(
    searcher: Searcher, query: ListQuery, rows: Bools
) -> Mapping[str, Mapping[str, int]]:
    found: dict[str, Mapping[str, int]] = {}
    for name in query.facets:
        if name == "band":
            among = _matching(searcher, replace(query, bands=())) if query.bands else rows
            counts = np.bincount(_bands(searcher)[among], minlength=len(BANDS)).tolist()
            found[name] = dict(zip(BANDS, counts, strict=True))
            continue
        # As if it did not filter: who looks at decisions wants to see how many rules there are,
        # and who looks at what holds, how much was replaced.
        none: Any = {"project": "", "status": tuple(Status)}.get(name, ())
        same = getattr(query.filters, name) == none
        wider = replace(query, filters=replace(query.filters, **{name: none}))
        found[name] = searcher.column(name).tally(rows if same else _matching(searcher, wider))
    return found


def _cut_page(searcher: Searcher, query: ListQuery, rows: Ints) -> tuple[list[int], str]:
    """Return the rows of a page in order, and the cursor of the next page."""
    name, direction = SORTS[query.sort]
    texts, values = _ranks(searcher, name) if name == "key" else ([], _numbers(searcher, name))
    ids, places = _ranks(searcher, "id")
    first, ages = values[rows] * direction, -_numbers(searcher, "at")[rows]
    begun = -_numbers(searcher, "valid_from")[rows]
    order = np.lexsort((places[rows], begun, ages, first))
    at = 0
    if query.after:
        value, age, begin, id = _read_cursor(query.after, text=name == "key")
        last = _place(texts, value) if name == "key" else float(value) * direction
        passed = np.where(ages != age, ages < age, begun < begin)
        passed = np.where(first != last, first < last, passed)
        tied = (first == last) & (ages == age) & (begun == begin)
        at = int(np.count_nonzero(np.where(tied, places[rows] <= _place(ids, id), passed)))
    page = rows[order[at : at + query.limit]].tolist()
    if not page or at + len(page) == len(rows):
        return page, ""
    end = page[-1]
    shown = searcher.column("key")[end] if name == "key" else values.item(end)
    age, begin = (-_numbers(searcher, moment).item(end) for moment in ("at", "valid_from"))
    return page, _write_cursor(shown, age, begin, searcher.column("id")[end])


def _numbers(searcher: Searcher, name: str) -> Floats:
    return searcher.once(
        f"numbers of {name}", lambda: np.nan_to_num(searcher.column(name).numbers())
    )


def _ranks(searcher: Searcher, name: str) -> tuple[list[str], Floats]:
    """Return the texts of a field ascending, and the rank of each row's text among them."""

    def rank() -> tuple[list[str], Floats]:
        held = searcher.column(name).all()
        known = set(held)
        texts = [*sorted(known - {""}), *(known & {""})]  # In the order of `_order`, sooner.
        places = {text: place for place, text in enumerate(texts)}
        return texts, np.asarray([places[text] for text in held], dtype=np.float64)

    return searcher.once(f"ranks of {name}", rank)


def _order(text: str) -> tuple[bool, str]:
    return not text, text  # What has none stands last.


def _place(texts: list[str], text: str) -> float:
    """Return the rank of a text; between its neighbours where it is there no more."""
    at = bisect_left(texts, _order(text), key=_order)
    return at if texts[at : at + 1] == [text] else at - 0.5


def _write_cursor(*parts: object) -> str:
    raw = json.dumps(parts, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _read_cursor(cursor: str, *, text: bool) -> tuple[Any, float, float, str]:
    try:
        raw = base64.urlsafe_b64decode(f"{cursor}{'=' * (-len(cursor) % 4)}")
        value, age, begin, id = json.loads(raw)
        if isinstance(value, str) == text and isinstance(id, str):
            return value if text else float(value), float(age), float(begin), id
    except (ValueError, TypeError, RecursionError):
        # A cursor that we did not make; the caller says so.
        pass
    raise UsageError("The cursor is none of this list. Begin at its first page.")
