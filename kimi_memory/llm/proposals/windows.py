"""Windows: the parts in which a model is shown a session, and the lines they consist of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kimi_memory.domain.session import Transcript, Turn
from kimi_memory.llm.proposals.passage import is_heard
from kimi_memory.nlp.basic.tokens import estimate
from kimi_memory.nlp.rules import cues

WINDOW_TOKENS = 1400
"""So much of a conversation is shown at once: with prompt and digest less than 3,000 tokens,
as small local models read no more with care."""
WINDOWS = 20
"""Longer sessions are read in so many parts at most."""
TURN_TOKENS = 800
"""Of a longer turn the middle is left out."""


def cut_off(lines: Iterable[str], tokens: int) -> list[str]:
    """Return the first lines that fit into so many tokens."""
    kept = []
    for line in lines:
        tokens -= estimate(line)
        if tokens < 0:
            break
        kept.append(line)
    return kept


def windows(transcript: Transcript) -> Iterator[list[Turn]]:
    """Yield runs of the turns that people and their agent spoke, an answer with its offer."""
    window: list[Turn] = []
    room, number = WINDOW_TOKENS, 0
    for turn in filter(is_heard, transcript.turns):
        cost = estimate(line_of(turn))
        if window and cost > room:
            yield window
            number += 1
            if number >= WINDOWS:
                return
            # What was said last may be the offer that comes to be answered.
            last = window[-1:] if estimate(line_of(window[-1])) + cost <= WINDOW_TOKENS else []
            window, room = last, WINDOW_TOKENS - sum(estimate(line_of(one)) for one in last)
        window.append(turn)
        room -= cost
    if window:
        yield window


def line_of(turn: Turn) -> str:
    """Return a turn as it is shown: number, day, speaker and words, without secrets."""
    shown = "\n".join(
        "⟦…⟧" if cues.SECRET.search(cues.fold_case(line)) else line
        for line in turn.text.splitlines()
    )
    return f"#{turn.n} {turn.at:%Y-%m-%d} {turn.speaker or turn.role}: {_shorten_text(shown)}"


def _shorten_text(text: str) -> str:
    """Return a text, of a long one how it begins and ends: what was found comes last."""
    whole = estimate(text)
    if whole <= TURN_TOKENS:
        return text
    room = len(text) * TURN_TOKENS // whole
    return f"{text[: room // 2]} ⟦…⟧ {text[-room // 2 :]}"
