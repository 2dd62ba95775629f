"""Hits as lines of a block: each thing once, with whose word it is, and what became of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC
from math import prod
from typing import TYPE_CHECKING

from kimi_memory.domain.note import Role, Status
from kimi_memory.domain.search_types import Hit, Unit
from kimi_memory.formats.page_lines import split_mark
from kimi_memory.nlp.basic.sentences import snippet
from kimi_memory.nlp.dates.vocabulary import Zone, in_zone
from kimi_memory.nlp.rules.announcements import is_marker, only_announces, only_echoes
from kimi_memory.nlp.rules.chat_clauses import gives_standing_order
from kimi_memory.nlp.rules.utterance import is_nod
from kimi_memory.recall.evidence import NOTES, rests_on, successor
from kimi_memory.recall.render import Line, Section
from kimi_memory.recall.served import person_of

if TYPE_CHECKING:
    from kimi_memory.index.searcher import Searcher
    from kimi_memory.recall.request import Request

PRIORITY = {"short-term": 0, "mid-term": 1, "episodic": 2, "semantic": 3, "long-term": 4, "page": 3}
# A hit is recognised by a few lines; the whole is asked for by its path.
LINE_CHARS = 400
# At half: a statement leaves out the small talk of the turn that it was taken from.
RESTATED, ASKED = 0.5, 0.8
"""A turn of which notes beside it say such a share of words is not shown again, nor a question of
which the prompt itself does."""
LONGER = 1.5
"""A turn so many times as long as a prompt says more than the prompt."""
LEAST = 0.35
"""What is worth less than this share of the best line adds more words than sense."""
ORDERS = frozenset({"rule", "preference"})
"""Types of cards that tell an agent how to work."""
_DOUBTED = frozenset({"candidate", "stale", "conflicted"})
# It stands behind the line that it replaces, and both must fit.
_REPLACED_CHARS = 80


def lines_of_hits(searcher: Searcher, hits: Sequence[Hit], request: Request) -> Iterator[Line]:
    """Yield the lines of some hits; a note stands for the turns that it quotes.

    Args:
        searcher: the memory.
        hits: what was found.
        request: what it was found for, and by whom; what only asks the same is left out.
    """
    scores = {hit.unit.id: hit.score for hit in hits}
    alone = {hit.unit.id: hit.score / _share_of_others(hit) for hit in hits}
    quoting = defaultdict[str, list[Unit]](list)
    for hit in hits:
        for turn in rests_on(searcher, hit.unit):
            if turn in scores:
                scores[hit.unit.id] = max(scores[hit.unit.id], scores[turn])
                alone[hit.unit.id] = max(alone[hit.unit.id], alone[turn])
                quoting[turn].append(hit.unit)
    least = LEAST * max(alone.values(), default=0.0)
    for hit in hits:
        unit = hit.unit
        told = [note.text for note in quoting[unit.id]]
        if alone[unit.id] < least or _is_aside(hit):
            continue
        if not _is_said_again(searcher, unit, told, request.query):
            person = person_of(searcher, unit, request)
            line = line_of(unit, hit.snippet, request.zone, person)
            line = line._replace(value=scores[unit.id])
            yield with_successor(searcher, unit, line)


def _share_of_others(hit: Hit) -> float:
    """Return the factor of a score that tells of other lines, not of what a line says.

    A line is no weaker by itself because a better one of its sitting was chosen before, an
    assistant's not because a person's is preferred, and what was replaced says by what.
    """
    return prod(hit.parts.get(name, 1.0) for name in ("spread", "role", "replaced"))


def _is_aside(hit: Hit) -> bool:
    """Whether a turn is a nod, or an assistant's or a tool's that tells nothing of the question.

    Such turns stand beside what answers it: "Fine, I'll do that." A person may answer in other
    words.
    """
    unit = hit.unit
    if unit.kind != "turn":
        return False
    if unit.role in (Role.ASSISTANT, Role.TOOL):
        silent = only_announces(unit.text) or (unit.role == Role.TOOL and only_echoes(unit.text))
        return silent or not hit.parts.get("turn") or is_nod(unit.text)
    return is_nod(unit.text) or is_marker(unit.text)


def _is_said_again(searcher: Searcher, unit: Unit, notes: Iterable[str], prompt: str) -> bool:
    """Whether notes that are shown, or the prompt itself, say most of a turn."""
    if unit.kind != "turn":
        return False
    # The same question asked before answers nothing; a longer one may say why it is asked.
    asks = len(unit.text) <= LONGER * len(prompt) and unit.text.rstrip().endswith(("?", "？"))
    alike = prompt if asks else ""
    return _is_repeated_in(searcher, unit, " ".join(notes), RESTATED) or _is_repeated_in(
        searcher, unit, alike, ASKED
    )


def _is_repeated_in(searcher: Searcher, unit: Unit, known: str, share: float) -> bool:
    if not known:
        return False
    words = frozenset(searcher.words.split(unit.text))
    return len(words.intersection(searcher.words.split(known))) >= share * len(words)


def with_successor(searcher: Searcher, unit: Unit, line: Line) -> Line:
    """Return a line that says what holds instead, where it was replaced."""
    after = _successor_of(searcher, unit)
    if after is None:
        return line
    told = snippet(after, (), _REPLACED_CHARS)[0]
    label = f"replaced by: {' '.join(told.split())}" if after else "replaced"
    return line._replace(labels=(*line.labels, label))


def _successor_of(searcher: Searcher, unit: Unit) -> str | None:
    """Return what holds instead of a unit; an event fell with all the turns that it rests on."""
    after = successor(searcher, unit.id)
    if after is None and unit.kind == "event":
        found = [successor(searcher, turn) for turn in rests_on(searcher, unit)]
        known = [one for one in found if one is not None]
        if found and len(known) == len(found):
            return known[-1]
        # Its file says so, also where the index does not know by what.
        return "" if unit.status == Status.SUPERSEDED else None
    return after


def line_of(unit: Unit, text: str, zone: Zone = UTC, person: str = "") -> Line:
    """Return the line of a unit: who said it, what, where, when, how sure, until when.

    Args:
        unit: a hit.
        text: what is shown of it.
        zone: the zone of shown days.
        person: whose words it rests on, where several people speak.
    """
    said, who = in_one_line(text), unit.speaker or person or unit.role
    # The title of a card is most often the beginning of what it says.
    title = "" if unit.title.rstrip("… ").lower() in said.lower() else unit.title
    name = "".join(f"{one}: " for one in (who, title if unit.kind != "turn" else "") if one)
    # What is known of long ago may have been written today.
    when = unit.valid_from or unit.at
    return Line(
        id=unit.id,
        priority=PRIORITY[unit.tier],
        path=unit.path,
        said=f"{name}{said}",
        # A note is its whole file.
        first=0 if unit.kind in NOTES else unit.first,
        last=0 if unit.kind in NOTES else unit.last,
        labels=tuple(_yield_labels(unit, zone)),
        day=f"{in_zone(when, zone):%Y-%m-%d}" if when else "",
        section=_unit_section(unit),
    )


def _unit_section(unit: Unit) -> Section:
    if unit.type in ORDERS and unit.kind == "card":
        return Section.ORDERS
    if unit.kind != "turn":
        return Section.KNOWN
    return Section.ORDERS if is_said_order(unit) else Section.SAID


def is_said_order(unit: Unit) -> bool:
    """Whether a turn is a standing order that a person gave."""
    return unit.role == "user" and unit.trust == "human" and gives_standing_order(unit.text)


def _yield_labels(unit: Unit, zone: Zone) -> Iterator[str]:
    """Yield trust, how sure it is, doubt and end of validity."""
    yield unit.trust
    if unit.kind == "card":
        yield f"{unit.confidence:.2f}"
    if unit.status in _DOUBTED:
        yield unit.status
    if unit.valid_to is not None:
        yield f"until {in_zone(unit.valid_to, zone):%Y-%m-%d}"


def in_one_line(text: str) -> str:
    """Return a text in one line; headings are left out, as the title says them."""
    lines = [line.strip() for line in text.splitlines()]
    said = "\n".join(split_mark(line)[0] for line in lines if line and not line.startswith("#"))
    return " ".join(snippet(said or text, (), LINE_CHARS)[0].split())
