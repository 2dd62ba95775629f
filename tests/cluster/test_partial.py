"""A cache that keeps some tiers: the same files there, and none of the others."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from kimi_memory import Memory
from kimi_memory.cli import run
from kimi_memory.cluster import Cluster
from kimi_memory.domain.job import Actor, Create, Delete, Move, Update, digest
from kimi_memory.errors import NotPrimaryError, UsageError
from kimi_memory.store.files.paths import TIERS, is_own
from kimi_memory.store.partial import is_in_part
from tests.cluster.test_membership import kept_in_step, machine, relay

KEEP = ("semantic", "long-term")
ME = Actor("tester")


def files(memory: Memory) -> dict[str, bytes]:
    return {
        path: memory.store.read(path)
        for path in memory.store.files()
        if is_in_part(path, KEEP) and not is_own(path)
    }


def follow(memory: Memory) -> None:
    relay(memory).follow()


def test_a_part_is_of_tiers_and_leads_nothing(tmp_path: Path) -> None:
    edge = machine(tmp_path, "edge")
    Memory.create(tmp_path / "shop", name="shop", opening=edge).close()
    with Cluster.open(opening=edge) as one:
        with pytest.raises(UsageError, match="'cellar' is no tier"):
            one.add("shop", tmp_path / "x", "cache", keep=["cellar"])
        with pytest.raises(UsageError, match="A part of a memory cannot lead"):
            one.add("shop", tmp_path / "x", keep=["semantic"])
    assert not (tmp_path / "x").exists()


@pytest.mark.cluster
def test_a_part_follows_all_kinds_of_changes_and_has_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edge, lap = machine(tmp_path, "edge"), machine(tmp_path, "lap")
    folder, part = tmp_path / "shop", tmp_path / "lap" / "shop"
    with Memory.create(folder, name="shop", opening=edge) as memory:
        memory.session("s").turn("user", "The vault is behind the teapot. 海燕。")
        memory.remember("The port is 8080.", key="port")
    with Cluster.open(opening=edge) as one, Cluster.open(opening=lap) as other:
        one.join()
        other.join()
        one.deploy(folder)
        row, _ = other.add("shop", part, "cache", keep=KEEP)
        assert (row.keep, row.promote) == (KEEP, False)
        assert {path.name for path in part.iterdir()} & {*TIERS, ".git"} == set(KEEP)
        with one.memory("shop") as here, other.memory("shop") as there:
            follow(there)
            assert files(here) == files(there) and there.recall("port").hits
            with pytest.raises(NotPrimaryError):
                there.remember("Not here.")
            change_at_random(here, there)
            here.session("s").turn("user", "Turns go by. 别处没有。")
            here.remember("The queue is RabbitMQ.", key="queue")
            (folder / "semantic" / "mine.md").write_text("I wrote this by hand.\n")
            (folder / "mid-term" / "mine.md").write_text("And this.\n")
            here.store.reconcile()
            here.consolidate("daily")
            here.batch.flush()
            follow(there)
            assert files(here) == files(there)
            assert relay(there).position.place.seq == relay(here).position.place.seq
            assert there.recall("Which queue?").hits and not there.recall("teapot").hits
            others = [path for path in there.store.files() if not is_in_part(path, KEEP)]
            assert all(map(is_own, others))
        # Opened anew, nothing looks like somebody's edit; and a folder made anew is a part again.
        with other.memory("shop") as there:
            assert there.store.reconcile() is not None and files(there)
        assert other.repair("shop") == []
        assert {path.name for path in part.iterdir()} & {*TIERS, ".git"} == set(KEEP)
        with one.memory("shop") as here, other.memory("shop") as there:
            assert files(here) == files(there)
        # What is edited there goes through the log, as from any other folder.
        with kept_in_step(one, edge), kept_in_step(other, lap):
            (part / "semantic" / "mine.md").write_text("Edited on the road. 路上改的。\n")
            wait_for(folder / "semantic" / "mine.md", "路上改的")


def wait_for(path: Path, text: str) -> None:
    end = time.monotonic() + 60
    while text not in path.read_text(encoding="utf-8"):
        assert time.monotonic() < end
        time.sleep(0.2)


def change_at_random(here: Memory, there: Memory) -> None:
    """Create, change, move and delete files in and between tiers, and look after each dozen."""
    dice, known = random.Random(7), dict[str, bytes]()
    for step in range(60):
        path = f"{dice.choice(TIERS)}/note-{step}.md"
        body = f"Step {step} 第 {step} 步\n".encode()
        if not known or dice.random() < 0.4:
            here.store.apply([Create(path, body)], ME)
            known[path] = body
            continue
        old = dice.choice(sorted(known))
        before = known.pop(old)
        match dice.choice(["update", "move", "delete"]):
            case "update":
                here.store.apply([Update(old, digest(before), body)], ME)
                known[old] = body
            case "move":
                here.store.apply([Move(old, path, digest(before))], ME)
                known[path] = before
            case _:
                here.store.apply([Delete(old, digest(before))], ME)
        if step % 12 == 0:
            here.batch.flush()
            follow(there)
            assert files(here) == files(there)


@pytest.mark.cluster
def test_the_command_says_what_a_cache_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    edge = machine(tmp_path, "edge")
    with Memory.create(tmp_path / "shop", name="shop", opening=edge) as memory:
        memory.remember("The port is 8080.", key="port")
    with Cluster.open(opening=edge) as one:
        one.join()
        one.deploy(tmp_path / "shop")
    for name in ("config", "state"):
        monkeypatch.setenv(f"XDG_{name.upper()}_HOME", str(tmp_path / "lap" / name))
    assert run(["node", "join", "--url", f"folder://{tmp_path}/log", "--name", "lap"]) == 0
    add = ["deploy", "add", "shop", "--folder", str(tmp_path / "lap-shop"), "--keep", "semantic"]
    assert run(add) == UsageError.exit_code
    assert run([*add, "--role", "cache"]) == 0
    capsys.readouterr()
    # Nothing that is not kept is called missing.
    assert run(["doctor", "--memory", str(tmp_path / "lap-shop")]) == 0
    said = capsys.readouterr().out
    assert "keeps only semantic, and no history" in said and "✗" not in said
    assert run(["deploy", "list", "shop"]) == 0
    assert "; only semantic" in capsys.readouterr().out
