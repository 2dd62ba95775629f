"""The clauses that a speaker says in their own words, and those beside one."""

from __future__ import annotations

import pytest

from kimi_memory.nlp.rules.own_clauses import own_clauses, widen
from kimi_memory.nlp.rules.utterance import Act

TEXT = "We moved to Basel in May. The rent is lower here. Always answer in German. Can you do that?"


def test_what_is_quoted_is_not_the_speakers() -> None:
    text = 'I like the plan. He wrote: "you must never call me before nine in the morning".'
    assert next(one.text for one in own_clauses(text)).startswith("I like the plan")
    assert all("never call me" not in one.text for one in own_clauses(text))


@pytest.mark.parametrize(
    ("limit", "acts", "words"),
    [
        (300, (Act.STATEMENT,), "We moved to Basel in May. The rent is lower here."),
        (300, (Act.STATEMENT, Act.ORDER), TEXT.removesuffix(" Can you do that?")),
        (30, (Act.STATEMENT, Act.ORDER), "The rent is lower here."),
        (300, (), "The rent is lower here."),
    ],
)
def test_a_clause_is_widened_by_its_neighbours(limit: int, acts, words: str) -> None:
    own = own_clauses(TEXT)
    at = next(n for n, one in enumerate(own) if "rent" in one.text)
    start, end = widen(own, at, at, limit, acts)
    assert TEXT[start:end].strip() == words
