"""A brief: what one should know at the start, in sections, chosen under a budget of tokens."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from enum import StrEnum
from heapq import nsmallest
from typing import NamedTuple

from kimi_memory.domain.note import CardType
from kimi_memory.nlp.basic.patterns import bare, regex
from kimi_memory.nlp.basic.sentences import estimate


class Section(StrEnum):
    """The sections of a brief, in the order they are shown."""

    WHO = "who"
    """Who the user is."""
    HOW = "how"
    """Orders and preferences."""
    PROJECTS = "projects"
    DECISIONS = "decisions"
    WORK = "work"
    """What was asked of an agent at work, and what it did about it."""
    PEOPLE = "people"
    LESSONS = "lessons"
    OPEN = "open"
    """What is still to do."""
    ALSO = "also"
    LATELY = "lately"
    """The last sessions."""
    UNSURE = "unsure"
    """What waits for a person's word."""


# Shares and not ranks: a person with three hundred decisions still has orders and people on the
# page.
SHARES: dict[Section, float] = {
    Section.HOW: 0.21,
    Section.WHO: 0.22,
    Section.DECISIONS: 0.16,
    Section.WORK: 0.05,
    Section.PROJECTS: 0.15,
    Section.LATELY: 0.04,
    Section.PEOPLE: 0.05,
    Section.LESSONS: 0.09,
    Section.OPEN: 0.02,
    Section.UNSURE: 0.01,
    Section.ALSO: 0.0,
}
"""The part of the room that is kept for a section; what it does not need goes to the others."""

_SECTIONS = {
    CardType.RULE: Section.HOW,
    CardType.PREFERENCE: Section.HOW,
    CardType.DECISION: Section.DECISIONS,
    CardType.ENTITY: Section.PEOPLE,
    CardType.GOTCHA: Section.LESSONS,
    CardType.PATTERN: Section.LESSONS,
    CardType.TASK_STATE: Section.OPEN,
}
_OF_PEOPLE = frozenset({Section.WHO, Section.HOW, Section.PEOPLE})
MOST = 80
"""More points of a section than could ever have room are not looked at."""
_LEFT_OUT, _ARROW = "…", " → "
_LEAD = regex(r"^[^:：]{1,40}[:：](?!//)")
"""What announces a sentence, as "lesson learned:" does."""
_CLAUSE_ENDS = regex(r"[,，;；.。!！?？…]+")
SELF = "user."
"""Keys of what people tell of themselves begin so."""
NAME = "user.name"
"""The key of how somebody is called, which is said first."""


class Point(NamedTuple):
    """One line of a brief."""

    section: Section
    id: str
    text: str
    """What it says, in one line."""
    shown: str
    """The whole line, as it costs room."""
    rank: tuple[float, ...] = ()
    """Within its section the least has room first."""
    plain: str = ""
    """The line without its id, for a prompt."""
    place: tuple[float, ...] = ()
    """Within its section the least is shown first; as ranked if empty."""
    person: str = ""
    """Whose word it is, where several people speak."""
    under: Section | None = None
    """Where it stands, if not in the section whose room it takes."""

    @property
    def heading(self) -> Section:
        """The section it is shown in."""
        return self.under or self.section


def section_of(type: CardType, key: str) -> Section:
    """Return where a card belongs."""
    if type in (CardType.FACT, CardType.ENTITY) and key.startswith(SELF):
        return Section.WHO
    return _SECTIONS.get(type, Section.ALSO)


def rank_of(type: CardType, confidence: float, importance: float, at: float) -> tuple[float, ...]:
    """Return the place of a card in its section: orders, then weight, then the newest."""
    # Rounded to a tenth: of cards that weigh about the same the newest comes first.
    weight = round(confidence * (0.5 + importance), 1)
    return (type is not CardType.RULE, -weight, -at)


