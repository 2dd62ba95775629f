"""Real programs, run over a real memory: what they say is kept, however they end."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from fakes.llm import Script, serve

from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.domain.agent_run import AgentRun, Limits, Program, Task
from kimi_memory.errors import NotFoundError, StoreError, UsageError
from kimi_memory.operations.forget import Doomed, purge
from kimi_memory.runs import Runs
from kimi_memory.runs.run_folder import list_folders
from kimi_memory.store.notes import sessions

AGENT = Path(__file__).parents[1] / "fakes" / "scripted_agent.py"
EXAMPLE = Path(__file__).parents[2] / "examples" / "agent_with_model.py"
RUNNER = """
import sys
from pathlib import Path
from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.domain.agent_run import Program, Task
from kimi_memory.runs import Runs
root, base = Path(sys.argv[1]), Path(sys.argv[2])
opening = Opening(home=Home(base / "config", base / "state"), background=False)
with Memory.open(root, opening) as memory:
    Runs(memory).run(Task("t", prompt="wait"), Program("worker", tuple(sys.argv[3:])))
"""


@pytest.fixture
def memory(tmp_path: Path, home: Home) -> Iterator[Memory]:
    with Memory.create(tmp_path / "m", opening=Opening(home=home, background=False)) as memory:
        yield memory


def program(*words: str, **more: object) -> Program:
    return Program("worker", (sys.executable, str(AGENT), *words), **more)  # type: ignore[arg-type]  # fields by name


def run(memory: Memory, *words: str, prompt: str = "Go on. 继续。", **more: object) -> AgentRun:
    return Runs(memory).run(Task("task-1", prompt=prompt), program(*words, **more))


def turns(memory: Memory, found: AgentRun) -> list[tuple[str, str]]:
    place = sessions.find(memory.store, found.session)
    transcript = sessions.read(memory.store, place.path)
    return [(str(turn.role), turn.text) for turn in transcript.turns]


def wait_for(path: Path) -> int:
    end = time.monotonic() + 20
    while not (path.exists() and path.read_text()):
        assert time.monotonic() < end
        time.sleep(0.01)
    return int(path.read_text())


def is_gone(pid: int) -> bool:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.02)
    return False


def test_an_agent_asks_its_model_with_the_memory_and_is_distilled(memory: Memory) -> None:
    memory.remember("We decided to use PostgreSQL for orders because of cost.")
    answer = "我们决定用 DuckDB 做报表，因为查询更快。"
    script = Script(say=lambda prompt: answer)
    with serve(script) as url:
        words = (sys.executable, str(EXAMPLE), f"{url}/v1", "scripted")
        task = Task("task-1", prompt="Which store for orders?")
        found = Runs(memory).run(task, Program("worker", words))
    assert "PostgreSQL" in script.prompts()[0] and "Which store for orders?" in script.prompts()[0]
    assert (found.outcome, found.status, found.usage.calls) == ("done", "stopped", 1)
    said = turns(memory, found)
    assert said == [("user", "Which store for orders?"), ("assistant", answer)]
    assert not memory.waiting() and not sessions.find(memory.store, found.session).open
    assert "DuckDB" in memory.recall("报表用什么数据库？").hits[0].unit.text


@pytest.mark.parametrize(
    ("context", "seen"),
    [("stdin", "True True False 1"), ("file", "False True False 1"), ("env", "False True True 1")],
)
def test_the_context_comes_as_it_was_chosen(memory: Memory, context: str, seen: str) -> None:
    memory.remember("The staging server is called heron.")
    found = run(memory, "given", prompt="What is the staging server called?", context=context)
    assert turns(memory, found)[1][1] == seen


def test_the_journal_names_the_run_for_which_something_was_written(memory: Memory) -> None:
    memory.remember("The staging server is called heron.")
    found = run(memory, "given")
    memory.remember("The live server is called egret.")
    records = list(memory.store.journal.records())
    of_run = [one for one in records if one.get("run")]
    assert {one["run"] for one in of_run} == {found.id}
    paths = {str(one["path"]) for one in of_run}
    assert {f"short-term/session_{found.session}.jsonl", "mid-term/runs.jsonl"} <= paths
    assert "run" not in records[-1] and memory.actor.run == ""


def test_megabytes_become_one_turn_and_a_log(memory: Memory) -> None:
    found = run(memory, "megabytes", "60")
    said = turns(memory, found)
    assert [text for _, text in said[1:4:2]] == ["Before the flood.", "After the flood."]
    assert said[2][1].startswith("数据 flood") and len(said[2][1].encode()) < 80_000
    assert found.outcome == "done" and "bytes before]" in Runs(memory).read_log(found.id)[:40]


def test_too_much_output_ends_an_agent(memory: Memory) -> None:
    found = run(memory, "megabytes", "400", limits=Limits(output_bytes=2_000_000))
    assert found.outcome == "killed" and "output limit" in found.why
    assert ("assistant", "Before the flood.") in turns(memory, found)


def test_a_crash_in_the_middle_of_a_turn_keeps_the_turns_before(memory: Memory) -> None:
    found = run(memory, "crash")
    assert (found.outcome, found.why) == ("killed", "signal 9")
    said = turns(memory, found)
    assert said[1][1].startswith("We decided") and said[2] == ("tool", "psql: 12 rows")
    assert said[3][1].endswith("half a t")


def test_a_time_limit_ends_an_agent(memory: Memory, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    found = run(memory, "wait", str(pid), limits=Limits(wall_s=1.0))
    assert (found.outcome, found.why) == ("killed", "time limit of 1 s")
    assert ("assistant", "I begin. 我开始了。") in turns(memory, found) and is_gone(wait_for(pid))


def test_what_an_agent_left_behind_ends_with_it(memory: Memory, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    assert run(memory, "fork", str(pid)).outcome == "done" and is_gone(wait_for(pid))


def test_an_exit_code_is_a_failure_with_its_reason(memory: Memory) -> None:
    found = run(memory, "fail")
    assert (found.outcome, found.why) == ("failed", "exit code 3")
    assert "no such table" in Runs(memory).read_log(found.id, errors=True)


def test_an_agent_cannot_speak_for_its_user(memory: Memory) -> None:
    found = run(memory, "pose")
    assert [role for role, _ in turns(memory, found)] == ["user", "assistant", "assistant"]


def test_a_killed_runner_loses_no_word_and_leaves_no_agent(memory: Memory, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    words = [sys.executable, str(AGENT), "wait", str(pid)]
    runner = subprocess.Popen(  # no test waits for it: it is killed
        [sys.executable, "-c", RUNNER, str(memory.root), str(tmp_path), *words]
    )
    agent = wait_for(pid)
    (living,) = Runs(memory).list_runs()
    assert living.status == "busy" and not Runs(memory).recover()
    runner.send_signal(signal.SIGKILL)
    runner.wait()
    assert is_gone(agent)
    (folder,) = list_folders(memory.home.state)
    lent = Path((folder.path / "work").read_text())
    assert lent.is_dir()
    (lost,) = Runs(memory).recover()
    assert not lent.exists()
    assert (lost.id, lost.outcome, lost.why) == (living.id, "lost", "its runner was killed")
    assert turns(memory, lost)[1:] == [("assistant", "I begin. 我开始了。")]
    assert not Runs(memory).recover() and Runs(memory).show(lost.id[:20]).outcome == "lost"


def test_a_run_is_stopped_from_another_process(memory: Memory, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    words = [sys.executable, str(AGENT), "wait", str(pid)]
    runner = subprocess.Popen(
        [sys.executable, "-c", RUNNER, str(memory.root), str(tmp_path), *words]
    )
    agent = wait_for(pid)
    (living,) = Runs(memory).list_runs()
    stopped = Runs(memory).stop(living.id)
    assert (stopped.outcome, stopped.why) == ("killed", "stopped on request")
    assert runner.wait() == 0 and is_gone(agent)


def test_a_task_that_was_done_is_not_done_again(memory: Memory) -> None:
    task = Task("task-1", prompt="Once.", ref="nightly-1")
    first = Runs(memory).run(task, program("pose"))
    assert Runs(memory).run(task, program("fail")) == first
    assert [one.id for one in Runs(memory).list_runs()] == [first.id]


def test_what_is_asked_of_no_run_is_refused(memory: Memory) -> None:
    runs = Runs(memory)
    with pytest.raises(NotFoundError, match="agent list"):
        runs.show("run-none")
    with pytest.raises(UsageError, match="no runtime 'vm'"):
        run(memory, "pose", runtime="vm")
    with pytest.raises(UsageError, match="cannot be started"):
        runs.run(Task("t", prompt="x"), Program("worker", ("/no/such/program",)))
    with pytest.raises(UsageError, match="TOKEN is not set"):
        run(memory, "pose", env=("TOKEN",))


def test_secrets_in_the_output_are_kept_nowhere(memory: Memory) -> None:
    key = "sk-ant-" + "api03-" + "a1B2" * 20
    line = f"print('the key is {key}')"
    found = Runs(memory).run(Task("t", prompt="x"), Program("w", (sys.executable, "-c", line)))
    assert key not in Runs(memory).read_log(found.id) + str(turns(memory, found))
    held = [path for path in memory.root.rglob("*") if path.is_file()]
    held += [path for path in memory.home.state.rglob("*") if path.is_file()]
    assert not [path for path in held if key.encode() in path.read_bytes()]


def test_runs_write_no_words_beside_the_session(memory: Memory) -> None:
    run(memory, "fail", prompt="A very particular prompt.")
    text = (memory.root / "mid-term/runs.jsonl").read_text(encoding="utf-8")
    assert "particular" not in text and '"outcome":"failed"' in text


def test_a_sandbox_is_shown_no_folder_of_the_memory(memory: Memory) -> None:
    shown = (str(memory.root.parent),)
    with pytest.raises(UsageError, match="would be seen"):
        run(memory, "pose", runtime="sandbox", roots=shown)
    with pytest.raises(UsageError, match="would be seen"):
        Runs(memory).run(Task("t", prompt="x"), program("pose", runtime="sandbox"), memory.root)
    assert not Runs(memory).list_runs()


def test_a_deadline_ends_a_run_and_begins_none(memory: Memory) -> None:
    slow = Program("worker", (sys.executable, "-c", "import time; time.sleep(60)"))
    now = memory.clock()
    found = Runs(memory).run(Task("t", prompt="x", deadline=now + timedelta(seconds=1.5)), slow)
    assert found.outcome == "killed" and found.why.startswith("time limit of 1.")
    assert found.usage.wall_s < 20
    with pytest.raises(UsageError, match="its deadline is over"):
        Runs(memory).run(Task("t", prompt="x", deadline=now), slow)
    late = Task("t", prompt="x", expected_s=90, deadline=now + timedelta(seconds=60))
    with pytest.raises(UsageError, match="expected to take 90 s, and its deadline is in 5"):
        Runs(memory).run(late, slow)
    with pytest.raises(UsageError, match=r"expected to take 900 s.* after 300"):
        Runs(memory).run(Task("t", prompt="x", expected_s=900), slow)
    assert len(Runs(memory).list_runs()) == 1


def test_no_name_or_reason_of_a_run_lets_a_secret_in(memory: Memory) -> None:
    token = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    task = Task(token, prompt="Go on.", ref=token)
    names = {"model": token, "skills": (token,)}
    runs = Runs(memory)
    with pytest.raises(UsageError):
        runs.run(task, Program(token, (f"./{token}",), **names))  # type: ignore[arg-type]  # by name
    done = runs.run(task, program("given", **names))
    assert runs.run(task, program("given")).id == done.id
    places = (memory.root, memory.home.state)
    found = [path for place in places for path in place.rglob("*") if path.is_file()]
    assert not [path for path in found if token[4:20].encode() in path.read_bytes()]


def test_a_purge_reaches_what_runs_wrote_on_this_machine(memory: Memory) -> None:
    found = run(memory, "given", prompt="The code is 482913. 代码。")
    place = next(iter(list_folders(memory.home.state)))
    with place.output.open("a") as log:
        log.write("They said cabinet 482913.\n")
    assert purge(memory, Doomed(texts=("482913",)), yes=True).done
    assert "cabinet" in place.output.read_text() and "482913" not in place.output.read_text()
    with place.output.open("a") as log:
        log.write("They said cabinet 482913.\n")
    place.save(replace(found, status="busy"))
    with pytest.raises(StoreError, match=r"out\.log"):
        purge(memory, Doomed(texts=("482913",)), yes=True)
    place.save(found)
    assert purge(memory, Doomed(texts=("482913",)), yes=True).done
    assert "482913" not in place.output.read_text()
