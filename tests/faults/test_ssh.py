"""Copies that meet over ssh: a real server of this machine, with a key of its own."""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.errors import RemoteError
from kimi_memory.operations.remotes import add_remote
from kimi_memory.operations.sync_remotes import SyncReport, sync_memory
from tests.test_copies import errors, git

SSHD = shutil.which("sshd", path="/usr/sbin:/usr/bin:/sbin:/usr/local/sbin")
pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(SSHD is None, reason="needs sshd: it is not installed"),
    pytest.mark.skipif(shutil.which("ssh") is None, reason="needs ssh: it is not installed"),
]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[int]:
    """The port of a server that lets one key in."""
    for name in ("host", "user", "stranger"):
        how = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / name)]
        subprocess.run(how, check=True)
    shutil.copy(tmp_path / "user.pub", tmp_path / "authorized")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = int(free.getsockname()[1])
    settings = {
        "ListenAddress": f"127.0.0.1:{port}",
        "HostKey": str(tmp_path / "host"),
        "AuthorizedKeysFile": str(tmp_path / "authorized"),
        "StrictModes": "no",
        "PasswordAuthentication": "no",
        "PidFile": "none",
    }
    text = "".join(f"{name} {value}\n" for name, value in settings.items())
    (tmp_path / "sshd_config").write_text(text, encoding="utf-8")
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)  # Where it gives up its rights.
    assert SSHD
    process = subprocess.Popen([SSHD, "-D", "-e", "-f", str(tmp_path / "sshd_config")])
    try:
        wait_for(port)
        yield port
    finally:
        process.terminate()
        process.wait()


def wait_for(port: int) -> None:
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    pytest.fail("the server did not start")


def use_key(root: Path, monkeypatch: pytest.MonkeyPatch, key: str, strict: str) -> None:
    """Reach servers with a key, as a person says it in the environment."""
    options = f"-o UserKnownHostsFile={root}/known -o StrictHostKeyChecking={strict}"
    monkeypatch.setenv("GIT_SSH_COMMAND", f"ssh -F none -i {root / key} {options}")


def sync(memory: Memory) -> SyncReport:
    [report] = sync_memory(memory)
    return report


def test_copies_meet_over_ssh(
    memory: Memory, server: int, tmp_path: Path, opening: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(tmp_path, "init", "-q", "--bare", "-b", "main", "hub.git")
    url = f"ssh://{getpass.getuser()}@127.0.0.1:{server}{tmp_path}/hub.git"
    add_remote(memory, "hub", url)
    memory.remember("Ann likes tea.", key="ann.tea")
    use_key(tmp_path, monkeypatch, "user", "yes")
    unknown = sync(memory)
    assert unknown.code == RemoteError.exit_code
    assert "Connect once with ssh yourself" in unknown.failed
    use_key(tmp_path, monkeypatch, "stranger", "accept-new")
    strange = sync(memory)
    assert strange.code == RemoteError.exit_code
    assert "Add your key to an ssh agent" in strange.failed
    use_key(tmp_path, monkeypatch, "user", "yes")
    assert sync(memory).sent
    git(tmp_path, "clone", "-q", "hub.git", "b")
    own = replace(opening, home=Home(tmp_path / "config-b", tmp_path / "state-b"))
    with Memory.open(tmp_path / "b", own) as other:
        add_remote(other, "hub", url)
        other.remember("Bob likes coffee.", key="bob.drink")
        memory.remember("Cleo likes water.", key="cleo.drink")
        assert sync(memory).sent
        assert sync(other).received
        assert sync(memory).received
        assert not sync(other).failed
        assert memory.history.head() == other.history.head()
        assert errors(other) == []
    assert errors(memory) == []