def choose(points: Iterable[Point], budget: int) -> list[Point]:
    """Return the points that fit, by section and rank, none of them said twice.

    Args:
        points: all there are.
        budget: most tokens of their lines.
    """
    return Choice(points).within(budget)


class Choice:
    """The points to choose from, each weighed once however often a budget is tried."""

    def __init__(self, points: Iterable[Point]) -> None:
        self._section_queues = {
            section: [(point, estimate(point.shown) + 1) for point in queue]
            for section, queue in _section_queues(points).items()
        }

    def within(self, budget: int) -> list[Point]:
        """Return the points that fit, by section and rank."""
        queues = {section: list(self._section_queues.get(section, ())) for section in SHARES}
        room = _Room(budget)
        # First each section its share, then all of them what is left, in the same order.
        for section, share in SHARES.items():
            # Room that a section does not need is given away in the second round only, when every
            # one has had its own.
            room.fill(queues[section], round(budget * share))
        for section in SHARES:
            room.fill(queues[section], budget)
        order = list(Section)
        return sorted(
            room.kept,
            key=lambda point: (
                *(order.index(point.heading), _person_of(point)),
                point.place or point.rank,
            ),
        )


def _person_of(point: Point) -> str:
    """Return what keeps together what one person tells of themselves and wants done."""
    return point.person if point.heading in _OF_PEOPLE else ""


def _section_queues(points: Iterable[Point]) -> dict[Section, list[Point]]:
    """Return the first points of each section in order, without those that repeat another."""
    sections: dict[Section, list[Point]] = defaultdict(list)
    for point in points:
        sections[point.section].append(point)
    first = [
        point
        for section in Section
        for point in nsmallest(MOST, sections[section], key=lambda point: (point.rank, point.id))
    ]
    found: dict[Section, list[Point]] = defaultdict(list)
    said, joined = list[str](), ""
    # Cards first: of a card and a line that say the same, the card is shown.
    for point in sorted(first, key=lambda point: not point.id.startswith("card-")):
        words = bare(point.text)
        # The line of a project repeats what stands elsewhere, and is not said by that.
        whole = point.section is Section.PROJECTS and not point.id.startswith("turn-")
        # There may be hundreds, so each is looked for in all others at once; of a line that leaves
        # out words, each part.
        parts = [bare(part) for part in point.text.split(_LEFT_OUT)]
        stands = all(part in joined for part in parts)
        stands = stands or _is_repeated(point, joined) or _is_mostly_said(words, said)
        if words and (whole or not stands):
            if not whole:
                said.append(words)
                joined = f"{joined}\0{words}"
            found[point.section].append(point)
    return found


def _is_repeated(point: Point, joined: str) -> bool:
    """Whether each clause of a line of a session, but what announces it, stands in other lines."""
    # A card is a statement of its own, whatever it shares with another.
    if point.id.startswith("card-"):
        return False
    # A card has the decision already; what came of it stands in its digest.
    wanted, arrow, _ = point.text.partition(_ARROW)
    if arrow and point.section is Section.DECISIONS and bare(wanted) in joined:
        return True
    clauses = _CLAUSE_ENDS.split(_LEAD.sub("", point.text))
    return all(bare(clause) in joined for clause in clauses)


def _is_mostly_said(words: str, said: Iterable[str]) -> bool:
    """Whether most of a line stands elsewhere: the rest of a long one may say more than that."""
    return 2 * sum(map(len, filter(words.__contains__, said))) >= len(words)


class _Room:
    """The lines that have room so far."""

    def __init__(self, budget: int) -> None:
        self.kept: list[Point] = []
        self._left = budget

    def fill(self, queue: list[tuple[Point, int]], most: int) -> None:
        """Take the first points of a queue, up to so many tokens."""
        for number, (point, cost) in enumerate(list(queue)):
            # Each section has its first line, however small its share.
            if cost <= self._left and (cost <= most or (most and not number)):
                queue.remove((point, cost))
                self.kept.append(point)
                self._left, most = self._left - cost, max(0, most - cost)
