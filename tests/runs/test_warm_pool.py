"""Agents that wait for their task: each does one, and nothing of them is left."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.cli import run as command
from kimi_memory.domain.agent_run import Limits, Program, Task
from kimi_memory.errors import NotPrimaryError, UsageError
from kimi_memory.runs import Runs
from kimi_memory.runs.lifecycle import choose_runtime
from kimi_memory.runs.run_folder import list_folders
from kimi_memory.runs.warm_pool import WarmPool

CODE = """
import os, sys, time
begun = time.time()
open("up", "w")
text = sys.stdin.read()
print(os.getpid(), begun, time.time(), os.environ["KIMI_RUN"], "8080" in text, text.split()[-1],
      *sorted(os.listdir(".")))
"""
AGENT = Program("worker", (sys.executable, "-c", CODE))


@pytest.fixture
def memory(tmp_path: Path, home: Home) -> Iterator[Memory]:
    with Memory.create(tmp_path / "m", opening=Opening(home=home, background=False)) as memory:
        memory.remember("The port is 8080.", key="port")
        yield memory


def pool(memory: Memory, program: Program = AGENT, **more: float) -> WarmPool:
    runtime = choose_runtime(memory.host, program.runtime)
    return WarmPool(memory, program, runtime, os.environ, **more)  # type: ignore[arg-type]  # fields by name


def living(memory: Memory) -> list[str]:
    return [one.id for one in Runs(memory).list_runs() if one.status == "ready"]


def await_program(memory: Memory) -> None:
    """Wait until all that wait have come as far as that."""
    end = time.monotonic() + 30
    for place in list_folders(memory.home.state):
        if place.load().status == "ready":
            while not (Path((place.path / "work").read_text()) / "up").exists():
                assert time.monotonic() < end
                time.sleep(0.02)


def test_one_that_waits_does_one_task_and_the_next_is_another(memory: Memory) -> None:
    with pool(memory, warm=1) as waiting:
        runs, said = Runs(memory, os.environ, waiting), []
        for word in ("first", "second", "third"):
            await_program(memory)
            asked = time.time()
            found = runs.run(Task("t", prompt=f"Which port? {word}"), AGENT)
            assert (found.outcome, found.status) == ("done", "stopped"), found
            pid, begun, given, run, knows, last, *files = runs.read_log(found.id).split()
            assert (knows, last, run) == ("True", word, found.id)
            assert files == ["context.md", "task.json", "up"]
            # The third one finds none: nobody filled the pool.
            assert (found.pool, float(begun) < asked) == (
                ("warm", True) if word != "third" else ("", False)
            )
            assert float(given) >= asked and found.ready_at <= found.stopped
            said.append(pid)
            if word == "first":
                assert living(memory) == []
                waiting.fill()
                assert len(living(memory)) == 1
        assert len(set(said)) == 3
    assert [one.status for one in runs.list_runs()] == ["stopped"] * 3


def test_another_program_or_folder_takes_none(memory: Memory, tmp_path: Path) -> None:
    with pool(memory, warm=1) as waiting:
        runs, (first,) = Runs(memory, os.environ, waiting), living(memory)
        other = AGENT._replace(name="other")
        assert runs.run(Task("t", prompt="Which?"), other).pool == ""
        assert runs.run(Task("t", prompt="Which?"), AGENT, tmp_path).pool == ""
        with pytest.raises(UsageError, match="has no task yet"):
            runs.stop(first)
        assert living(memory) == [first]
    assert living(memory) == []


def test_one_that_ended_or_waited_too_long_is_replaced(memory: Memory) -> None:
    short = Program("worker", (sys.executable, "-c", "pass"))
    with pool(memory, short) as waiting:
        (first,) = living(memory)
        end = time.monotonic() + 20
        while living(memory) == [first]:
            assert time.monotonic() < end
            time.sleep(0.05)
            waiting.fill()
        time.sleep(0.3)
        # All that wait have ended: the run starts one as ever.
        assert Runs(memory, os.environ, waiting).run(Task("t", prompt="x"), short).outcome == "done"
    with pool(memory, idle_s=0.0) as waiting:
        (first,) = living(memory)
        waiting.fill()
        assert living(memory) != [first] and len(living(memory)) == 1


def test_what_cannot_wait_is_refused(memory: Memory) -> None:
    with pytest.raises(UsageError, match="A block in a variable"):
        pool(memory, AGENT._replace(context="env"))
    with pytest.raises(UsageError, match="Agents of ssh:rack-2 cannot wait"):
        pool(memory, AGENT._replace(runtime="ssh:rack-2"))
    with (
        pytest.raises(UsageError, match="cannot be started"),
        pool(memory, Program("worker", ("/nowhere/agent",))),
    ):
        pass
    assert not [*list_folders(memory.home.state)]


def test_limits_hold_from_the_task_on(memory: Memory) -> None:
    slow = Program("worker", (sys.executable, "-c", "import sys, time; sys.stdin.read();"
                              "time.sleep(60)"), limits=Limits(wall_s=1.0))  # fmt: skip
    with pool(memory, slow) as waiting:
        time.sleep(1.2)
        found = Runs(memory, os.environ, waiting).run(Task("t", prompt="x"), slow)
        assert (found.pool, found.why) == ("warm", "time limit of 1 s")
        assert found.usage.wall_s < 10


def test_one_whose_pool_was_killed_is_gone_with_no_run_and_no_session(
    memory: Memory, home: Home
) -> None:
    code = (
        "import os, sys, time; from pathlib import Path; from kimi_memory import Memory, Opening\n"
        "from kimi_memory.api.options import Home\n"
        "from tests.runs.test_warm_pool import AGENT, pool\n"
        "opening = Opening(home=Home(*map(Path, sys.argv[2:4])), background=False)\n"
        "with Memory.open(sys.argv[1], opening) as memory, pool(memory):\n"
        "    print('on', flush=True); time.sleep(60)\n"
    )
    words = [str(memory.root), str(home.config), str(home.state)]
    with subprocess.Popen(
        [sys.executable, "-c", code, *words], stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    ) as holder:  # fmt: skip
        assert holder.stdout is not None and holder.stdout.readline() == b"on\n"
        assert len(living(memory)) == 1
        holder.kill()
    assert Runs(memory).recover() == [] and Runs(memory).list_runs() == []
    assert not [path for path in memory.store.files() if "session_run" in path]


def test_where_another_node_leads_none_is_left(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pool(memory) as waiting:
        runs = Runs(memory, os.environ, waiting)

        def refuse(*_: object, **__: object) -> None:
            raise NotPrimaryError("m", "rack")

        monkeypatch.setattr(memory, "session", refuse)
        with pytest.raises(NotPrimaryError):
            runs.run(Task("t", prompt="x"), AGENT)
        assert living(memory) == []


def test_the_command_does_task_after_task(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tasks = (
        '{"prompt": "Which port? one", "ref": "r"}', "no task", "",
        '{"prompt": "Which port? two"}', '{"prompt": "again", "ref": "r"}', '{"prompt": 7}',
    )  # fmt: skip
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(tasks)))
    line = f"{sys.executable} -c '{CODE}'"
    place = ["--memory", str(memory.root)]
    assert command(["agent", "serve", "worker", "--command", line, "--warm", "2", *place]) == 0
    found = [json.loads(one) for one in capsys.readouterr().out.splitlines()]
    assert [one["outcome"] for one in found] == ["done", "failed", "done", "done", "failed"]
    assert found[0]["said"].split()[5] == "one" and found[2]["said"].split()[5] == "two"
    assert found[0]["id"] == found[3]["id"] and "That is no task" in found[1]["why"]
    assert not [*memory.home.state.glob("runs/*/work")]


@pytest.mark.sandbox
@pytest.mark.skipif(not shutil.which("bwrap"), reason="needs bubblewrap")
def test_one_waits_in_the_sandbox(memory: Memory) -> None:
    boxed = Program("worker", ("/usr/bin/python3", "-c", CODE), "sandbox")
    with pool(memory, boxed) as waiting:
        await_program(memory)
        asked = time.time()
        found = Runs(memory, os.environ, waiting).run(Task("t", prompt="Which port? go"), boxed)
        said = Runs(memory).read_log(found.id).split()
        assert (found.outcome, found.pool) == ("done", "warm"), found
        assert float(said[1]) < asked and said[4:6] == ["True", "go"]
