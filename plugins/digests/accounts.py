"""What an agent at work says it found and did: the words of its answers, and what each is worth."""

from __future__ import annotations

from collections.abc import Iterator

from kimi_memory.domain.note import Origin, Role
from kimi_memory.domain.session import Turn
from kimi_memory.nlp.rules.announcements import is_under_way
from kimi_memory.nlp.rules.briefs import tells_brief
from kimi_memory.nlp.rules.gist import close_arrows
from kimi_memory.nlp.rules.odds import ANSWERS
from kimi_memory.nlp.rules.reports import reports_in

from .choice import EVEN, MADE, OPEN_END, STEP, Bit

CLOSING, LATER = 0.8, 0.15
"""What the closing message of an exchange adds to a report, and its place takes off."""
LEFT = 1.6
"""What gains a line that is left to do when a session ends."""

UNLIKELY = -1.2
"""Below these log odds a sentence of an agent is left out."""


def yield_account_bits(exchange: int, answers: list[Turn], last: Turn) -> Iterator[Bit]:
    """Yield what the agent says it found and did in one exchange, and what it leaves open."""
    for turn in answers:
        if turn.role is not Role.ASSISTANT or turn.origin is Origin.REMOTE:
            continue
        for at, report in enumerate(reports_in(turn.text)):
            odds = ANSWERS.odds_of(report.text, report.worth) + MADE * tells_brief(report.text)
            if odds < UNLIKELY or is_under_way(report.text):
                continue
            worth = EVEN + STEP * odds + CLOSING * (turn is answers[-1]) - LATER * min(at, 6)
            # What is to do next is out of date with the next message, but for the last one.
            is_open = report.to_do and turn is last
            worth += LEFT * is_open
            line = OPEN_END if is_open else exchange
            text, above = close_arrows(report.text), close_arrows(report.above)
            yield Bit(line, worth, text, turn.n, at=at, above=above)
