"""How likely a reader keeps a line."""

from __future__ import annotations

from kimi_memory.nlp.rules.odds import line_odds

WANTED = "make the export write one file a day, the tax office wants it so"
CAUSE = "The root cause was the time zone: `export.py` cut days at UTC midnight instead of local."
ROUTINE = "Let me check the next file now."


def test_an_answer_that_tells_lifts_a_line() -> None:
    assert line_odds(WANTED, [ROUTINE, CAUSE]) == line_odds(WANTED, [CAUSE])
    assert line_odds(WANTED, [CAUSE]) > line_odds(WANTED, [ROUTINE])
    assert line_odds(WANTED, [CAUSE]) > line_odds(WANTED, [])


def test_what_was_wanted_counts() -> None:
    assert line_odds(WANTED, []) > line_odds("run it again", [])
