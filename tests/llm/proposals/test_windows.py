"""What of a session a model is shown at once."""

from __future__ import annotations

from datetime import UTC, datetime

from kimi_memory.domain.note import Origin, Role
from kimi_memory.domain.session import Session, Transcript, Turn
from kimi_memory.llm.proposals.windows import WINDOW_TOKENS, WINDOWS, cut_off, line_of, windows
from kimi_memory.nlp.basic.tokens import estimate

START = datetime(2026, 5, 2, 9, 0, tzinfo=UTC)


def turn(n: int, text: str, role: Role = Role.USER) -> Turn:
    origin = {Role.USER: Origin.HUMAN, Role.TOOL: Origin.TOOL}.get(role, Origin.AGENT)
    return Turn(n, START, role, text, origin=origin)


def shown(*turns: Turn) -> list[list[int]]:
    return [[one.n for one in part] for part in windows(Transcript(Session("s", START), turns))]


def test_an_answer_stands_with_the_offer_before_it() -> None:
    long = "the shed is painted green " * 95
    parts = shown(
        *(turn(n, long) for n in (1, 2, 3)), turn(4, "A or B?", Role.ASSISTANT), turn(5, long)
    )
    assert parts == [[1, 2], [2, 3, 4], [4, 5]]


def test_tools_and_pastes_are_left_out_and_very_long_sessions_end() -> None:
    assert shown(turn(1, "hi"), turn(2, "x", Role.TOOL), turn(3, "y " * 2000)) == [[1]]
    assert shown() == []
    many = [turn(n, "雨" * 900, Role.ASSISTANT) for n in range(1, 90)]
    assert len(shown(*many)) == WINDOWS


def test_of_a_long_turn_both_ends_are_shown_and_no_secret() -> None:
    text = "First this.\nThe password is swordfish.\n" + "雨" * 4000 + "\nThe cause was a comma."
    line = line_of(turn(7, text, Role.ASSISTANT))
    assert line.startswith("#7 2026-05-02 assistant: First this.\n⟦…⟧")
    assert line.endswith("The cause was a comma.")
    assert "swordfish" not in line
    assert estimate(line) < WINDOW_TOKENS
    assert cut_off(["one two", "three four", "five, six, seven"], 5) == ["one two", "three four"]
