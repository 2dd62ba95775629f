"""The circuit breaker: rests after repeated failures, says so, and tries again."""

from __future__ import annotations

import pytest

from kimi_memory import Memory
from kimi_memory.domain.job import Actor, JobReport, Plan
from kimi_memory.domain.note import Origin
from kimi_memory.errors import GateError, UsageError
from kimi_memory.jobs.circuit_breaker import Breaker
from kimi_memory.operations.doctor import fix
from kimi_memory.operations.memory_state import status
from kimi_memory.store.notes.notes import Shelf
from tests.conftest import Clock


def broken(shelf: Shelf) -> Plan:
    raise UsageError("the page cannot be read")


def run(memory: Memory, kind: str = "daily") -> JobReport:
    return memory.jobs.run(broken, Actor(f"job:{kind}", Origin.HUMAN, job=kind))


def fail(memory: Memory, times: int, kind: str = "daily") -> None:
    for _ in range(times):
        with pytest.raises(UsageError):
            run(memory, kind)


def test_a_periodic_job_rests_after_three_failures(memory: Memory) -> None:
    fail(memory, 3)
    with pytest.raises(GateError, match=r"'breaker'.*daily failed 3 times.*cannot be read"):
        run(memory)
    assert memory.consolidate("weekly") == []


def test_it_is_tried_again_after_a_day(memory: Memory, clock: Clock) -> None:
    fail(memory, 3)
    clock.move(hours=25)
    fail(memory, 1)
    with pytest.raises(GateError, match="breaker"):
        run(memory)


def test_a_success_in_between_starts_the_count_anew(memory: Memory) -> None:
    fail(memory, 2)
    memory.jobs.run(
        lambda shelf: Plan(kind="daily", subject="", inputs="none"),
        Actor("job:daily", Origin.HUMAN, job="daily"),
    )
    fail(memory, 2)
    [(line, rests)] = Breaker(memory.store, memory.settings.gates).failing(memory.clock())
    assert not rests
    assert line.startswith("daily failed 2 times in a row:")


def test_what_a_person_asks_for_is_always_tried(memory: Memory) -> None:
    fail(memory, 5, kind="remember")


def test_status_tells_and_doctor_lets_it_try_again(memory: Memory) -> None:
    fail(memory, 3)
    assert status(memory).failing == (
        "daily failed 3 times in a row, rests: the page cannot be read",
    )
    list(fix(memory, []))
    assert status(memory).failing == ()


def test_a_count_that_this_machine_did_not_write_stops_nothing(memory: Memory) -> None:
    fail(memory, 3)
    path = memory.root / ".kimi/breaker/daily.json"
    path.write_text(path.read_text("utf-8").replace('"count": 3', '"count": 9'), encoding="utf-8")
    assert status(memory).failing == ()
    fail(memory, 1)


def test_a_damaged_count_stops_nothing(memory: Memory) -> None:
    fail(memory, 3)
    (memory.root / ".kimi/breaker/daily.json").write_text("{", encoding="utf-8")
    fail(memory, 1)


def test_a_long_reason_is_cut_and_the_next_failure_counts_on(memory: Memory) -> None:
    breaker = Breaker(memory.store, memory.settings.gates)
    breaker.failed("daily", UsageError("x" * 1000), memory.now())
    breaker.failed("daily", UsageError("y" * 1000), memory.now())
    found = breaker.read_failures("daily")
    assert (found.kind, found.count, found.why) == ("daily", 2, "y" * 300)
    breaker.worked("daily")
    assert breaker.read_failures("daily").count == 0
