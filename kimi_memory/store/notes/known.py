"""What is known of the user, their projects and the last sessions, as points of a brief."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from heapq import nsmallest
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from kimi_memory.domain.brief import MOST, Point, Section
from kimi_memory.domain.note import Card, Lang, Note, Origin
from kimi_memory.domain.pages import Digest, DigestLine, Part, Project
from kimi_memory.domain.session import SHARED
from kimi_memory.domain.tombstone import Tombstones
from kimi_memory.formats.card_form import Head
from kimi_memory.formats.page_lines import labelled, split_mark
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.basic.patterns import bare
from kimi_memory.nlp.dates.vocabulary import Zone, in_zone
from kimi_memory.nlp.rules import cues
from kimi_memory.nlp.rules.briefs import tells_brief
from kimi_memory.nlp.rules.changed_later import Changes, may_replace, replaces
from kimi_memory.nlp.rules.gist import ARROW, LEFT_OUT, gist_of
from kimi_memory.nlp.rules.lasting import is_lasting, is_passing, reports_trouble, worth_of
from kimi_memory.nlp.rules.odds import OF_LIFE, best_answer_odds, line_odds, odds_out_of_context
from kimi_memory.nlp.rules.salience import traits_of
from kimi_memory.nlp.rules.settled import leaves_open
from kimi_memory.nlp.rules.strip_code import headline
from kimi_memory.store.notes.notes import (
    AFTER_CARDS,
    OVER,
    Shelf,
    Speakers,
    card_rank,
    card_section,
    is_shown,
    last_digests,
    read_note,
    read_tombstones,
    several,
)

if TYPE_CHECKING:
    from kimi_memory.domain.job import Step

N = TypeVar("N", bound=Note)

RECENT = 5
"""So many of them are shown as the last days."""
_SECTIONS = {
    Part.ORDERED: Section.HOW,
    Part.DECIDED: Section.DECISIONS,
    Part.TOLD: Section.WHO,
    Part.OPEN: Section.OPEN,
}
_LEAST = {Section.WHO: 3.0, Section.LATELY: 0.4}
"""What tells less of somebody, or of a day, is left to its digest."""
LIKELY = {Section.WORK: -0.9, Section.DECISIONS: -1.5, Section.LATELY: 0.1}
"""Below these log odds that a reader keeps the words a line is left to its digest."""
_BY_ANSWER = (Section.WORK, Section.DECISIONS)
"""An errand and what was agreed to are weighed with what was said to them."""
KEPT = 2.0
"""What a log odd that a reader keeps the words adds to their rank."""
BEFORE_ALL = -1e10
"""What is being made has room before where it stands."""
_AFTER_ORDERS = 0.5
"""Orders of digests come after the cards of orders, before preferences."""


@dataclass(frozen=True, slots=True)
class Whose:
    """What may stand in a brief."""

    scopes: Collection[str] | None = (SHARED,)
    """Whose notes are shown; None for all."""
    project: str = ""
    """Only what is of this project or of none; empty for all."""
    now: datetime | None = None
    """What ended before this moment is left out."""
    ids: Collection[str] | None = None
    """Ids of the cards, projects and turns that may be shown; None for all."""

    def sees(self, note: Head | Digest) -> bool:
        """Whether a note is theirs, and of the project."""
        mine = self.scopes is None or note.scope in self.scopes
        mine = mine and (not self.project or note.project in ("", self.project))
        return mine and (self.ids is None or any(id in self.ids for id in _units_of(note)))

    def holds(self, head: Head) -> bool:
        """Whether a card has not ended yet."""
        ends = (end for end in (head.expires, head.valid_to) if end is not None)
        return self.now is None or all(end > self.now for end in ends)


class Candidates(NamedTuple):
    """The points to choose a brief from."""

    points: list[Point]
    beyond: int
    """So many cards come after the first of their section, which alone are among the points."""


@dataclass(frozen=True, slots=True)
class Known:
    """All that a brief is made of."""

    heads: tuple[Head, ...]
    projects: tuple[Project, ...] = ()
    digests: tuple[Digest, ...] = ()
    """Of the last sessions, newest first."""
    over: Mapping[tuple[str, int], tuple[str, ...]] = field(default_factory=dict)
    """Words that do not hold any more, by session and turn."""
    stones: Tombstones = field(default_factory=lambda: Tombstones(()))
    """What was forgotten on purpose."""
    speakers: Speakers | None = None
    """Who said what they rest on; None where that does not matter."""
    beyond: int = 0
    """So many cards that may be shown are not among the heads, as all of those come first."""

    @classmethod
    def from_shelf(
        cls, shelf: Shelf, *, heads: Iterable[Head] | None = None, steps: Sequence[Step] = ()
    ) -> Known:
        """Return what is known once some steps are done.

        Args:
            shelf: the notes as they are.
            heads: all cards as they will be; as they are if not given.
            steps: what is going to be.
        """
        new = {step.note.id: step.note for step in steps}
        cards = tuple(_yield_heads(shelf, new) if heads is None else heads)
        projects = tuple(p for p in _yield_live_notes(shelf, Project, new) if not p.finished)
        digests = tuple(last_digests(shelf, new))
        stones = read_tombstones(shelf.store)
        over = _outdated_words(shelf, new, digests)
        return cls(cards, projects, digests, over, stones, Speakers(shelf, new))

    def candidates(self, lang: Lang, zone: Zone, whose: Whose | None = None) -> Candidates:
        """Return all that could have room in a brief.

        Args:
            lang: the language of the words around them.
            zone: the zone of their days.
            whose: what may be shown; what is everybody's if not given.
        """
        whose = whose or Whose()
        heads = [h for h in self.heads if is_shown(h) and whose.sees(h) and whose.holds(h)]
        # To write the line of a card takes ten times as long as to see where it is ranked.
        first = _first_of_sections(heads)
        own = [digest for digest in self.digests if whose.sees(digest)]
        names = self.name_people((head for _, head in first), own)
        points = [_card_point(head, rank, zone, names.get(head.id, "")) for rank, head in first]
        points += self._page_points(lang, zone, whose, own, names)
        return Candidates(points, len(heads) - len(first) + self.beyond)

    def name_people(
        self, heads: Iterable[Head], digests: Iterable[Digest] = ()
    ) -> Mapping[str, str]:
        """Return whose words some notes are, by id; nothing where only one person speaks."""
        if self.speakers is None:
            return {}
        people = self.speakers
        said = (head for head in heads if head.trust is Origin.HUMAN)
        names = {head.id: people.of_card(head.id, head.scope) for head in said}
        names |= {digest.id: people.of_session(digest.session) for digest in digests}
        return names if several(names.values()) else {}

    def _page_points(
        self, lang: Lang, zone: Zone, whose: Whose, own: Sequence[Digest], names: Mapping[str, str]
    ) -> Iterator[Point]:
        """Yield the lines of projects and of the last sessions."""
        for project in self.projects:
            if whose.project in ("", project.name) and (
                whose.ids is None or project.id in whose.ids
            ):
                yield _project_point(project, lang)
        later = _Later((-age, line.text) for age, line in _yield_human_lines(own))
        for age, digest in enumerate(own):
            name = names.get(digest.id, "")
            yield from self._digest_points(digest, age, zone, later, name)

    def _digest_points(
        self, digest: Digest, age: int, zone: Zone, later: _Later, name: str
    ) -> Iterator[Point]:
        began = f"{in_zone(digest.at, zone):%Y-%m-%d}"
        for number, line in enumerate(digest.lines):
            section = _section_of(line)
            # What was open five sessions ago is done or forgotten more often than not.
            brief = tells_brief(line.text.partition(ARROW)[0])
            if section in (Section.LATELY, Section.OPEN) and age >= RECENT and not brief:
                continue
            # Who somebody is stands, whatever they change of their plans in the same breath.
            changed = not is_lasting(line.text) and later.changes(-age, line.text)
            passing = line.part is Part.ASKED and is_passing(line.text)
            # How a session ended is not what is left to do.
            left = leaves_open(line.text) or reports_trouble(line.text)
            passing = passing or (section is Section.OPEN and not left)
            if passing or changed or self._is_over(digest, line):
                continue
            # An errand is shown by its gist; its digest has the rest.
            words = gist_of(line.text) if line.last != line.first else line.text
            text = f"{line.who}: {words}" if line.who else words
            id = f"turn-{digest.id[-4:]}-{number}"  # short, as it costs room
            by = str(Origin.AGENT) if line.part is Part.FOUND else "" if line.who else name
            plain = labelled(text, (by, line.day or began), digest.lang)
            worth = worth_of(line.text)
            if line.part is not Part.FOUND and not brief and worth < _LEAST.get(section, worth):
                continue
            # An order counts however seldom it is repeated; a remark may be one of many.
            first = _AFTER_ORDERS if line.part is Part.ORDERED else AFTER_CARDS
            under = _heading_of(line) if section is Section.WHO else None
            if not brief and _is_unlikely(line, under or section):
                continue
            worth += KEPT * _odds_of(line, section)
            rank, place = (first, -worth, age), (first, age, number)
            if brief and line.part is not Part.ORDERED:
                section, under, rank = Section.PROJECTS, None, (BEFORE_ALL, -worth, age)
            person = "" if line.part is Part.FOUND else name
            shown = f"{plain} ^{id}"
            yield Point(section, id, text, shown, rank, plain, place, person, under)

    def _is_over(self, digest: Digest, line: DigestLine) -> bool:
        scopes = {"memory", f"session:{digest.session}", f"project:{digest.project}", digest.scope}
        if self.stones.hides(line.text, scopes - {""}):
            return True
        words = bare(line.text)
        turns = range(line.first, line.last + 1)
        told = [old for n in turns for old in self.over.get((digest.session, n), ())]
        # A long line says more than the one thing in it that changed.
        return any(words in old or (old in words and 2 * len(old) >= len(words)) for old in told)


class _Later:
    """What people said in later sessions, and which of it takes the place of a line.

    Args:
        said: the age of a session below zero, and a line of it, the oldest first.
    """

    def __init__(self, said: Iterable[tuple[int, str]]) -> None:
        known = list(said)
        self._alike = Changes(known)
        self._telling = [(age, text) for age, text in known if may_replace(text)]

    def changes(self, age: int, text: str) -> bool:
        """Whether a line of a later session changes what a line says.

        Two long lines about one project share words by chance: the change must be said in one
        sentence about one sentence.
        """
        if not self._alike.after(age, text):
            return False
        return any(since > age and replaces(text, other) for since, other in self._telling)


def _yield_human_lines(digests: Sequence[Digest]) -> Iterator[tuple[int, DigestLine]]:
    """Yield what people said, with the age of its session, the oldest first."""
    for age, digest in reversed(list(enumerate(digests))):
        yield from ((age, line) for line in digest.lines if line.part is not Part.FOUND)


def _units_of(note: Head | Digest) -> Iterator[str]:
    """Yield the ids of the units that a note is, or that a digest quotes."""
    yield note.id
    if isinstance(note, Digest):
        yield from (f"session:{note.session}#{line.first}" for line in note.lines)


def _section_of(line: DigestLine) -> Section:
    """Return where a line belongs; who comes with a request often says who they are."""
    if line.part is Part.ASKED and line.last != line.first:
        return Section.WORK
    if line.part in (Part.ASKED, Part.DECIDED) and is_lasting(line.text):
        return Section.WHO
    return _SECTIONS.get(line.part, Section.LATELY)


def _is_unlikely(line: DigestLine, section: Section) -> bool:
    """Whether a reader is not likely to keep a line of work, or of the last days."""
    # What an agent found by itself was weighed as an agent's words for its digest.
    if section not in LIKELY or line.who or _is_found(line):
        return False
    if section is Section.DECISIONS and ARROW not in line.text:
        return False  # What is decided in one sentence says so itself.
    of_life = OF_LIFE * traits_of(line.text.partition(ARROW)[0]).kin
    gained = of_life if section is Section.LATELY else 0.0
    return _odds_of(line, section) + gained < LIKELY[section]


def _is_found(line: DigestLine) -> bool:
    """Whether a line is what an agent says by itself."""
    return line.part is Part.FOUND and ARROW not in line.text


def _odds_of(line: DigestLine, section: Section) -> float:
    """Return the log odds that a reader keeps a line, by what came of it where that counts."""
    if _is_found(line):
        return best_answer_odds(_parts_of(line.text))
    wanted, _, answer = line.text.partition(ARROW)
    if section not in _BY_ANSWER or (section is Section.DECISIONS and not answer):
        return odds_out_of_context(wanted)
    return line_odds(wanted, _parts_of(answer))


def _parts_of(answer: str) -> list[str]:
    return [one for one in answer.split(LEFT_OUT) if one.strip()]


def _heading_of(line: DigestLine) -> Section:
    """Return where a line stands that has the room of who the user is: not all tell of them."""
    if cues.LESSON.search(line.text.lower()):
        return Section.LESSONS
    about = is_lasting(line.text) or traits_of(line.text).kin
    return Section.WHO if about else Section.LATELY


def _first_of_sections(heads: Iterable[Head]) -> list[tuple[tuple[float, ...], Head]]:
    """Return the ranks and cards of each section that come first; more never have room."""
    sections: dict[Section, list[tuple[tuple[float, ...], Head]]] = defaultdict(list)
    for head in heads:
        sections[card_section(head)].append((card_rank(head), head))
    ranked = (nsmallest(MOST, of, key=lambda one: (one[0], one[1].id)) for of in sections.values())
    return [one for first in ranked for one in first]


def _card_point(head: Head, rank: tuple[float, ...], zone: Zone, name: str) -> Point:
    """Return the line of a card, with the name of who said it where several people speak."""
    plain = labelled(head.text, head.labels(zone, name), head.lang)
    shown = f"{plain} ^{head.id}"
    return Point(card_section(head), head.id, head.text, shown, rank, plain, (), name)


_GOAL = ("目标", "goal")
_STATE = ("现状", "state")
_NEXT = ("下一步", "next")


def _project_point(project: Project, lang: Lang) -> Point:
    """Return the line of a project: its goal, where it stands, and what comes next."""
    side = lang is Lang.EN
    open_todos = [todo.text for todo in project.todos if not todo.done]
    stands = split_mark((*project.state[:1], *project.progress[-1:], "")[0])[0]
    parts = [
        f"{_GOAL[side]}: {project.goal}" if project.goal else "",
        f"{_STATE[side]}: {headline(stands)}" if stands else "",
        f"{_NEXT[side]}: {'; '.join(open_todos[:3])}" if open_todos else "",
    ]
    text = f"**{project.name}**: {' · '.join(part for part in parts if part)}".removesuffix(": ")
    rank = (-project.updated.timestamp(),)
    plain = labelled(text, (), lang)
    return Point(Section.PROJECTS, project.id, text, f"{plain} ^{project.id}", rank, plain)


def _yield_heads(shelf: Shelf, new: Mapping[str, Note]) -> Iterator[Head]:
    """Yield the heads of all cards as they will be."""
    for head in shelf.heads():
        if head.id not in new:
            yield head
    yield from (Head.of(note) for note in new.values() if isinstance(note, Card))


def _yield_live_notes(shelf: Shelf, kind: type[N], new: Mapping[str, Note]) -> Iterator[N]:
    known = (filed.note for filed in shelf.notes(kind.kind, lambda entry: entry.id not in new))
    for note in (*known, *new.values()):
        if isinstance(note, kind) and note.status not in OVER:
            yield note


def _outdated_words(
    shelf: Shelf, new: Mapping[str, Note], digests: Sequence[Digest]
) -> dict[tuple[str, int], tuple[str, ...]]:
    """Return the words of these sessions that cards rest on which do not hold any more."""
    sessions = {digest.session for digest in digests}
    found: dict[tuple[str, int], list[str]] = defaultdict(list)
    for card in _cards_over(shelf, new, sessions):
        for quote in card.quotes:
            found[quote.session, quote.n].append(bare(quote.text))
    return {turn: tuple(words) for turn, words in found.items()}


def _cards_over(shelf: Shelf, new: Mapping[str, Note], sessions: set[str]) -> Iterator[Card]:
    gone = [
        entry
        for entry in shelf.entries().values()
        if entry.kind == Card.kind and entry.status in OVER and entry.id not in new
    ]
    # Only what rests on one of these sessions can be meant.
    near = (e for e in gone if any(mark.split("#", 1)[0] in sessions for mark in e.quotes))
    for note in (*new.values(), *(read_note(shelf, entry.path) for entry in near)):
        if isinstance(note, Card) and note.status in OVER:
            yield note
