"""What `deploy/` has for three nodes: the script runs for real, the files fit each other."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

DEPLOY = Path(__file__).parents[2] / "deploy"
NODES = ("node-1", "node-2", "node-3")
SECONDS = 120.0


class Nodes:
    """Three nodes by the script, each with a home of its own, over a log in a folder."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.running: dict[str, subprocess.Popen[bytes]] = {}

    def environ(self, node: str) -> dict[str, str]:
        home = self.base / node
        home.mkdir(exist_ok=True)
        named = {"KIMI_URL": f"folder://{self.base}/log", "KIMI_NODE": node, "KIMI_NAME": "shop",
                 "KIMI_FIRST": "node-1"}  # fmt: skip
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        return {"HOME": str(home), "PATH": path, "LC_ALL": "C.UTF-8", **named}

    def start(self, node: str) -> None:
        with (self.base / f"{node}.log").open("ab") as log:
            self.running[node] = subprocess.Popen(
                ["sh", str(DEPLOY / "start-node.sh")], env=self.environ(node), stdout=log,
                stderr=log, start_new_session=True, cwd=self.base / node,
            )  # fmt: skip

    def ask(self, node: str, *words: str) -> str:
        done = subprocess.run(
            ["kimi-memory", *words], env=self.environ(node), capture_output=True, text=True,
            check=False, cwd=self.base / node,
        )  # fmt: skip
        return done.stdout

    def rows(self, node: str) -> list[dict[str, Any]]:
        text = self.ask(node, "cluster", "status", "--json")
        return list(json.loads(text)) if text.startswith("[") else []

    def wait(self, node: str, what: str, fits: Any) -> list[dict[str, Any]]:
        end = time.monotonic() + SECONDS
        while not fits(rows := self.rows(node)):
            said = "".join(path.read_text() for path in self.base.glob("*.log"))
            assert time.monotonic() < end, f"{what}: {rows}\n{said}"
            time.sleep(0.3)
        return rows


@pytest.fixture
def nodes(tmp_path: Path) -> Iterator[Nodes]:
    made = Nodes(tmp_path)
    for node in NODES:
        made.environ(node)
    yield made
    for process in made.running.values():
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.mark.cluster
def test_three_nodes_start_by_the_script_and_survive_the_first(nodes: Nodes) -> None:
    for node in reversed(NODES):  # The others wait for the one that makes the memory.
        nodes.start(node)
    nodes.wait("node-1", "three deployments", lambda rows: len(rows) == 3 and any(
        row["role"] == "primary" for row in rows
    ))  # fmt: skip
    first = ["--memory", f"{nodes.base}/node-1/shop"]
    nodes.ask("node-1", "remember", "The queue is RabbitMQ.", *first)
    os.killpg(nodes.running["node-1"].pid, signal.SIGKILL)
    nodes.running.pop("node-1").wait()
    rows = nodes.wait("node-2", "another leads", lambda rows: any(
        row["role"] == "primary" and row["node"] != "node-1" for row in rows
    ))  # fmt: skip
    lead = next(row["node"] for row in rows if row["role"] == "primary")
    place = ["--memory", f"{nodes.base}/{lead}/shop"]
    assert "RabbitMQ" in nodes.ask(lead, "recall", "Which queue?", *place)
    nodes.start("node-1")
    nodes.wait("node-2", "the first follows", lambda rows: len({r["applied"] for r in rows}) == 1)
    assert "The log is whole" in nodes.ask(lead, "cluster", "check", "shop")


def test_the_files_name_what_is_there() -> None:
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    services = compose["services"]
    assert services.keys() == {"log", *NODES}
    needed = set(re.findall(r'"\$\{(\w+):\?\}"', (DEPLOY / "start-node.sh").read_text()))
    assert needed == {"KIMI_URL", "KIMI_NODE", "KIMI_NAME", "KIMI_FIRST"}
    for node in NODES:
        given = services[node]["environment"]
        assert needed <= given.keys() and given["KIMI_NODE"] == node
        assert given["KIMI_FIRST"] in NODES and f"{node}:/var/lib/kimi" in services[node]["volumes"]
        assert compose["volumes"].keys() >= {node}
        assert (DEPLOY.parent / services[node]["build"]["dockerfile"]).is_file()
    # No password in the file itself, nor in an address that messages show.
    text = (DEPLOY / "compose.yaml").read_text()
    assert "LOG_PASSWORD:?" in text and not re.search(r"://\w+:[^@]+@", text)
    copied = re.findall(r"COPY --\S+ (\S+)", (DEPLOY / "Dockerfile").read_text())
    assert copied == ["deploy/start-node.sh"] and (DEPLOY.parent / copied[0]).is_file()


def test_the_unit_is_one_that_systemd_takes(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("needs systemd-analyze")
    unit = tmp_path / "kimi-memory-cluster.service"
    text = (DEPLOY / unit.name).read_text()
    unit.write_text(text.replace("/opt/kimi-memory/bin/kimi-memory", "/bin/true"))
    done = subprocess.run(
        ["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and unit.name not in done.stderr, done.stderr
