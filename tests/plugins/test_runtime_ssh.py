"""Agents on another machine: a real ssh to a real sshd, which is this machine by another door."""

from __future__ import annotations

import getpass
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.cli import run
from kimi_memory.cluster import Cluster
from kimi_memory.cluster.registry import Node
from kimi_memory.domain.agent_run import Limits, Program, Task
from kimi_memory.domain.placement_types import Capabilities
from kimi_memory.errors import UsageError
from kimi_memory.hooks.host import Host
from kimi_memory.runs import Runs
from kimi_memory.runs.profiles import Offer, publish_offer, read_surroundings
from kimi_memory.store.notes import sessions

PYTHON, SSHD = "/usr/bin/python3", "/usr/sbin/sshd"
pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.skipif(
        not (shutil.which("bwrap") and shutil.which("ssh") and Path(SSHD).exists()),
        reason="needs bubblewrap, ssh and sshd; 'make test-sandbox' installs them",
    ),
]
CONFIG = """
ListenAddress 127.0.0.1:{port}
HostKey {folder}/host
AuthorizedKeysFile {folder}/authorized
StrictModes no
UsePAM no
PidFile none
"""
CLIENT = """
Host rack-2
  HostName 127.0.0.1
  Port {port}
  User {user}
  IdentityFile {folder}/client
  UserKnownHostsFile /dev/null
  StrictHostKeyChecking no
  LogLevel ERROR
"""


@pytest.fixture
def rack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A machine rack-2 that ssh reaches, and the home of its user."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    home, folder = tmp_path / "rack-home", tmp_path / "ssh"
    for one in (home, folder, folder / "bin"):
        one.mkdir()
    for name in ("host", "client"):
        subprocess.run(
            ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True
        )
    entry = (
        f"export HOME={home} PATH={Path(sys.executable).parent}:$PATH; exec $SSH_ORIGINAL_COMMAND"
    )
    (folder / "authorized").write_text(f'command="{entry}" {(folder / "client.pub").read_text()}')
    values = {"port": port, "folder": folder, "user": getpass.getuser()}
    (folder / "sshd_config").write_text(CONFIG.format(**values))
    (folder / "config").write_text(CLIENT.format(**values))
    # ssh reads its settings from the home of the account, so they are named for it.
    ssh = shutil.which("ssh")
    (folder / "bin/ssh").write_text(f'#!/bin/sh\nexec {ssh} -F {folder}/config "$@"\n')
    (folder / "bin/ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}/bin:{os.environ['PATH']}")
    if not os.geteuid():
        Path("/run/sshd").mkdir(exist_ok=True)
    server = subprocess.Popen(
        [SSHD, "-D", "-e", "-f", folder / "sshd_config"], stderr=subprocess.DEVNULL
    )
    try:
        end = time.monotonic() + 20
        while True:
            with socket.socket() as one:
                if one.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert time.monotonic() < end and server.poll() is None
            time.sleep(0.02)
        yield home
    finally:
        server.terminate()
        server.wait()


@pytest.fixture
def joined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This machine as edge-1 of a cluster."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    url = f"folder://{tmp_path}/log"
    assert run(["node", "join", "--url", url, "--name", "edge-1"]) == 0


def make_program(code: str, **more: object) -> Program:
    return Program("away", (PYTHON, "-c", code), "ssh:rack-2", **more)


def test_an_agent_works_on_another_machine_and_its_words_come_back(
    memory: Memory, rack: Path
) -> None:
    memory.remember("The staging server is called heron.")
    code = (
        "import os, sys; block = open('context.md').read()\n"
        "print('heron' in block, os.getcwd(), os.environ['TOLD'], '完')\n"
        f"print(os.path.exists({str(memory.root)!r}), os.path.exists({str(rack)!r}))\n"
        "print('warned', file=sys.stderr); sys.exit(int(input().endswith('?')) and 3)"
    )
    program = make_program(code, context="file", env=("TOLD",))
    task = Task("t", prompt="What is the staging server called?")
    found = Runs(memory, {"TOLD": "x"}).run(task, program)
    assert (found.outcome, found.why, found.execution_node) == ("failed", "exit code 3", "rack-2")
    log = Runs(memory).read_log(found.id)
    assert log == "True /box x 完\nFalse False\n"
    assert Runs(memory).read_log(found.id, errors=True) == "warned\n"
    place = sessions.find(memory.store, found.session)
    assert sessions.read(memory.store, place.path).turns[1].text == log.strip()


