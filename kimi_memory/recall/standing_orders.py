"""Standing orders: what a person wants done in every talk, or in those it applies to.

Most are cards. One that was only said counts as well: it is found by words that orders are
made of, and recognized by its form. An order of a project stands in blocks of that project,
one of a person in blocks for that person.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from kimi_memory.domain.note import Origin, Status
from kimi_memory.domain.search_types import Query, Unit
from kimi_memory.index.searcher import Ints, Searcher, once_a_view
from kimi_memory.nlp.basic.sentences import estimate
from kimi_memory.nlp.rules.chat_clauses import gives_standing_order
from kimi_memory.nlp.rules.occasions import calls_for, signs_of_order, signs_of_prompt, suits
from kimi_memory.recall.conversation import sides
from kimi_memory.recall.evidence import replaced, rests_on
from kimi_memory.recall.filters import allowed
from kimi_memory.recall.hit_lines import ORDERS, line_of
from kimi_memory.recall.render import Line, Section, alone
from kimi_memory.recall.served import person_of, served_by

if TYPE_CHECKING:
    from kimi_memory.recall.engine import Recall
    from kimi_memory.recall.request import Request

MOST = 6
"""So many orders stand in a block, whatever was found."""
READ = 40
"""So many of the latest cards are looked at, and …"""
READ_SAID = 100
"""… so many of the latest turns that hold a word of orders."""
SHARE = 0.25
"""The part of a budget that they may take."""
_RULE = "rule"
_TASTES = ORDERS - {_RULE}
_CUES = (
    *("always", "never", "now", "future", "whenever", "forward", "call"),
    *(
        "以后",
        "今后",
        "往后",
        "每次",
        "每当",
        "一律",
        "永远",
        "凡是",
        "别再",
        "都要",
        "都给",
        "都用",
    ),
    *("都别", "都写", "都按", "不用", "别叫", "叫我", "称呼"),
)


def standing_orders(recall: Recall, request: Request, *, called: bool = False) -> Iterator[Line]:
    """Yield the orders that apply to a prompt: those it calls for first, then the latest.

    Args:
        recall: finds them.
        request: the prompt, and the room for the block.
        called: only those that the prompt calls for.
    """
    words = frozenset(recall.words.split(request.query))
    # The signs are those of all orders: who sees only some of them may see older ones instead.
    is_owner = request.bound is None and request.within is None
    if called and is_owner and not _may_be_called(recall.searcher(), request.query, words):
        return
    # The same few orders are read for every prompt.
    split = recall.searcher().once("words of orders", lambda: lru_cache(1024)(recall.words.split))

    def is_called(unit: Unit) -> bool:
        # A taste by itself is no reason to speak up.
        return unit.type not in _TASTES and calls_for(unit.text, request.query, words, split)

    served = served_by(recall.searcher(), request)

    def applies(unit: Unit) -> bool:
        owned = served.owns(recall.searcher(), unit)
        by_call = called or owned is None
        return owned is not False and (
            is_called(unit) if by_call else suits(unit.text, words, split)
        )

    chosen = [one for one in _yield_orders(recall, request) if applies(one)]
    # A stable sort: within each group the latest stays first.
    chosen.sort(key=lambda unit: (not is_called(unit), unit.type != _RULE))
    room = SHARE * request.budget
    for place, unit in enumerate(chosen[:MOST]):
        person = person_of(recall.searcher(), unit, request)
        line = line_of(unit, unit.text, request.zone, person)
        line = line._replace(place=place, section=Section.ORDERS)
        # The first that does not fit ends it: a later one is less called for, however short it is.
        room -= estimate(alone(line))
        if room < 0:
            return
        yield line


def _may_be_called(searcher: Searcher, prompt: str, words: frozenset[str]) -> bool:
    """Whether any order of the memory shares with a prompt what `calls_for` asks for."""
    # Nearly all prompts that have nothing to do with a memory end here: to search its orders
    # would double their time.
    split = searcher.words.split
    held = searcher.once(
        "signs of orders",
        lambda: frozenset[str]().union(
            *(signs_of_order(text, split) for text in _yield_order_texts(searcher))
        ),
    )
    return not held.isdisjoint(signs_of_prompt(prompt, words))


def _yield_order_texts(searcher: Searcher) -> Iterator[str]:
    rules = np.flatnonzero(searcher.alive & searcher.column("type").among(frozenset({_RULE})))
    cued = _rows_with_cues(searcher)
    for row in (*rules.tolist(), *cued[-READ_SAID:].tolist()):
        text = searcher.text(row)
        if searcher.column("type")[row] == _RULE or gives_standing_order(text):
            yield text


def _yield_orders(recall: Recall, request: Request) -> Iterator[Unit]:
    """Yield all orders: rules, those that were only said, then preferences; the latest first."""
    searcher = recall.searcher()
    cards = list(_yield_order_cards(recall, searcher, request))
    quoted = {turn for card in cards for turn in rests_on(searcher, card)}
    said = [unit for unit in _find_spoken_orders(searcher, request) if unit.id not in quoted]
    yield from (card for card in cards if card.type == _RULE)
    yield from said
    yield from (card for card in cards if card.type != _RULE)


def _yield_order_cards(recall: Recall, searcher: Searcher, request: Request) -> Iterator[Unit]:
    any_order = searcher.once(
        "orders", lambda: bool((searcher.alive & searcher.column("type").among(ORDERS)).any())
    )
    if any_order:
        query = Query(
            text="", limit=READ, type=tuple(sorted(ORDERS)), kind=("card",),
            within=request.within, valid_at=request.valid_at,
        )  # fmt: skip
        hits = recall.search(request.narrowed(query)).hits
        yield from (hit.unit for hit in hits if hit.unit.status != Status.CANDIDATE)


def _find_spoken_orders(searcher: Searcher, request: Request) -> list[Unit]:
    """Return the turns in which a person gave an assistant an order for always."""
    cued = _rows_with_cues(searcher)
    if not len(cued):
        return []
    query = Query(text="", kind=("turn",), within=request.within, valid_at=request.valid_at)
    mask, gone = allowed(searcher, request.narrowed(query)), replaced(searcher).turns
    ordering = searcher.once("ordering rows", dict[int, bool])
    rows = []
    # Most hold such a word by chance: the state of their files need not be asked.
    for row in cued[mask[cued]][-READ_SAID:].tolist():
        if row not in ordering:
            ordering[row] = gives_standing_order(searcher.text(row))
        rows += [row] if ordering[row] else []
    units = sorted(searcher.units(rows).values(), key=lambda unit: (unit.at is None, unit.at))
    return [
        unit
        for unit in reversed(units)
        if unit.trust == Origin.HUMAN
        # An order that was replaced since is none any more.
        and unit.id not in gone
        and (not request.beside or unit.session != request.beside)
        and gives_standing_order(unit.text)
    ]


@once_a_view
def _rows_with_cues(searcher: Searcher) -> Ints:
    """Return the turns of a person that hold a word that orders are made of, the latest last."""
    held = np.zeros(len(searcher), dtype=bool)
    for word in searcher.words.split(" ".join(_CUES)):
        # Single characters of "以后" stand in every second sentence.
        if len(word) > 1:
            held[searcher.postings(word)[0]] = True
    rows, at = np.flatnonzero(held & sides(searcher)[0]), searcher.column("at")
    return np.asarray(sorted(rows.tolist(), key=lambda row: at[row] or 0.0), dtype=np.int64)
