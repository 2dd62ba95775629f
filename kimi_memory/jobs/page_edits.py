"""What a person's edits of page lines do to the cards that the lines show."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime

from kimi_memory.domain.ids import derived_id
from kimi_memory.domain.job import Op, Step
from kimi_memory.domain.note import LIVE, Card, CardType, Lang, Link, LinkRel, Note, Origin, Status
from kimi_memory.formats.page_lines import Line, shown, type_of
from kimi_memory.jobs.gates import TombstoneGate
from kimi_memory.jobs.manual_edits import Hand
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.basic.patterns import language_of, normalise
from kimi_memory.nlp.basic.safe_text import slug

_TITLE = 60


@dataclass(frozen=True, slots=True)
class Rules:
    """What edits are held against."""

    barred: TombstoneGate
    mask: Callable[[str], str]
    """Returns a text without secrets."""
    now: datetime


class Edits:
    """Applies edits one after the other; a card may be edited on several pages.

    Args:
        cards: every card there is.
        rules: what must not come in.
        hand: files what was written, so that cards can quote it.
    """

    def __init__(self, cards: Iterable[Card], rules: Rules, hand: Hand) -> None:
        self.cards = {card.id: card for card in cards}
        """The cards as they will be."""
        self.left_out: list[str] = []
        self._rules, self._hand = rules, hand
        self._steps: dict[str, Step] = {}

    @property
    def steps(self) -> tuple[Step, ...]:
        """What was decided, the last value of each card."""
        return tuple(self._steps.values())

    def live(self, id: str) -> Card | None:
        """Return a card that is held to be so or might be."""
        card = self.cards.get(id)
        return card if card is not None and card.status in LIVE else None

    def change(self, card: Card, line: Line, where: str, type: CardType | None = None) -> None:
        """Give a card what its line says now.

        Args:
            card: as it was shown.
            line: as it stands there.
            where: path of the page.
            type: what the card is by the heading that its line was moved under.
        """
        new = self.edited(card, line, where)
        if new is not None and self._check_allowed(new, line):
            moved = f", moved under {line.section!r}" if type else ""
            new = replace(new, type=type or card.type)
            self.put(Op.REFINE, new, f"a person edited its line in {where}{moved}")

    def edited(self, card: Card, line: Line, where: str) -> Card | None:
        """Return a card with the words of its edited line; None where nothing would change."""
        key, value = _parse_key_and_value(card, line)
        value = self._rules.mask(value)
        if not value:
            self.left_out.append(f"{card.id}: its line says nothing, so it stays as it is")
            return None
        now = self._rules.now
        # What a person wrote is certain, also where an agent said it before.
        sure = replace(
            card, confidence=1.0, trust=Origin.HUMAN, status=Status.ACTIVE, verified=now,
            updated=now,
        )  # fmt: skip
        at = f"{where}:{line.number}" if line.number else where
        if (key, value) == shown(card).key_and_value(card.key):
            given = float(line.confidence) if line.confidence else 1.0
            return replace(self._hand.proved(sure, card.value, at), confidence=given)
        if value == shown(card).key_and_value(card.key)[1]:
            return replace(self._hand.proved(sure, card.value, at), key=key)
        return replace(self._restate_card(sure, value, at), key=key)

    def rewrite(self, card: Card, value: str, where: str) -> None:
        """Give a card the value that somebody wrote into its own file.

        Args:
            card: as it stands there, but with its earlier value.
            value: what it says now.
            where: path and line.
        """
        now = self._rules.now
        sure = replace(card, confidence=1.0, trust=Origin.HUMAN, verified=now, updated=now)
        new = self._restate_card(sure, self._rules.mask(value), where)
        if self._check_allowed(new, Line(value)):
            self.put(Op.REFINE, new, f"a person edited {where}")

    def _restate_card(self, card: Card, value: str, at: str) -> Card:
        # A title that repeats the old value would contradict the new one.
        title = value[:_TITLE] if _is_title(card.title, card.value) else card.title
        new = self._hand.proved(card, value, at)
        return replace(new, title=title, valid_from=self._rules.now, valid_to=None)

    def dispute(self, card: Card, line: Line, where: str) -> None:
        """Keep what a card and its line say, where both were changed."""
        new = self.edited(card, line, where)
        if new is None or not self._check_allowed(new, line):
            return
        why = f"the card and its line in {where} were both changed"
        id = derived_id("card", self._rules.now, card.id, new.value)
        back = Link(card.id, LinkRel.CONTRADICTS, 1.0, why)
        other = replace(
            new, id=id, status=Status.CONFLICTED, created=self._rules.now,
            sources=new.sources[-1:], quotes=new.quotes[-1:], links=(back,), supersedes=(),
        )  # fmt: skip
        links = (*card.links, Link(id, LinkRel.CONTRADICTS, 1.0, why))
        old = replace(card, status=Status.CONFLICTED, links=links, updated=self._rules.now)
        self.put(Op.CONFLICT, old, why)
        self.put(Op.ADD, other, f"against {card.id}: {why}")
        self.left_out.append(f"{card.id}: {why}; both are kept, see 'kimi-memory conflicts'")

    def drop(self, card: Card, where: str) -> None:
        """Archive a card whose line was deleted; nothing bars it from being learned again."""
        old = replace(card, status=Status.ARCHIVED, updated=self._rules.now)
        self.put(Op.ARCHIVE, old, f"a person deleted its line in {where}")

    def add(self, line: Line, where: str, category: str) -> None:
        """Propose a card for a line that a person wrote."""
        gone = self.cards.get(line.id)
        if gone is not None and gone.status is Status.ARCHIVED:
            back = self.edited(gone, line, where)
            if back is not None and self._check_allowed(back, line):
                self.put(Op.REFINE, back, f"a person put its line back into {where}")
            return
        card = self.proposed(line, where, category)
        if card is not None and self._check_allowed(card, line):
            self.put(Op.ADD, card, f"a person wrote it into {where}")

    def proposed(self, line: Line, where: str, category: str) -> Card | None:
        """Return the candidate that a new line is; None where it is known or says nothing."""
        key, value = line.key_and_value()
        value = self._rules.mask(value)
        # Copied from another page, it is no new statement.
        if not value or self._is_known(key, value):
            return None
        now, title = self._rules.now, value[:_TITLE]
        card = Card(
            id=derived_id("card", now, where, key, value),
            created=now,
            updated=now,
            # It may be a remark to themselves: a person confirms it in `review`.
            status=Status.CANDIDATE,
            lang=Lang(language_of(value)),
            title=title,
            type=type_of(line.section) or CardType.FACT,
            key=key or f"note.{slug(title, limit=40)}",
            value=value,
            category=category,
            trust=Origin.HUMAN,
            verified=now,
            valid_from=now,
        )
        at = f"{where}:{line.number}" if line.number else where
        return self._hand.proved(card, value, at)

    def put(self, op: Op, card: Card, why: str) -> None:
        """Decide what becomes of a card."""
        self.cards[card.id] = card
        self._steps[card.id] = Step(op, card, why)

    def write(self, note: Note, why: str) -> None:
        """Write a page as it is to be."""
        self._steps[note.id] = Step(Op.REFINE, note, why)

    def propose(self, note: Note, why: str) -> None:
        """Leave something to review."""
        self._steps[note.id] = Step(Op.ADD, note, why)

    def _check_allowed(self, card: Card, line: Line) -> bool:
        barred = self._rules.barred.note(card)
        if barred:
            why = "it was forgotten on purpose (undo that job to allow it again)"
            self.left_out.append(f"{line.text[:_TITLE]}: {why}")
        return not barred

    def _is_known(self, key: str, value: str) -> bool:
        said = normalise(value)
        return any(
            not card.scope
            and card.status in LIVE
            and normalise(card.value) == said
            and key in ("", card.key)
            for card in self.cards.values()
        )


def says_same(card: Card, a: Line | None, b: Line | None) -> bool:
    """Whether two lines of a card say the same, whatever stands between key and value."""
    if a is None or b is None:
        return a is b
    return (a.key_and_value(card.key), a.confidence) == (b.key_and_value(card.key), b.confidence)


def _parse_key_and_value(card: Card, line: Line) -> tuple[str, str]:
    """Return the key and the value that a card is given by its line.

    What stands before a colon is a new key only where the rest is what the card says anyway.
    """
    named, value = line.named()
    if named and value == shown(card).text:
        return named, value
    return line.key_and_value(card.key)


def _is_title(title: str, value: str) -> bool:
    """Whether a title only repeats how a value begins."""
    return bool(title) and normalise(value).startswith(normalise(title).rstrip(".。…"))
