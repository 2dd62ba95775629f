"""The choice of a digest's lines: what weighs most, under a budget, and is worth its place."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from heapq import nlargest
from math import exp, prod

from kimi_memory.domain.pages import DigestLine, Part
from kimi_memory.nlp.basic.sentences import estimate
from kimi_memory.nlp.rules.gist import join_answer

ACCOUNT, PIECES = 110, 3
"""Most tokens of an agent's words in a line, and most of its sentences: more of them, far apart,
say nothing together."""
OPEN_END, ORDER_LINES = -1, -2
"""In place of the number of an exchange: what the agent leaves open at the end; orders from the
second down."""
EVEN, STEP = 3.5, 2.5
"""The weight of words that half of the readers would keep, and of each further log odd."""
MADE = 1.2
"""What words gain that say what is being made, and for whom."""
LIKELY, LEFT_OPEN, ALONE = 0.6, 0.45, 0.4
"""At work a line stands if so many readers would keep some of it, or so many of what is left open
at the end, or of the only line of a session; else if its heaviest words …"""
LEAST_LINE, LEAST_DECISION = {"chat": 2.5, "people": 3.5, "scene": 6.0}, 3.0
"""… weigh so much, by the sort of session, or decide something and weigh so much."""


@dataclass(frozen=True, slots=True)
class Bit:
    """Words that may stand in the line of an exchange: a person's, or of an agent's account."""

    exchange: int
    worth: float
    text: str
    n: int
    line: DigestLine | None = None
    at: int = 0
    above: str = ""

    @property
    def is_account(self) -> bool:
        """Whether they are an agent's."""
        return self.line is None


def choose_lines(bits: list[Bit], sort: str, room: int) -> list[DigestLine]:
    """Return the lines of a digest in the order of their sections and turns.

    Args:
        bits: all words that may stand in one.
        sort: ``work`` with an agent, a ``chat`` with one, the ``scene`` of a game, or talk of
            several ``people``.
        room: most tokens.
    """
    told: dict[int, list[Bit]] = {}
    for bit in bits:
        told.setdefault(bit.exchange, []).append(bit)
    likely = [line for line in told.values() if _tells(line, sort)]
    alone = not likely and sort == "work"
    if alone:
        fair = (line for line in told.values() if _chance(line) >= ALONE)
        likely = nlargest(1, fair, key=_chance)
    # What tells too little takes no room from others.
    kept = _fill_lines([bit for line in likely for bit in line], sort, room)
    lines = [_build_line(line) for line in kept if alone or _tells(line, sort)]
    parts = list(Part)
    return sorted(lines, key=lambda line: (parts.index(line.part), line.first))


def _fill_lines(bits: list[Bit], sort: str, room: int) -> Iterable[list[Bit]]:
    """Return the words that have room, by their exchanges."""
    ranked = sorted(bits, key=lambda bit: -bit.worth)
    kept: dict[int, list[Bit]] = {}
    texts = set[str]()
    for bit in _rank_errands(ranked) if sort == "work" else ranked:
        line = kept.get(bit.exchange, [])
        # Joining two texts changes the estimate by three tokens at most (nlp/basic/sentences.py).
        cost = estimate(bit.text) + 3
        # A heading stands once above all that is below it, so it is paid for once.
        if bit.is_account and (bit.text in texts or any(_says_same(bit, one) for one in line)):
            continue
        if bit.above and all(bit.above != other.above for other in line):
            cost += estimate(bit.above) + 3
        if cost <= room and (not bit.is_account or _has_room(line, cost)):
            kept[bit.exchange] = [*line, bit]
            texts.add(bit.text)
            room -= cost
    return kept.values()


def _tells(bits: list[Bit], sort: str) -> bool:
    """Whether a reader is likely to keep something of a line; an order is always kept."""
    part = next((bit.line.part for bit in bits if bit.line), Part.FOUND)
    if part is Part.ORDERED:
        return True
    if sort == "work" and part is not Part.DECIDED:
        return _chance(bits) >= (LIKELY if bits[0].exchange != OPEN_END else LEFT_OPEN)
    least = LEAST_DECISION if part is Part.DECIDED and sort != "scene" else LEAST_LINE[sort]
    return max(bit.worth for bit in bits) >= least


def _chance(bits: list[Bit]) -> float:
    """Return how likely a reader keeps at least one of the words of a line."""
    accounts = nlargest(PIECES, (bit.worth for bit in bits if bit.is_account))
    shown = [*accounts, *(bit.worth for bit in bits if not bit.is_account)]
    return 1 - prod(1 / (1 + exp((worth - EVEN) / STEP)) for worth in shown)


def _rank_errands(bits: list[Bit]) -> list[Bit]:
    """Return words of work by their errands: half a line says little.

    An errand weighs what the person wanted and the heaviest thing that came of it. What
    somebody ordered or decided outlasts its errand, and has room before all of them.
    """
    worth, seen = dict[int, float](), set[tuple[int, bool]]()
    for bit in bits:
        if (bit.exchange, bit.is_account) not in seen:
            seen.add((bit.exchange, bit.is_account))
            worth[bit.exchange] = worth.get(bit.exchange, 0.0) + bit.worth
    lasting = {Part.ORDERED, Part.DECIDED}
    return sorted(
        bits,
        key=lambda bit: (
            bit.line is None or bit.line.part not in lasting,
            -worth[bit.exchange],
            -bit.worth,
        ),
    )


def _says_same(bit: Bit, other: Bit) -> bool:
    """Whether an agent's words stand in its line already: it says what it found twice."""
    said, known = bit.text.rstrip(".。 "), other.text.rstrip(".。 ")
    return said in f"{other.above} {known}" or known in said


def _has_room(line: list[Bit], cost: int) -> bool:
    """Whether a line has room for another sentence of the agent."""
    said = [estimate(bit.text) for bit in line if bit.is_account]
    return len(said) < PIECES and sum(said) + cost <= ACCOUNT


def _build_line(bits: list[Bit]) -> DigestLine:
    """Return the line of one exchange: what a person wanted, with what the agent did about it."""
    accounts = sorted((bit for bit in bits if bit.is_account), key=lambda bit: (bit.n, bit.at))
    answer = join_answer((bit.above, bit.text) for bit in accounts)
    asked = next((bit.line for bit in bits if bit.line), None)
    if asked is None or not accounts:
        part = Part.OPEN if bits[0].exchange == OPEN_END else Part.FOUND
        return asked or DigestLine(part, answer, accounts[0].n, accounts[-1].n)
    part = Part.FOUND if asked.part is Part.TOLD else asked.part
    text = f"{asked.text} → {answer}"
    return replace(asked, part=part, text=text, last=accounts[-1].n)
