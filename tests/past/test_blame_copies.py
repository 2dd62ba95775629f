"""Since when each copy has what a line says, and what the others said instead."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from kimi_memory import Memory
from kimi_memory.cli import run
from tests.conftest import Clock
from tests.past.test_copies import merge
from tests.test_copies import clone

__all__ = ["clone"]

Clone = Callable[[str], Memory]


def test_each_copy_is_named_with_since_when_it_has_it(
    memory: Memory, clone: Clone, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    memory.remember("The deploy port is 8080.", key="deploy.port")
    laptop, phone = clone("laptop"), clone("phone")
    phone.remember("Bob likes coffee.", key="bob.drink")
    laptop.remember("The team meets on Monday.", key="team.day")
    merge(memory, laptop)
    merge(memory, phone)
    clock.move(days=1)
    memory.remember("The deploy port is 8443 now.", key="deploy.port")
    memory.batch.flush()
    clock.move(days=1)
    merge(laptop, memory)
    laptop.remember("Ann likes tea.", key="ann.tea")
    merge(memory, laptop)
    [line] = memory.blame("deploy.port", copies=True)
    knew = {one.copy: one for one in line.copies}
    assert {copy: one.has for copy, one in knew.items()} == {
        memory.copy_id: True, laptop.copy_id: True, phone.copy_id: False,
    }  # fmt: skip
    assert (knew[memory.copy_id].name, knew[phone.copy_id].name) == ("here", "")
    assert knew[memory.copy_id].at.day == 28 and knew[laptop.copy_id].at.day == 1
    assert knew[phone.copy_id].says == "The deploy port is 8080."
    assert line.cause is not None and knew[memory.copy_id].commit == line.cause.commit
    # As of a day, what came later is nobody's.
    [then] = memory.blame("deploy.port", at="2026-02-28", copies=True)
    assert {one.copy: one.has for one in then.copies}[memory.copy_id]
    assert laptop.copy_id not in {one.copy for one in then.copies if one.has}
    assert memory.blame("deploy.port")[0].copies == ()
    # A line of the note's file is that of its note; one of any other file has no other saying.
    text = (memory.root / line.path).read_text(encoding="utf-8")
    title = text.splitlines().index("# The deploy port is 8443 now.") + 1
    [row] = memory.blame(f"{line.path}:{title}", copies=True)
    assert {one.copy: one.says for one in row.copies}[phone.copy_id] == "The deploy port is 8080."
    assert not any(one.says for one in memory.blame("USER.md", copies=True)[0].copies)
    root = ["--memory", str(memory.root)]
    assert run(["blame", "deploy.port", "--copies", *root]) == 0
    said = capsys.readouterr().out
    assert f"copies  {memory.copy_id} (here)  since v" in said
    assert f"{phone.copy_id}  lacked it at v" in said and '"The deploy port is 8080."' in said
    assert run(["blame", "deploy.port", "--copies", "--json", *root]) == 0
    assert len(json.loads(capsys.readouterr().out)[0]["copies"]) == 3


def test_what_was_forgotten_is_said_of_no_copy(memory: Memory, clone: Clone) -> None:
    from kimi_memory.domain.operation_types import Wanted
    from kimi_memory.jobs.forget import Forget

    memory.remember("The dentist is Dr Abernathy.", key="health.dentist")
    laptop = clone("laptop")
    laptop.remember("Bob likes coffee.", key="bob.drink")
    merge(memory, laptop)
    memory.run(Forget(memory, Wanted(key="health.dentist")))
    memory.remember("The dentist is Dr Brown.", key="health.dentist")
    memory.batch.flush()
    [line] = memory.blame("health.dentist", copies=True)
    assert "Abernathy" not in str(line)
