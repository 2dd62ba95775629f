"""What waits for a person: proposals and contradictions, and the answers to them."""

from __future__ import annotations

from collections.abc import Iterator

from kimi_memory.domain.job import JobReport
from kimi_memory.domain.operation_types import Waiting
from kimi_memory.errors import NotFoundError
from kimi_memory.jobs.pages import Dispute
from kimi_memory.jobs.resolve_conflict import Choice, Resolve, conflicts
from kimi_memory.nlp.dates.vocabulary import in_zone
from kimi_memory.operations.review_queue import Answer, answer, review
from kimi_memory.tui.desk import Desk
from kimi_memory.tui.rows import Cell, Page, Part, Row, one_line, show_diff


class Waits:
    """Proposals first, then contradictions."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._waiting: dict[str, Waiting] = {}
        self._disputes: dict[str, Dispute] = {}

    def page(self, words: str, after: str) -> Page:
        """Return all that waits."""
        memory, say = self._desk.memory, self._desk.say
        self._waiting = {one.id: one for one in review(memory)}
        self._disputes = {one.sides[0].id: one for one in conflicts(memory)}
        rows = [
            Row(id, (Cell("•", "yellow", 2), Cell(one_line(one.title or one.path))), "waiting")
            for id, one in self._waiting.items()
        ]
        for id, dispute in self._disputes.items():
            values = " ≠ ".join(one_line(side.value) for side in dispute.sides)
            name = dispute.key or say["conflict"]
            cells = (Cell("≠", "red", 2), Cell(f"{name}: {values}"))
            rows.append(Row(id, cells, "dispute"))
        return Page(tuple(rows), len(rows))

    def detail(self, row: Row) -> Iterator[Part]:
        """Yield what accepting would do, or the sides of a contradiction."""
        if row.id in self._waiting:
            return self._show_waiting(self._waiting[row.id])
        return self._show_dispute(self._find_dispute(row.id))

    def text_of(self, row: Row) -> str:
        """Return the words that an editor begins with."""
        if row.id in self._waiting:
            return self._waiting[row.id].text
        return self._find_dispute(row.id).sides[-1].value

    def answer(self, row: Row, *, accept: bool, text: str = "") -> JobReport:
        """Accept or reject what waits, as it was shown."""
        return answer(
            self._desk.memory, row.id, Answer(accept, text, shown=self._waiting[row.id].fingerprint)
        )

    def settle(
        self, row: Row, side: int = 0, *, value: str = "", both: bool = False, dry_run: bool = False
    ) -> JobReport:
        """Settle a contradiction, or show what that would do."""
        sides = self._find_dispute(row.id).sides
        if side > len(sides):
            raise NotFoundError("side", str(side))
        choice = Choice(keep=sides[side - 1].id if side else "", value=value, both=both)
        memory = self._desk.memory
        return memory.run(Resolve(memory, row.id, choice), dry_run=dry_run)

    def _find_dispute(self, id: str) -> Dispute:
        if id not in self._disputes:
            raise NotFoundError("thing that waits", id)
        return self._disputes[id]

    def _show_waiting(self, one: Waiting) -> Iterator[Part]:
        say = self._desk.say
        yield one.title or one.path, "bold"
        section = say.get(one.section, one.section)
        yield f"{say['to']} {one.target}{f' ({section})' if section else ''}", "dim"
        if one.reason:
            yield f"{say['because']} {self._desk.tell(one.reason)}", "dim"
        for said in one.evidence:
            yield f"✓ {said.speaker}  {said.session} #{said.n}", "green"
            yield f"  {one_line(said.text)}", ""
        yield "", ""
        if one.problem:
            yield say["problem"].format(why=self._desk.tell(one.problem)), "yellow"
        yield from show_diff(one.diff, say)

    def _show_dispute(self, one: Dispute) -> Iterator[Part]:
        say, zone = self._desk.say, self._desk.memory.zone
        yield one.key, "bold"
        for number, card in enumerate(one.sides, 1):
            since = in_zone(card.valid_from or card.created, zone)
            yield "", ""
            yield f"[{number}] {one_line(card.value)}", "bold"
            day = say["since"].format(day=f"{since:%Y-%m-%d}")
            yield f"{card.confidence:.2f}  {say[card.trust]}  {day}", "dim"
            for quote in card.own_quotes:
                yield f"  “{one_line(quote.text)}”  {quote.session} #{quote.n}", ""
        yield "", ""
        keys = [say["side"].format(number=n) for n in range(1, len(one.sides) + 1)]
        both, neither = say["key_both"], say["key_neither"]
        yield " · ".join([*keys, f"b {both}", f"v {neither}"]), "cyan"
