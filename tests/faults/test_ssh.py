"""Copies that meet over ssh: a real server of this machine, with a key of its own."""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import sys
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


def kimi(root: Path, name: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the program as the owner of a memory does, with settings of their own."""
    homes = {f"XDG_{one}_HOME": f"{root}/{name}-{one}" for one in ("CONFIG", "STATE")}
    command = [sys.executable, "-m", "kimi_memory", *words]
    around = {**os.environ, **homes}
    return subprocess.run(
        command, env=around, cwd=root, capture_output=True, text=True, check=False
    )


@pytest.fixture
def program(tmp_path: Path) -> str:
    """How the program is called on the server, whose owner keeps their settings elsewhere."""
    homes = (f"XDG_{one}_HOME={tmp_path}/there-{one}" for one in ("CONFIG", "STATE"))
    around = f"PYTHONPATH={Path(__file__).parents[2]} {' '.join(homes)}"
    # A shell that greets: what it says is no answer.
    return f"echo hello; cd {tmp_path}; {around} {sys.executable} -m kimi_memory"


def test_a_memory_moves_over_ssh_and_is_checked_there_before_it_is_closed_here(
    memory: Memory, server: int, program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.remember("Ann likes tea.", key="ann.tea")
    memory.remember("部署端口是 8443。", key="deploy.port")
    memory.batch.flush()
    memory.close()
    place = tmp_path / "there it is"
    url = f"ssh://{getpass.getuser()}@127.0.0.1:{server}{tmp_path}/there%20it%20is"
    to = ("migrate", url, "--memory", str(memory.root), "--program", program)

    use_key(tmp_path, monkeypatch, "stranger", "accept-new")
    strange = kimi(tmp_path, "here", *to, "--yes")
    assert strange.returncode == RemoteError.exit_code, strange.stderr
    assert "Add your key to an ssh agent" in strange.stderr
    use_key(tmp_path, monkeypatch, "user", "yes")
    absent = kimi(tmp_path, "here", *to[:-1], "kimi-memory-of-nobody", "--yes")
    assert absent.returncode == RemoteError.exit_code
    assert "was not found there" in absent.stderr
    tried = kimi(tmp_path, "here", *to)
    assert tried.returncode == 0, tried.stderr
    assert "add --yes" in tried.stdout
    assert not place.exists()
    (place / "x").mkdir(parents=True)
    taken = kimi(tmp_path, "here", *to, "--yes")
    assert taken.returncode == RemoteError.exit_code
    assert "is not empty" in taken.stderr
    shutil.rmtree(place)
    assert kimi(tmp_path, "here", "remember", "Bob likes coffee.", *to[2:4]).returncode == 0

    done = kimi(tmp_path, "here", *to, "--yes")
    assert done.returncode == 0, done.stderr
    assert "the answers to its own questions" in done.stdout
    late = kimi(tmp_path, "here", "remember", "Too late.", *to[2:4])
    assert late.returncode == 35
    assert url in late.stderr
    there = ("--memory", str(place))
    assert "coffee" in kimi(tmp_path, "there", "recall", "Bob", *there).stdout
    assert "8443" in kimi(tmp_path, "there", "recall", "部署端口", *there).stdout
    assert kimi(tmp_path, "there", "verify", *there).returncode == 0
    assert "moved" not in (place / "memory.toml").read_text("utf-8")

    assert kimi(tmp_path, "here", "migrate", "--back", *to[2:4]).returncode == 0
    assert kimi(tmp_path, "here", "remember", "Cleo likes water.", *to[2:4]).returncode == 0
    base = git(place, "rev-parse", "HEAD")
    again = kimi(tmp_path, "here", *to, "--keep-source", "--since", base)
    assert again.returncode == 0, again.stderr
    assert "its history has this one" in again.stdout
    assert kimi(tmp_path, "there", "verify", *there).returncode == 0
    itself = f"ssh://{getpass.getuser()}@127.0.0.1:{server}{memory.root}"
    loop = kimi(tmp_path, "here", "migrate", itself, *to[2:], "--yes")
    assert loop.returncode == 2, loop.stderr
    assert "is this very memory" in loop.stderr
    assert kimi(tmp_path, "here", "remember", "It takes writes.", *to[2:4]).returncode == 0
