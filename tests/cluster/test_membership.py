"""Nodes join, share a memory, copy it, lead and leave, by library and by command."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.cli import run
from kimi_memory.cli.cluster import format_deployments
from kimi_memory.cluster import Cluster
from kimi_memory.cluster.checking import check_log, digest_tree
from kimi_memory.cluster.moving import sync
from kimi_memory.cluster.registry import DeploymentRow
from kimi_memory.cluster.running import Service
from kimi_memory.errors import DivergedError, NotPrimaryError, ReadOnlyError, UsageError
from kimi_memory.operations.new_copies import make_fork
from kimi_memory.store.relay import Relay


def machine(base: Path, name: str, ttl: float = 60.0) -> Opening:
    home = Home(base / name / "config", base / name / "state")
    home.config.mkdir(parents=True)
    text = f'[cluster]\nurl = "folder://{base}/log"\nnode = "{name}"\nttl = {ttl}\n'
    (home.config / "config.toml").write_text(text, encoding="utf-8")
    return Opening(home=home, background=False)


def test_a_node_goes_on_under_another_host_name_once_the_old_one_is_silent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("cryptography", reason="needs kimi-memory[cluster]")
    opening = machine(tmp_path, "node-1", ttl=0.1)
    monkeypatch.setattr("platform.node", lambda: "container-1")
    with Cluster.open(opening=opening) as cluster:
        cluster.join()
    monkeypatch.setattr("platform.node", lambda: "container-2")
    with Cluster.open(opening=opening) as cluster:
        with pytest.raises(UsageError, match="is container-1"):
            cluster.join()
        time.sleep(0.4)
        assert cluster.join().host == "container-2"
    # Another machine that took the name has another key.
    (opening.home or Home.of_user()).config.joinpath("node_ed25519").unlink()
    monkeypatch.setattr("platform.node", lambda: "elsewhere")
    with Cluster.open(opening=opening) as cluster:
        time.sleep(0.4)
        with pytest.raises(UsageError, match="is container-2"):
            cluster.join()


def relay(memory: Memory) -> Relay:
    assert memory.store.relay is not None
    return memory.store.relay


@pytest.mark.cluster
def test_a_memory_is_shared_copied_and_led_by_another(tmp_path: Path) -> None:
    folder = tmp_path / "edge" / "shop"
    edge, rack = machine(tmp_path, "edge"), machine(tmp_path, "rack")
    with Memory.create(folder, name="shop", opening=edge) as memory:
        memory.session("s").turn("user", "部署定在每周五下午。")
        kept_open = Memory.open(folder, edge)
    with Cluster.open(opening=edge) as one, Cluster.open(opening=rack) as other:
        one.join(region="asia")
        one.join()
        other.join()
        assert [node.region for node in one.nodes()] == ["asia", ""]
        one.deploy(folder)
        with pytest.raises(ReadOnlyError, match="open it anew"), kept_open:
            kept_open.session("s2")
        with pytest.raises(UsageError, match="deployed already"):
            one.deploy(folder)
        row, count = other.add("shop", tmp_path / "rack" / "shop")
        assert (row.role, row.status, count) == ("replica", "active", 1)
        assert [node.name for node in one.nodes()] == ["edge", "rack"]
        with one.memory("shop") as here, other.memory("shop") as there:
            here.session("s").turn("user", "The queue is RabbitMQ.")
            here.batch.flush()
            relay(there).follow()
            assert digest_tree(here) == digest_tree(there)
            with pytest.raises(NotPrimaryError, match="edge takes the writes"):
                there.session("t")
            refused = pytest.raises(UsageError, match="purge' on the node that leads")
            from kimi_memory.jobs.purge import Doomed
            from kimi_memory.operations.forget import purge

            with refused:
                purge(here, Doomed(texts=("RabbitMQ",)), yes=True)
        assert [one.role for one in other.deployments("shop")] == ["primary", "replica"]
        with pytest.raises(UsageError, match="edge leads shop"):
            one.remove("shop")
        one.demote("shop")
        assert other.promote("shop").holder == "rack"
        with other.memory("shop") as there:
            there.session("t").turn("user", "Rack leads. 现在由它写。")
        assert not [*check_log(one.log, row.memory)]
        one.remove("shop")
        with pytest.raises(UsageError, match="still holds shop"):
            other.leave()
        one.leave()
        with pytest.raises(UsageError, match="No memory 'other'"):
            one.memory("other")
    with Memory.open(folder, edge) as plain:
        plain.session("mine").turn("user", "Written here alone.")


@pytest.mark.cluster
def test_a_cache_never_leads_and_a_copy_is_made_anew(tmp_path: Path) -> None:
    folder = tmp_path / "edge" / "shop"
    edge, rack = machine(tmp_path, "edge"), machine(tmp_path, "rack")
    Memory.create(folder, name="shop", opening=edge).close()
    with Cluster.open(opening=edge) as one, Cluster.open(opening=rack) as other:
        one.deploy(folder)
        other.add("shop", tmp_path / "rack" / "shop", "cache")
        with pytest.raises(UsageError, match="rack cannot lead shop"):
            other.promote("shop")
        one.demote("shop")
        with other.memory("shop") as there, pytest.raises(NotPrimaryError):
            there.session("t")
        with one.memory("shop") as here:
            here.session("s").turn("user", "One.")
        with other.memory("shop") as there:
            relay(there).follow()
            (there.root / "short-term/session_s.jsonl").write_bytes(b"{}\n" * 99)
        with one.memory("shop") as here:
            here.session("s").turn("user", "Two.")
        with other.memory("shop") as there:
            relay(there).follow()  # What was edited is put aside.
            relay(there).position.mark_broken("record 7: it says another number")
        with other.memory("shop") as there, pytest.raises(DivergedError, match="deploy repair"):
            relay(there).follow()
        kept = other.repair("shop")
        assert [name.partition("session_")[2] for name in kept] == ["s.jsonl"]
        with other.memory("shop") as there, one.memory("shop") as here:
            assert digest_tree(there) == digest_tree(here)


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("KIMI_MEMORY", raising=False)
    return tmp_path


def test_commands_join_share_and_check(shell: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url = f"folder://{shell}/log"
    assert run(["node", "list"]) == 2
    assert "kimi-memory node join" in capsys.readouterr().err
    assert run(["node", "join", "--url", url, "--name", "edge", "--region", "asia"]) == 0
    text = (shell / "config/kimi_memory/config.toml").read_text(encoding="utf-8")
    assert f'url = "{url}"' in text
    assert run(["node", "join", "--url", "folder:///elsewhere"]) == 2
    assert "Leave that cluster" in capsys.readouterr().err
    assert run(["init", str(shell / "shop")]) == 0
    capsys.readouterr()
    assert run(["deploy", "add", "--memory", str(shell / "shop")]) == 0
    assert "shop is shared; edge takes the writes" in capsys.readouterr().out
    assert run(["deploy", "list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["role"] == "primary"
    assert run(["cluster", "status"]) == 0
    assert "primary edge, epoch 1" in capsys.readouterr().out
    assert run(["cluster", "check", "shop"]) == 0
    assert "The log is whole" in capsys.readouterr().out
    assert run(["node", "list"]) == 0
    assert "asia" in capsys.readouterr().out
    assert run(["deploy", "demote", "shop"]) == 0
    assert run(["deploy", "promote", "shop"]) == 0
    assert (
        run(["remember", "--memory", str(shell / "shop"), "Zephyrine Quillfeather sits here."]) == 0
    )
    capsys.readouterr()
    assert run(["cluster", "trim", "shop", "--dry-run"]) == 0
    assert "1 record would be destroyed" in capsys.readouterr().out
    assert run(["deploy", "repair", "shop", "--dry-run"]) == 0
    assert "snapshot at record" in capsys.readouterr().out
    purge = ["purge", "--memory", str(shell / "shop"), "--text", "Zephyrine Quillfeather"]
    assert run([*purge, "--yes"]) == 0
    said = capsys.readouterr().out
    assert "records of the change log" in said
    assert "proven     edge" in said
    assert run(["cluster", "check", "shop"]) == 0
    assert run(["deploy", "remove", "shop", "--dry-run"]) == 0
    assert "Would make" in capsys.readouterr().out
    assert run(["deploy", "remove", "shop"]) == 0
    assert run(["node", "leave"]) == 0


def test_a_dry_run_refuses_what_would_be_refused(
    shell: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shop, rack = shell / "shop", machine(shell, "rack")
    assert run(["node", "join", "--url", f"folder://{shell}/log", "--name", "edge"]) == 0
    assert run(["init", str(shop), "--name", "茶馆"]) == 0
    assert run(["deploy", "add", "--memory", str(shop)]) == 0
    with Cluster.open(opening=rack) as other:
        other.join()
        other.add("茶馆", shell / "rack" / "shop", "cache")
    capsys.readouterr()
    for line in (
        "add 茶馆 --folder",
        "remove 茶馆",
        "promote 茶馆 --on rack",
        "promote 茶馆 --on far",
    ):
        words = [
            "deploy",
            *line.split(),
            *([str(shell / "new")] if line.endswith("folder") else []),
        ]
        assert run([*words, "--dry-run"]) == UsageError.exit_code
        said = capsys.readouterr()
        assert run(words) == UsageError.exit_code and capsys.readouterr() == said
    assert run(["deploy", "demote", "茶馆", "--dry-run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["would"].startswith("Would have edge take no writes")
    with Cluster.open(opening=machine(shell, "third")) as third:
        third.join()
        with pytest.raises(UsageError, match="is no empty folder"):
            third.add("茶馆", shop)


def test_a_log_that_is_not_whole_is_told(tmp_path: Path) -> None:
    edge = machine(tmp_path, "edge")
    Memory.create(tmp_path / "edge" / "shop", name="shop", opening=edge).close()
    with Cluster.open(opening=edge) as one:
        row = one.deploy(tmp_path / "edge" / "shop")
        path = next((tmp_path / "log/logs").rglob(f"{2:020d}.json"))
        record = json.loads(path.read_bytes())
        path.write_text(json.dumps(record | {"epoch": 0, "prev": "no", "txn": "epoch-1"}))
        found = "\n".join(check_log(one.log, row.memory))
    assert "record 2 does not name the one before it" in found
    assert "record 2 is of epoch 0, after 1" in found
    assert "record 2 repeats epoch-1 of record 1" in found


def test_a_log_of_a_stranger_leads_nowhere_else(tmp_path: Path) -> None:
    shell, log, opening = tmp_path, tmp_path / "log", machine(tmp_path, "edge")
    for folder in ("shop", "other"):
        Memory.create(shell / folder, name=folder, opening=opening).close()
    with Cluster.open(opening=opening) as cluster:
        cluster.join()
        row = cluster.deploy(shell / "shop")
        cluster.registry.put_deployment(replace(row, folder=str(shell / "other")))
        with pytest.raises(UsageError, match="is no deployment of"):
            cluster.remove("shop")
        cluster.registry.put_deployment(replace(row, memory="../../out"))
        with pytest.raises(UsageError, match="names a memory"):
            cluster.deployments()
        assert not (shell / "out").exists()
        cluster.registry.drop_deployment("../../out", row.node)
        (shell / "secret").write_bytes(b"not yours")
        with pytest.raises(KeyError):
            cluster.log.get_blob(row.memory, "../../../../secret")
        for text in (
            "",
            "[]",
            "7",
            '["a", 7]',
            json.dumps(["a", "[]"]),
            json.dumps(["a", '{"name": 7}']),
        ):
            (log / "tables/nodes/zz.json").write_text(text, encoding="utf-8")
            with pytest.raises(UsageError, match=r"is no row of a log|has a damaged row"):
                cluster.nodes()
        next((log / "logs").glob("*/lease.json")).write_text("{}", encoding="utf-8")
        with pytest.raises(UsageError, match="is damaged"):
            cluster.state(row.memory)


@pytest.mark.cluster
def test_a_folder_takes_nothing_under_the_name_of_another_node(tmp_path: Path) -> None:
    edge, rack = machine(tmp_path, "edge"), machine(tmp_path, "rack")
    nobody = Opening(home=Home(tmp_path / "x/config", tmp_path / "x/state"), background=False)
    folder = tmp_path / "shop"
    Memory.create(folder, name="shop", opening=edge).close()
    with Cluster.open(opening=edge) as one:
        one.join()
        one.deploy(folder)
        id = one.registry.find("shop")
        records = len(one.log.read(id, 0))
        for opening, why in ((rack, "that of node edge, and .* says rack"), (nobody, r"no \[clu")):
            with Memory.open(folder, opening) as memory:
                with pytest.raises(NotPrimaryError, match=why):
                    memory.session("s")
                assert not memory.recall("anything").hits
        assert len(one.log.read(id, 0)) == records
        with one.memory("shop") as memory:
            memory.remember("The queue is RabbitMQ.")


def test_a_node_that_follows_can_be_forked(tmp_path: Path) -> None:
    edge, rack = machine(tmp_path, "edge"), machine(tmp_path, "rack")
    with Memory.create(tmp_path / "shop", name="shop", opening=edge) as memory:
        memory.remember("The port is 8080.", key="port")
        id = memory.settings.memory.id
    with Cluster.open(opening=edge) as one, Cluster.open(opening=rack) as other:
        one.join()
        other.join()
        one.deploy(tmp_path / "shop")
        other.add("shop", tmp_path / "rack" / "shop")
        records = len(one.log.read(id, 0))
        with other.memory("shop") as copy:
            made = make_fork(copy, tmp_path / "rack" / "mine", "mine")
        with Memory.open(tmp_path / "rack" / "mine", rack) as fork:
            assert fork.settings.memory.parent.startswith(f"{id}@") and made != id
            assert fork.recall("port").hits and fork.store.relay is None
            assert fork.remember("The queue is RabbitMQ.").counts == {"ADD": 1}
        assert len(one.log.read(id, 0)) == records


def test_the_table_of_deployments_tells_how_old_a_copy_is() -> None:
    rows = [
        DeploymentRow("m", "shop", "edge", role="primary", applied=9, lag_ms=40),
        DeploymentRow("m", "shop", "rack", applied=9, lag_ms=1200),
        DeploymentRow("m", "shop", "mac", role="cache", applied=7, lag_ms=41_000, why="gone"),
    ]
    edge, rack, mac = format_deployments(rows).splitlines()[1:]
    assert "in step  " in edge and "in step, lag 1,200 ms" in rack and "gone" in mac


@pytest.mark.cluster
def test_what_would_change_one_copy_behind_the_log_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edge = machine(tmp_path, "edge")
    folder = tmp_path / "shop"
    Memory.create(folder, name="shop", opening=edge).close()
    with Cluster.open(opening=edge) as one:
        one.join()
        with Memory.open(folder, edge) as memory:
            memory.remember("The port is 8080.", key="port")
            memory.batch.flush()
        one.deploy(folder)
    files = sorted(path for path in folder.rglob("*.md"))
    place = ["--memory", str(folder)]
    for line in (["merge", "--continue"], ["migrate", str(tmp_path / "moved")],
                 ["migrate", str(tmp_path / "moved"), "--yes"]):  # fmt: skip
        assert run([*line, *place]) == UsageError.exit_code, line
        assert "shared over a change log" in capsys.readouterr().err, line
    assert not (tmp_path / "moved").exists()
    assert sorted(path for path in folder.rglob("*.md")) == files


@pytest.mark.cluster
def test_a_memory_moves_to_another_node_once_that_has_all_of_it(
    tmp_path: Path, shell: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rack, folder = machine(tmp_path, "rack"), shell / "shop"
    url = f"folder://{tmp_path}/log"
    assert run(["node", "join", "--url", url, "--name", "edge"]) == 0
    assert run(["init", str(folder), "--name", "shop"]) == 0
    place = ["--memory", str(folder)]
    assert run(["deploy", "add", *place]) == 0
    with Cluster.open(opening=rack) as other, Cluster.open() as one:
        other.join()
        other.add("shop", tmp_path / "rack" / "shop")
        with kept_in_step(one, Opening(home=Home.of_user())), kept_in_step(other, rack):
            assert run(["remember", "We use PostgreSQL.", *place]) == 0
            capsys.readouterr()
            assert run(["deploy", "sync", "shop", "--to", "elsewhere"]) == UsageError.exit_code
            assert "does not hold" in capsys.readouterr().err
            assert run(["deploy", "sync", "shop", "--to", "rack"]) == 0
            assert "rack has record" in capsys.readouterr().out
            assert run(["remember", "The queue is RabbitMQ.", *place]) == 0
            assert run(["distill", *place]) == 0  # Jobs commit.
            capsys.readouterr()
            assert run(["deploy", "sync", "shop", "--to", "rack", "--since", "v1"]) == 0
            said = capsys.readouterr().out
            assert "Since v1: " in said and "files that differ" in said
            found = sync(one, "shop", "rack", since="v1")
            assert found.versions and any("semantic/" in path for path in found.files)
            assert not sync(one, "shop", "rack", since="HEAD").versions
            assert run(["deploy", "sync", "shop", "--to", "rack", "--since", "v999"]) != 0
            capsys.readouterr()
            assert run(["deploy", "migrate", "shop", "--to", "rack", "--dry-run"]) == 0
            assert "Would have rack take the writes" in capsys.readouterr().out
            assert run(["deploy", "migrate", "shop", "--to", "rack"]) == 0
            assert "rack takes the writes" in capsys.readouterr().out
            assert run(["deploy", "sync", "shop", "--to", "edge"]) == 0
            row = next(one for one in one.deployments("shop") if one.node == "rack")
            assert row.bytes > 0 and row.synced and row.durability == "replicated"


@pytest.mark.cluster
def test_a_folder_that_was_removed_stays_a_plain_copy_though_the_service_runs(
    tmp_path: Path,
) -> None:
    edge, rack = machine(tmp_path, "edge"), machine(tmp_path, "rack")
    Memory.create(tmp_path / "shop", name="shop", opening=edge).close()
    with Cluster.open(opening=edge) as one, Cluster.open(opening=rack) as other:
        one.join()
        other.join()
        one.deploy(tmp_path / "shop")
        folder = tmp_path / "rack" / "shop"
        other.add("shop", folder)
        with kept_in_step(one, edge), kept_in_step(other, rack):
            with one.memory("shop") as memory:
                memory.remember("We use PostgreSQL.")
            sync(one, "shop", "rack")
            other.remove("shop")
            with one.memory("shop") as memory:
                memory.remember("The queue is RabbitMQ.")
            time.sleep(3)  # The service writes its row anew each second.
        assert [row.node for row in one.deployments("shop")] == ["edge"]
        assert not (folder / ".kimi/deployment.json").exists()
    with Memory.open(folder, rack) as plain:
        plain.session("mine").turn("user", "Written here alone.")


@pytest.mark.cluster
def test_a_memory_moves_away_and_leaves_no_copy_behind(
    tmp_path: Path, shell: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rack, folder = machine(tmp_path, "rack"), shell / "shop"
    assert run(["node", "join", "--url", f"folder://{tmp_path}/log", "--name", "edge"]) == 0
    assert run(["init", str(folder), "--name", "shop"]) == 0
    assert run(["deploy", "add", "--memory", str(folder)]) == 0
    move = ["deploy", "migrate", "shop", "--to", "rack", "--no-copy"]
    with Cluster.open(opening=rack) as other, Cluster.open() as one:
        other.join()
        other.add("shop", tmp_path / "rack" / "shop")
        with kept_in_step(one, Opening(home=Home.of_user())), kept_in_step(other, rack):
            assert run(["remember", "We use PostgreSQL.", "--memory", str(folder)]) == 0
            # What a purge or an edit put aside is nowhere else: the copy stays, and is named.
            aside = folder / ".kimi/lost+found/mine.md"
            aside.parent.mkdir(exist_ok=True)
            aside.write_text("Nobody else has this.")
            assert run(move) == UsageError.exit_code
            assert "mine.md" in capsys.readouterr().err
            assert [row.node for row in other.deployments("shop")] == ["edge", "rack"]
            aside.unlink()
            assert run([*move, "--dry-run"]) == 0
            assert "folder of this machine would be removed" in capsys.readouterr().out
            assert folder.exists()
            assert run(move) == 0
            assert "The folder of this machine was removed." in capsys.readouterr().out
            with other.memory("shop") as there:
                there.remember("Rack has it all. 只剩这一份。")
                assert there.recall("PostgreSQL").hits
            time.sleep(1.5)
        assert [row.node for row in other.deployments("shop")] == ["rack"]
        assert not [*shell.glob("*shop*")] and not [*check_log(other.log, row_id(other))]


def row_id(cluster: Cluster) -> str:
    return cluster.registry.find("shop")


@contextmanager
def kept_in_step(cluster: Cluster, opening: Opening) -> Iterator[None]:
    """What 'kimi-memory cluster run' does, in a thread."""
    stop = threading.Event()
    service = Service(cluster, opening, lambda line: None)
    thread = threading.Thread(target=service.run, args=(stop.wait,))
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
