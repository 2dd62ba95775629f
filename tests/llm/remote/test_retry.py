"""Retries, jitter, rest after failures and bounded concurrency, on a clock that is told."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import suppress

import pytest

from kimi_memory.errors import ModelError
from kimi_memory.llm.remote.retry import LONGEST_PAUSE_SECONDS, Limits, Patience

PLENTY = Limits()


class Server:
    """Fails as often as it is told, then answers."""

    def __init__(self, fails: int, *, passing: bool = True) -> None:
        self.fails, self.passing, self.calls = fails, passing, 0

    def __call__(self) -> str:
        self.calls += 1
        if self.calls <= self.fails:
            raise ModelError("busy.", passing=self.passing)
        return "well"


class Time:
    """A clock that only pauses move."""

    def __init__(self) -> None:
        self.now, self.pauses = 100.0, list[float]()

    def __call__(self) -> float:
        return self.now

    def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds


def patience(time: Time, limits: Limits = PLENTY, seed: int = 1) -> Patience:
    return Patience("server", limits, seed=seed, clock=time, pause=time.pause)


def test_a_passing_failure_is_tried_again_after_a_random_wait() -> None:
    time, server = Time(), Server(2)
    assert patience(time).call(server) == "well"
    assert server.calls == 3
    assert len(time.pauses) == 2
    assert 0 <= time.pauses[0] <= 0.5
    assert 0 <= time.pauses[1] <= 1.0


def test_the_same_seed_waits_the_same_and_no_wait_is_long() -> None:
    waits = []
    for seed in (7, 7, 8):
        time = Time()
        with pytest.raises(ModelError):
            patience(time, Limits(tries=12), seed).call(Server(99))
        waits.append(time.pauses)
    assert waits[0] == waits[1] != waits[2]
    assert len(waits[0]) == 11
    assert max(waits[0]) <= LONGEST_PAUSE_SECONDS


def test_what_will_not_pass_is_not_tried_again() -> None:
    time, server = Time(), Server(9, passing=False)
    with pytest.raises(ModelError, match="busy"):
        patience(time).call(server)
    assert server.calls == 1
    assert not time.pauses


def test_after_repeated_failures_the_server_is_left_alone_for_a_while() -> None:
    time, server = Time(), Server(4, passing=False)
    granted = patience(time, Limits(rest_after=3, rest_seconds=60))
    for _ in range(3):
        with pytest.raises(ModelError, match="busy"):
            granted.call(server)
    for _ in range(5):
        with pytest.raises(ModelError, match="left alone for 60 s"):
            granted.call(server)
    assert server.calls == 3
    time.now += 61
    with pytest.raises(ModelError, match="busy"):
        granted.call(server)
    with pytest.raises(ModelError, match="left alone"):
        granted.call(server)
    time.now += 61
    assert granted.call(server) == "well"
    assert granted.call(server) == "well"


def test_a_failing_server_is_told_of_once_until_it_answers_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    time = Time()
    granted = patience(time, Limits(tries=1, rest_after=9))
    with caplog.at_level(logging.WARNING, "kimi_memory.llm.remote"):
        for server in (Server(1), Server(1), Server(0), Server(1)):
            with suppress(ModelError):
                granted.call(server)
    assert [record.getMessage() for record in caplog.records] == [
        "busy. Rules and keywords go on.",
        "busy. Rules and keywords go on.",
    ]


def test_parts_are_asked_at_the_same_time_but_never_too_many() -> None:
    running, most, lock = 0, 0, threading.Lock()
    both = threading.Barrier(2, timeout=30)

    def act(part: int) -> int:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        both.wait()
        with lock:
            running -= 1
        return part * part

    assert Patience("server", Limits(at_once=2)).each(act, list(range(8))) == [
        n * n for n in range(8)
    ]
    assert most == 2


def failing(at: int) -> Callable[[int], int]:
    def act(part: int) -> int:
        if part == at:
            raise ModelError("no.")
        return part

    return act


@pytest.mark.parametrize("parts", [[3], [1, 2, 3, 4]])
def test_one_part_that_fails_fails_the_whole(parts: list[int]) -> None:
    with pytest.raises(ModelError, match=r"no\."):
        patience(Time()).each(failing(3), parts)


def test_no_parts_are_no_calls() -> None:
    assert patience(Time()).each(failing(0), []) == []


def test_calls_begin_no_faster_than_they_may() -> None:
    """Thirty a minute are two seconds apart, from however many threads, and tries count too."""
    lock, now, begun = threading.Lock(), [0.0], list[float]()

    def pause(seconds: float) -> None:
        with lock:
            now[0] = max(now[0], due[-1])

    due: list[float] = []
    limits = Limits(tries=1, at_once=4, per_minute=30)
    patience = Patience("s", limits, clock=lambda: now[0], pause=pause)

    def act(part: int) -> int:
        with lock:
            begun.append(now[0])
        return part

    for part in range(5):
        due.append(part * 2.0)
        assert patience.call(lambda part=part: act(part)) == part
    assert begun == [0.0, 2.0, 4.0, 6.0, 8.0]


def test_threads_share_one_pace() -> None:
    waits: list[float] = []
    limits = Limits(tries=1, at_once=8, per_minute=60)
    patience = Patience("s", limits, clock=lambda: 100.0, pause=waits.append)
    assert patience.each(lambda part: part, range(20)) == list(range(20))
    # The clock stands still: each call is told to wait a second longer than the one before.
    assert sorted(waits) == [float(n) for n in range(1, 20)]


def test_without_a_pace_nobody_waits() -> None:
    waits: list[float] = []
    patience = Patience("s", Limits(), pause=waits.append)
    patience.each(lambda part: part, range(20))
    assert waits == []
