"""The choice of a digest's lines: what weighs most, under a budget, and is worth its place."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kimi_memory.domain.pages import DigestLine, Part
from kimi_memory.nlp.basic.tokens import estimate
from kimi_memory.nlp.rules.gist import ARROW, join_answer
from kimi_memory.nlp.rules.line_worth import LEAST, line_worth
from kimi_memory.nlp.rules.reports import tells_discovery

ACCOUNT, PIECES = 110, 3
"""Most tokens of an agent's words in a line, and most of its sentences: more of them, far apart,
say nothing together."""
OPEN_END, ORDER_LINES = -1, -2
"""In place of the number of an exchange: what the agent leaves open at the end; orders from the
second down."""
LEAST_LINE = 3.0
"""So much a line is worth that orders, decides and leaves open nothing; below it few are."""
_FIRM = {Part.ORDERED, Part.DECIDED, Part.OPEN}


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
        sort: ``work`` with an agent, a ``chat`` with one, or talk of several ``people``.
        room: most tokens.
    """
    lines = _fill_lines(bits, sort, room)
    weak = {exchange for exchange, line in lines.items() if not _is_worth(line, sort)}
    # What gives up its place makes room for what had none.
    others = [bit for bit in bits if bit.exchange not in weak]
    kept = [line for line in _fill_lines(others, sort, room).values() if _is_worth(line, sort)]
    parts = list(Part)
    return sorted(kept, key=lambda line: (parts.index(line.part), line.first))


def _fill_lines(bits: list[Bit], sort: str, room: int) -> dict[int, DigestLine]:
    """Return the lines that have room, by their exchanges."""
    ranked = sorted(bits, key=lambda bit: -bit.worth)
    kept: dict[int, list[Bit]] = {}
    texts = set[str]()
    for bit in _rank_errands(ranked) if sort == "work" else ranked:
        line = kept.get(bit.exchange, [])
        # Joining two texts changes the estimate by three tokens at most (nlp/basic/tokens.py).
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
    return {at: _build_line(line) for at, line in kept.items() if _tells(line)}


def _is_worth(line: DigestLine, sort: str) -> bool:
    """Whether a reader is likely to keep a line; what outlasts the session is not given up."""
    at_work, answered = sort == "work", ARROW in line.text
    # A choice between the ways that an agent offered is short, and lasts; so does a cause.
    lasting = line.part is Part.ORDERED or (line.part is Part.DECIDED and (at_work or answered))
    lasting |= at_work and (line.part is Part.OPEN or tells_discovery(line.text))
    return lasting or line_worth(line.text, line.part, sort) >= LEAST[sort]


def _tells(bits: list[Bit]) -> bool:
    """Whether a line tells enough: a question that no answer stands beside tells nothing."""
    if bits[0].exchange == OPEN_END or any(bit.line and bit.line.part in _FIRM for bit in bits):
        return True
    return sum(bit.worth for bit in bits) >= LEAST_LINE


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
