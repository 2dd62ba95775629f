"""``node`` and ``deploy``: keys of machines, sealed logs, where a machine is served."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from kimi_memory.cli import run
from kimi_memory.cluster import Cluster
from kimi_memory.errors import RemoteError

pytest.importorskip("cryptography", reason="needs kimi-memory[cluster]")
pytest.importorskip("pyrage", reason="needs kimi-memory[cluster]")


def use(base: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Be the user of a machine."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(base / name / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(base / name / "state"))


def join(base: Path, name: str, monkeypatch: pytest.MonkeyPatch, *more: str) -> int:
    use(base, name, monkeypatch)
    return run(["node", "join", "--url", f"folder://{base}/log", "--name", name, *more])


def test_a_machine_says_where_it_is_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert join(tmp_path, "a", monkeypatch, "--address", "edge.example") == 2
    assert "is no address" in capsys.readouterr().err
    assert join(tmp_path, "a", monkeypatch, "--dry-run") == 0
    assert capsys.readouterr().out == f"Would join folder://{tmp_path}/log as a.\n"
    assert not (tmp_path / "log").exists() and not (tmp_path / "a" / "config").exists()
    assert join(tmp_path, "a", monkeypatch, "--address", "https://edge.example:8378") == 0
    path = tmp_path / "a" / "config" / "kimi_memory" / "config.toml"
    assert tomllib.loads(path.read_text())["cluster"]["address"] == "https://edge.example:8378"
    with Cluster.open() as cluster:
        assert cluster.nodes()[0].address == "https://edge.example:8378"
    assert join(tmp_path, "a", monkeypatch) == 0
    assert join(tmp_path, "a", monkeypatch, "--address", "https://other.example") == 2
    assert "this machine is a node already" in capsys.readouterr().err


AWAY = "postgres://nobody@127.0.0.1:1/x"
COMMANDS = (
    "node list", "node key", "node trust b", "node leave", "cluster status", "cluster check shop",
    "cluster trim shop", "deploy list", "deploy promote shop", "deploy sync shop --to b",
    "deploy add shop --folder new --dry-run", "place", "place --latency b=3",
    "fork --name trial --on b --memory shop", "fleet consolidate daily",
    "agent run a Hello --command true --placed --memory shop", "purge --text x --yes --memory shop",
    "exec grant run-1 --elsewhere --methods exec.run --memory shop", "agent identity --memory shop",
)  # fmt: skip


@pytest.mark.parametrize("line", COMMANDS)
def test_an_engine_that_is_away_is_said_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], line: str
) -> None:
    pytest.importorskip("psycopg", reason="needs kimi-memory[cluster]")
    monkeypatch.chdir(tmp_path)
    assert join(tmp_path, "a", monkeypatch) == run(["init", "shop", "--name", "shop"]) == 0
    assert run(["deploy", "add", "--memory", "shop"]) == 0
    path = tmp_path / "a" / "config" / "kimi_memory" / "config.toml"
    path.write_text(path.read_text().replace(f"folder://{tmp_path}/log", AWAY))
    capsys.readouterr()
    code = run(line.split())
    said = capsys.readouterr().err
    # Who the memory is stands in its own files, and the key of a machine beside its settings.
    if line.startswith(("agent identity", "node key")):
        assert code == 0
    else:
        assert code == RemoteError.exit_code and said.count("\n") == 1
        assert f"{AWAY}: " in said and said.endswith("then retry.\n")


def test_a_log_that_cannot_be_there_is_kept_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    use(tmp_path, "a", monkeypatch)
    (tmp_path / "file").touch()
    for url in (f"folder://{tmp_path}/file/log", "postgres://nobody@127.0.0.1:1/x"):
        assert run(["node", "join", "--url", url, "--name", "a"]) == RemoteError.exit_code
        assert capsys.readouterr().err.count("\n") == 1
        path = tmp_path / "a" / "config" / "kimi_memory" / "config.toml"
        assert "[cluster]" not in (path.read_text() if path.exists() else "")
    assert run(["node", "join", "--url", "蛤蟆", "--name", "a"]) == 2
    assert "Write postgres://, s3://, nats:// or folder://." in capsys.readouterr().err


def test_a_sealed_memory_is_shared_with_those_whose_keys_were_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert join(tmp_path, "b", monkeypatch) == 0
    capsys.readouterr()
    assert run(["node", "key"]) == 0
    line, shown = capsys.readouterr().out.splitlines()
    assert line.startswith("ssh-ed25519 ") and line.endswith(" b")
    assert join(tmp_path, "a", monkeypatch) == 0
    capsys.readouterr()
    assert run(["node", "trust", "b", "--dry-run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["fingerprint"] == shown
    assert run(["node", "trust", "b", *line.split()[:2]]) == 0
    assert run(["node", "trust", "b", "ssh-ed25519", "AAAA"]) == 2
    assert run(["node", "trust", "a"]) == 2
    assert run(["node", "trust", "nobody"]) == 2
    assert "nobody has no key" in capsys.readouterr().err
    assert run(["init", str(tmp_path / "a/shop"), "--name", "shop"]) == 0
    assert run(["--memory", str(tmp_path / "a/shop"), "deploy", "add", "--sealed"]) == 0
    use(tmp_path, "b", monkeypatch)
    capsys.readouterr()
    assert run(["deploy", "add", "shop", "--folder", str(tmp_path / "b/shop")]) == 47
    assert "'kimi-memory deploy seal NAME --to b'" in capsys.readouterr().err
    use(tmp_path, "a", monkeypatch)
    assert run(["deploy", "seal", "shop", "--to", "b", "--dry-run"]) == 0
    assert "a, b could read what is sealed" in capsys.readouterr().out
    assert run(["deploy", "seal", "shop", "--to", "b"]) == 0
    assert "The log of shop is sealed with key 1; a, b can read" in capsys.readouterr().out
    use(tmp_path, "b", monkeypatch)
    assert run(["deploy", "add", "shop", "--folder", str(tmp_path / "b/shop")]) == 0
    capsys.readouterr()
    assert run(["cluster", "check", "shop"]) == 0
    assert "It is sealed; a, b can read it." in capsys.readouterr().out
    use(tmp_path, "a", monkeypatch)
    capsys.readouterr()
    assert run(["deploy", "seal", "shop", "--without", "b", "--json"]) == 0
    sealed = json.loads(capsys.readouterr().out)
    assert (sealed["key"], sealed["nodes"]) == (2, ["a"])