@pytest.mark.parametrize("how", ["late", "stopped", "cut off"])
def test_an_agent_does_not_outlive_its_line(
    memory: Memory, rack: Path, tmp_path: Path, how: str
) -> None:
    shared = tmp_path / "shared"
    shared.mkdir(mode=0o777)
    shared.chmod(0o777)
    for one in (tmp_path, *tmp_path.parents):
        if one.stat().st_uid == os.geteuid() and one != Path("/"):
            one.chmod(one.stat().st_mode | 0o011)
    beat = str(shared / "beat")
    code = f"import time\nwhile True:\n  open({beat!r}, 'a').write('x'); time.sleep(.01)"
    limits = Limits(wall_s=2.0 if how == "late" else 60.0)
    program = make_program(code, roots=(f"rw:{shared}",), limits=limits)
    runs, ended = Runs(memory), []
    follower = threading.Thread(
        target=lambda: ended.append(runs.run(Task("t", prompt="Go."), program))
    )
    follower.start()
    (shared / "beat").touch(mode=0o666)
    (shared / "beat").chmod(0o666)
    while follower.is_alive() and how != "late" and not (shared / "beat").stat().st_size:
        time.sleep(0.02)
    if how == "stopped":
        runs.stop(next(one.id for one in runs.list_runs()))
    elif how == "cut off":
        os.kill(find_ssh(rack), signal.SIGKILL)
    follower.join(30)
    assert ended[0].outcome == "killed", ended
    sizes = [-2, -1]
    while sizes[-2] != sizes[-1]:
        time.sleep(0.2)
        sizes.append((shared / "beat").stat().st_size)
        assert len(sizes) < 50


def find_ssh(rack: Path) -> int:
    mark = str(rack.parent / "ssh/config").encode()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0].endswith(b"/ssh") and mark in words:
            return int(path.parent.name)
    raise AssertionError("no ssh runs")


def test_what_lies_here_is_not_over_there(memory: Memory, rack: Path, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(UsageError, match="on this machine"):
        Runs(memory).run(Task("t", prompt="Go."), make_program(""), tmp_path / "folder")
    # Over there the settings of its user are shown to nobody.
    program = make_program("print('in')", roots=(str(rack),))
    found = Runs(memory).run(Task("t", prompt="Go."), program)
    assert found.outcome == "failed" and "A sandbox cannot show" in Runs(memory).read_log(
        found.id, errors=True
    )
    with pytest.raises(UsageError, match="no host"):
        Host(entry_points=False).answer("open_runtime", name="ssh:-oProxyCommand=x")


def test_an_agent_goes_where_placement_says(
    memory: Memory, rack: Path, joined: None, capsys
) -> None:
    words = ["agent", "run", "away", "Go.", "--placed", "--security", "high", "--json"]
    words += ["--command", "hostname", "--memory", str(memory.root)]
    assert run(words) == 45
    with Cluster.open() as cluster:
        cluster.registry.put_node(Node("rack-2"))
        offer = Offer(capabilities=Capabilities(runtimes=("sandbox",)), endpoint="ssh:rack-2")
        publish_offer(Cluster(cluster.log, "rack-2", Opening()), offer)
    capsys.readouterr()
    assert run(words) == 0, capsys.readouterr().err
    found = json.loads(capsys.readouterr().out)
    assert (found["runtime"], found["execution_node"]) == ("ssh:rack-2", "rack-2")
    assert run(["agent", "logs", found["id"], "--memory", str(memory.root)]) == 0
    assert capsys.readouterr().out == "box\n"
    # Without a sandbox nothing of high security starts at all.
    words.remove("--placed")
    assert run(words) == 2 and "needs a sandbox" in capsys.readouterr().err


def test_the_way_to_another_machine_is_measured(rack: Path, joined: None, capsys) -> None:
    assert run(["place", "--offer", "--endpoint", "ssh:rack-2"]) == 0
    capsys.readouterr()
    assert run(["place", "--measure", "edge-1", "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert 0 < found["p50_ms"] <= found["p95_ms"] and found["n"] == 20
    with Cluster.open() as cluster:
        (known,) = read_surroundings(cluster).latencies
    assert known.p50_ms == found["p50_ms"]
