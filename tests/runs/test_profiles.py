"""A run whose memory another node leads: it ends, and nothing of it is kept after that."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from threading import Thread

from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.cluster import Cluster
from kimi_memory.cluster.checking import check_log
from kimi_memory.domain.agent_run import AgentRun, Program, Task
from kimi_memory.domain.placement_types import Capabilities, Resources
from kimi_memory.runs import Runs
from kimi_memory.runs.profiles import Offer, publish_offer
from kimi_memory.store.notes import sessions
from tests.runs.test_lifecycle import AGENT, is_gone, wait_for


def machine(base: Path, name: str) -> Opening:
    home = Home(base / name / "config", base / name / "state")
    home.config.mkdir(parents=True)
    text = f'[cluster]\nurl = "folder://{base}/log"\nnode = "{name}"\nttl = 60.0\n'
    (home.config / "config.toml").write_text(text, encoding="utf-8")
    return Opening(home=home, background=False)


def said(memory: Memory, session: str) -> list[str]:
    place = sessions.find(memory.store, session)
    return [turn.text for turn in sessions.read(memory.store, place.path).turns]


def test_a_run_is_fenced_when_another_node_leads(tmp_path: Path) -> None:
    edge, rack = machine(tmp_path, "edge"), machine(tmp_path, "rack")
    folder, mark = tmp_path / "edge/shop", tmp_path / "mark"
    Memory.create(folder, name="shop", opening=edge).close()
    ended: list[AgentRun] = []

    def work() -> None:
        words = (sys.executable, str(AGENT), "resume", str(mark))
        with Memory.open(folder, edge) as memory:
            task = Task("task-1", prompt="Go on.", ref="nightly")
            ended.append(Runs(memory).run(task, Program("worker", words)))

    with Cluster.open(opening=edge) as one, Cluster.open(opening=rack) as other:
        one.join()
        other.join()
        one.deploy(folder)
        other.add("shop", tmp_path / "rack/shop")
        runner = Thread(target=work)
        runner.start()
        pid = wait_for(mark)
        end = time.monotonic() + 20
        with Memory.open(folder, edge) as memory:
            (live,) = Runs(memory).list_runs()
            while "Before the other node leads." not in said(memory, live.session):
                assert time.monotonic() < end
                time.sleep(0.02)
        one.demote("shop")
        assert other.promote("shop").holder == "rack"
        Path(f"{mark}-go").touch()
        runner.join(30)
        assert not runner.is_alive() and is_gone(pid)
        (run,) = ended
        assert (run.outcome, run.status) == ("fenced", "stopped")
        assert "rack takes the writes" in run.why
        with other.memory("shop") as there:
            there.remember("The queue is RabbitMQ.", key="queue")
            assert said(there, run.session) == ["Go on.", "Before the other node leads."]
            # Done again where it can be, and not counted as done.
            again = Runs(there).run(
                Task("task-2", prompt="Go on.", ref="nightly"),
                Program("worker", (sys.executable, "-c", "print('done')")),
            )
            assert again.outcome == "done" and again.epoch > run.epoch
        assert not list(check_log(other.log, run.memory))


def test_a_run_says_where_it_is_and_why(tmp_path: Path) -> None:
    edge = machine(tmp_path, "edge")
    folder = tmp_path / "edge/shop"
    program = Program("worker", (sys.executable, "-c", "print('done')"))
    with Memory.create(folder, name="shop", opening=edge) as memory:
        alone = Runs(memory).run(Task("t", prompt="Go."), program)
    assert (alone.reasoning_node, alone.execution_node) == ("edge", "edge")
    assert alone.placement == "this machine alone has the memory"
    with Cluster.open(opening=edge) as one:
        one.join()
        publish_offer(one, Offer("", Capabilities(), Resources(8, 16_000, 100_000)))
        one.deploy(folder)
        with one.memory("shop") as memory:
            found = Runs(memory).run(Task("t", class_="interactive", prompt="Go."), program)
            assert found.placement.startswith("hybrid, interactive")
            assert (found.epoch, found.execution_node) == (1, "edge")
            assert Runs(memory).show(found.id).placement == found.placement
