"""What a job may ask, and what it remembers of it."""

from __future__ import annotations

import pytest

from kimi_memory.domain.prompt import Reply
from kimi_memory.llm.usage import MAX_CALLS, MAX_TOKENS, Meter, metered, running, unasked


def test_a_job_counts_what_is_asked_inside_it_alone() -> None:
    with metered() as outer:
        running().calls += 1
        with metered() as inner:
            running().calls += 5
        running().calls += 1
    running().calls += 9
    assert (outer.calls, inner.calls) == (2, 5)


def test_tokens_models_and_notes_are_kept_once() -> None:
    meter = Meter()
    for _ in range(2):
        meter.count(Reply(text="x", model="m", tokens_in=10, tokens_out=3))
        meter.used("m", "abc")
        meter.tell("去年")
    assert (meter.tokens_in, meter.tokens_out) == (20, 6)
    assert (meter.models, meter.prompts, meter.notes) == (["m"], ["abc"], ["去年"])


@pytest.mark.parametrize(
    ("meter", "spent"),
    [
        (Meter(), False),
        (Meter(calls=MAX_CALLS - 1), False),
        (Meter(calls=MAX_CALLS), True),
        (Meter(tokens_in=MAX_TOKENS - 1), False),
        (Meter(tokens_in=MAX_TOKENS - 1, tokens_out=1), True),
        (Meter(stopped=True), True),
    ],
)
def test_a_job_that_asked_enough_asks_no_more(meter: Meter, spent: bool) -> None:
    assert meter.spent is spent


def test_what_must_not_wait_asks_nothing() -> None:
    with metered() as job:
        with unasked():
            assert running().spent
        assert not running().spent
    assert not job.stopped
