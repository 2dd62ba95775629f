"""``place``: over a real log, what it says and what it refuses."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from kimi_memory.plugins.agent_runs.place_command import format_placement

from kimi_memory.cli import run
from kimi_memory.cluster import Cluster
from kimi_memory.cluster.registry import Node
from kimi_memory.domain.agent_run import Needs, Task
from kimi_memory.domain.placement_types import Latency, NodeProfile, Resources
from kimi_memory.errors import NoPlaceError
from kimi_memory.runs.placing import Surroundings, place_task
from kimi_memory.runs.profiles import read_surroundings, status_of


@pytest.fixture
def joined(tmp_path: Path, monkeypatch) -> None:
    for kind in ("CONFIG", "STATE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind.lower()))
    monkeypatch.setattr("os.getloadavg", lambda: (0.0, 0.0, 0.0))
    url = f"folder://{tmp_path}/log"
    assert run(["node", "join", "--url", url, "--name", "edge-1", "--region", "us"]) == 0


def test_a_task_is_placed_and_explained(joined: None, capsys) -> None:
    words = ["--needs", "sandbox,python", "--cpu", "8", "--permissions", "network"]
    assert run(["place", "--offer", *words]) == 0
    assert run(["place", "--latency", "rack-2=83"]) == 0
    capsys.readouterr()
    assert run(["place", "--task", "interactive", "--needs", "python", "--cpu", "2"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("hybrid  edge-1  score ")
    assert said[1] == "  because interactive; no pair of machines was measured"
    assert run(["place", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["mode"], found["execution"], found["refused"]) == ("hybrid", "edge-1", [])


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--needs", "docker"], 45, "edge-1: cannot carry it out: offers no docker"),
        (["--permissions", "root"], 2, "'root' is no permission"),
        (["--latency", "rack-2"], 2, "Write NODE=MS"),
        (["--offer", "--load", "101"], 2, "from 0 to 100"),
        (["--offer", "--endpoint", "rack"], 2, "no endpoint"),
        (["--offer", "--label", "rack"], 2, "Write NAME=VALUE"),
        (["--measure", "edge-1"], 2, "Nobody said how ssh reaches edge-1"),
    ],
)
def test_what_cannot_be_placed_says_why(
    joined: None, capsys, words: list[str], code: int, said: str
) -> None:
    assert run(["place", *words]) == code
    assert said in capsys.readouterr().err


def test_the_policies_of_a_space_say_where_a_memory_runs(
    joined: None, capsys, tmp_path: Path
) -> None:
    pytest.importorskip("cedarpy", reason="needs the library of kimi-memory[team]")
    folder, space = tmp_path / "shop", tmp_path / "space"
    for line in (
        ["init", str(folder), "--name", "shop"], ["deploy", "add", "--memory", str(folder)],
        ["space", "create", "team", "--folder", str(space)],
        ["space", "share", "--memory", str(folder)], ["place", "--for", "shop"],
    ):  # fmt: skip
        assert run(line) == 0, capsys.readouterr().err
    (space / "policies/places.cedar").write_text(
        'forbid(principal is Node, action == Action::"place", resource) '
        'unless { principal.region == "eu" };'
    )
    capsys.readouterr()
    assert run(["place", "--for", "shop"]) == 45
    assert "policies/places.cedar:1 forbids it" in capsys.readouterr().err
    assert run(["place"]) == 0  # A task over no memory is nobody's.
    # Under another name of the memory, its space is known by its folder.
    assert run(["agent", "run", "cat", "x", "--command", "cat", "--placed", "--memory",
                str(folder)]) == 45  # fmt: skip
    assert "places.cedar:1 forbids it" in capsys.readouterr().err
    assert run(["space", "verify"]) == 0


def test_the_load_of_a_machine_is_measured(
    joined: None, capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.getloadavg", lambda: (1.5, 9.0, 9.0))
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    with Cluster.open() as cluster:
        assert cluster.join().load == 75  # As its service does every few seconds.
        assert read_surroundings(cluster).nodes[0].load == 75
        assert run(["place", "--offer", "--load", "90"]) == 0
        assert read_surroundings(cluster).nodes[0].load == 90
        assert run(["place", "--offer", "--load", "10"]) == 0
        assert read_surroundings(cluster).nodes[0].load == 75


def test_a_machine_offers_what_it_has(joined: None, capsys) -> None:
    assert run(["place", "--offer", "--cpu", "3"]) == 0
    with Cluster.open() as cluster:
        has = read_surroundings(cluster).nodes[0].resources
    assert has.cpu == 3 and has.memory_mb > 100 and has.disk_mb > 0
    assert run(["place", "--ram", "64", "--disk", "1"]) == 0
    assert run(["place", "--ram", str(2 * has.memory_mb)]) == 45
    assert f"has {has.memory_mb} of" in capsys.readouterr().err


def test_a_dry_run_notes_nothing_of_a_machine(joined: None, capsys) -> None:
    words = ["place", "--offer", "--cpu", "3", "--needs", "sandbox,python", "--dry-run"]
    assert run([*words, "--latency", "rack-2=83", "--measure", "rack-2"]) == 0
    noted, offered, measured = capsys.readouterr().out.splitlines()
    assert noted == "Would note 83 ms from edge-1 to rack-2 and back."
    assert offered.startswith("Would note that edge-1 offers sandbox, python; 3 processors")
    assert measured == "Would measure the way to rack-2 and back."
    assert run([*words, "--load", "101"]) == 2
    with Cluster.open() as cluster:
        around = read_surroundings(cluster)
    assert not around.latencies and not around.nodes[0].resources.cpu


def test_a_machine_keeps_as_many_memories_as_it_offers(
    joined: None, capsys, tmp_path: Path
) -> None:
    for name in ("tea", "pots"):
        assert run(["init", str(tmp_path / name), "--name", name]) == 0
    add = ["deploy", "add", "--memory"]
    assert run(["place", "--offer", "--most", "1"]) == 0
    assert run([*add, str(tmp_path / "tea")]) == 0
    for more in ([], ["--dry-run"]):
        assert run([*add, str(tmp_path / "pots"), *more]) == 2
        assert "edge-1 keeps at most 1 memories, and has as many" in capsys.readouterr().err
    assert run(["deploy", "demote", "tea", "--dry-run"]) == 0
    assert "Would have edge-1 take no writes of tea" in capsys.readouterr().out
    assert run(["node", "leave", "--dry-run"]) == 2  # It still holds one.
    assert run(["deploy", "remove", "tea"]) == run(["node", "leave", "--dry-run"]) == 0
    assert "Would take edge-1 out of the cluster." in capsys.readouterr().out
    with Cluster.open() as cluster:
        assert [one.name for one in cluster.nodes()] == ["edge-1"]
    assert run([*add, str(tmp_path / "pots")]) == 0


def test_a_machine_in_maintenance_takes_nothing(joined: None, capsys) -> None:
    assert run(["place", "--offer", "--status", "maintenance"]) == 0
    assert run(["place"]) == 45
    assert "in maintenance" in capsys.readouterr().err


def test_all_that_a_machine_offers_is_kept_and_listed(joined: None, capsys) -> None:
    words = ["--use-case", "edge", "--providers", "openai,ollama", "--most", "40", "--gpu"]
    words += ["--gpu-ram", "24000", "--label", "rack=7", "--label", "owner=林", "--load", "12"]
    assert run(["place", "--offer", *words, "--status", "busy"]) == 0
    with Cluster.open() as cluster:
        (node,) = read_surroundings(cluster).nodes
        cluster.registry.put_node(Node("gone-1"))
    assert (node.use_case, node.load, node.status) == ("edge", 12, "busy")
    assert node.capabilities[:3] == (True, ("openai", "ollama"), 40)
    assert node.resources.gpu_mb == 24_000
    assert node.labels == {"rack": "7", "owner": "林"}
    assert node.key.startswith("ssh-ed25519 ")
    assert status_of(node, 6.0) == "busy"
    assert status_of(node._replace(seen_seconds=18.0), 6.0) == "offline"
    assert run(["place", "--latency", "gone-1=83"]) == 0
    capsys.readouterr()
    assert run(["node", "list"]) == 0
    head, edge, gone = capsys.readouterr().out.splitlines()
    assert head.split() == ["NODE", "KIND", "PLACE", "STATUS", "LOAD", "SEEN", "RTT", "MEMORIES"]
    assert edge.split()[:6] == ["edge-1", "hybrid", "us", "busy", "12", "%"]
    assert "83 ms" in gone


def test_a_placement_is_told_in_chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    edge = NodeProfile("edge-1", "hybrid", resources=Resources(8))
    rack = NodeProfile("rack-2", "execution", region="us", use_case="offline")
    gone = NodeProfile("old-1", seen_seconds=41)
    near = [Latency("edge-1", "rack-2", 83.0)]
    task = Task("t", class_="interactive", needs=Needs(cpu=2))
    found = place_task(task, Surroundings((edge, rack, gone), near))
    said = format_placement(found)
    assert said.splitlines()[0].startswith("混合  edge-1  分数 ")
    assert "不用 rack-2  需要 2 个处理器，只有 0" in said and "已离线 41 秒, 需要 2" in said
    assert not re.search(r"[a-z]{4,}", re.sub(r"edge|rack", "", said)), said
    batch = Task("t", region="eu", needs=Needs(gpu=True, permissions=("docker",)))
    with pytest.raises(NoPlaceError) as caught:
        place_task(batch, Surroundings((edge, rack)))
    assert "lacks permission: docker, has no GPU" in str(caught.value)
