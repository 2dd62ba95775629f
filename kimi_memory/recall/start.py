"""The block at the start of a session: what its owner would say before the first question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from kimi_memory.domain.brief import Choice, Point
from kimi_memory.domain.note import Lang
from kimi_memory.domain.pages import STARTER_IDENTITY, STARTER_PAGES, Identity
from kimi_memory.domain.search_types import Context, Query
from kimi_memory.domain.session import SHARED
from kimi_memory.formats.page_lines import BRIEF_TITLES
from kimi_memory.index.files import CURRENT, INDEX, TABLE
from kimi_memory.nlp.basic.safe_text import fence
from kimi_memory.nlp.basic.sentences import estimate, sentences
from kimi_memory.recall.people_pages import people_lines
from kimi_memory.recall.request import Request
from kimi_memory.store.notes.known import Known, Whose
from kimi_memory.store.notes.notes import Shelf
from kimi_memory.store.store import Store

if TYPE_CHECKING:
    from kimi_memory.recall.engine import Recall

LARGE_BYTES = 2 << 20
"""From this size of the index's table on, some 5,000 cards, the index says which of them come
first; below it, the files do, and neither the index nor numpy is loaded."""
PEOPLE_SHARE = 0.2
"""The part of a budget that a page of a person may take, beside what the memory knows."""
_IDENTITY = 160
"""Most characters of each of its lines."""


class _Line(NamedTuple):
    """One line of the block."""

    id: str
    text: str


def build_start(
    store: Store, request: Request, now: datetime, recall: Callable[[], Recall]
) -> Context:
    """Return the block: identity, the person's own pages, then what is known.

    Args:
        store: the files.
        request: budget and nonce, project, and what may be shown to the caller.
        now: what ended before is left out.
        recall: searches the memory; asked where the caller may not see all, or much is known.
    """
    everything = Query(text="", within=request.within)
    ids = recall().ids(request.narrowed(everything)) if request.bound else None
    # What is everybody's stands in any block.
    scopes = None if request.within is None else (SHARED, *request.within)
    whose = Whose(scopes, request.project, now, ids)
    shelf: Shelf
    if _is_large(store):
        shelf = front = recall().front_shelf(store, whose)
        known = replace(Known.from_shelf(front), beyond=front.beyond)
        heading = _block_language(front.langs, known, whose)
    else:
        shelf = Shelf(store)
        known = Known.from_shelf(shelf)
        shelf.keep()  # The next process need not read the heads of all cards again.
        langs = Counter(head.lang for head in known.heads if whose.sees(head))
        heading = _block_language(langs, known, whose)
    points, beyond = known.candidates(heading, request.zone, whose)
    own = [*_yield_identity_lines(shelf, ids), *_yield_people_lines(shelf, request.budget, ids)]
    choice, room = Choice(points), request.budget
    # Choose, render, count, and try again with less: what headings cost depends on the choice.
    while room > 0:
        chosen = choice.within(room - sum(estimate(line.text) + 1 for line in own))
        built = _render_block(own, chosen, heading, request.nonce)
        cost = estimate(built)
        if cost <= request.budget:
            shown = (*(line.id for line in own), *(point.id for point in chosen))
            left = beyond + len(points) - len(chosen)
            return Context(built, cost, shown, left) if shown else Context("", 0, (), left)
        # Headings and the fence cost room as well.
        room -= cost - request.budget
        if room <= 0 and own:
            # Even the pages of people alone are too long: their last lines go, one by one.
            own, room = own[:-1], request.budget
    return Context("", 0, (), beyond + len(points) + len(own))


def _is_large(store: Store) -> bool:
    """Whether to open the index takes less than to know all cards by their files."""
    folder = store.root / INDEX
    try:
        name = (folder / CURRENT).read_text("ascii").strip()
        sizes = (one.stat().st_size for one in (folder / name / TABLE).iterdir())
        return sum(sizes) > LARGE_BYTES
    except (OSError, ValueError):
        return False  # There is none, or it goes just now.


def _block_language(cards: Mapping[Lang, int], known: Known, whose: Whose) -> Lang:
    """Return the language of most of what may be shown: each project is spoken of in its own."""
    langs = Counter(cards)
    langs.update(digest.lang for digest in known.digests if whose.sees(digest))
    return Lang.ZH if langs and langs[Lang.ZH] * 2 >= langs.total() else Lang.EN


def _render_block(own: list[_Line], points: list[Point], lang: Lang, nonce: str) -> str:
    parts = [line.text for line in own]
    for section, of in groupby(points, key=lambda point: point.heading):
        parts += [f"## {BRIEF_TITLES[section][lang is Lang.EN]}", *(point.plain for point in of)]
    return fence(parts, nonce) if parts else ""


def _yield_identity_lines(shelf: Shelf, ids: Collection[str] | None) -> Iterator[_Line]:
    """Yield who the agent is and what it is for, unless that is what every new memory says."""
    plain = {text for both in STARTER_IDENTITY.values() for text in both}
    for filed in shelf.notes(Identity.kind):
        if isinstance(filed.note, Identity) and (ids is None or filed.path in ids):
            for said in (filed.note.who, filed.note.mission):
                line = " ".join(said.split())
                if line and line not in plain:
                    yield _Line(filed.note.id, f"- {_first_sentences(line)}")


def _first_sentences(text: str) -> str:
    """Return as many whole sentences of a text as a line has room for."""
    end = 0
    for _, last in sentences(text):
        if last > _IDENTITY and end:
            break
        end = last
    return text[:end].strip()


def _yield_people_lines(shelf: Shelf, budget: int, ids: Collection[str] | None) -> Iterator[_Line]:
    """Yield what a person wrote on their own pages, without what the template said."""
    for path in STARTER_PAGES:
        if ids is None or path in ids:
            for line in people_lines(
                path, lambda path: shelf.store.served(path).usable, round(budget * PEOPLE_SHARE)
            ):
                yield _Line(line.id(path), line.text)
