"""Calls that reach other machines: they end in time, ask nobody, and run nothing of a folder."""

from __future__ import annotations

import shutil
import signal
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from kimi_memory.errors import HistoryError, RemoteError
from kimi_memory.store.git.history import History
from kimi_memory.store.git.network import Deadline, describe_failure
from kimi_memory.store.git.remotes import Remote
from tests.store.git.repositories import git


def list_heads(history: History, url: str, seconds: float = 20) -> tuple[str, str]:
    with history.merger().reach(Remote("hub", url), Deadline(seconds)) as there:
        return there.list_heads("abcdefgh")


@pytest.fixture
def silent_server() -> Iterator[int]:
    """A port where somebody listens and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture
def hub(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q", "--bare", "-b", "main", "hub.git")
    return tmp_path / "hub.git"


def test_a_server_that_never_answers_is_left_in_time(history: History, silent_server: int) -> None:
    begun = time.monotonic()
    with pytest.raises(RemoteError, match=r"did not answer within 0\.5 seconds.*--timeout"):
        list_heads(history, f"https://127.0.0.1:{silent_server}/mem.git", 0.5)
    assert time.monotonic() - begun < 10


def test_all_that_was_started_ends_with_it(
    history: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = tmp_path / "pid"
    program = tmp_path / "ssh"
    program.write_text(f"#!/bin/sh\necho $$ > {mark}\nexec sleep 600\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(program))
    with pytest.raises(RemoteError):
        list_heads(history, "ssh://nas/mem.git", 1)
    process = Path("/proc", mark.read_text("ascii").strip())
    for _ in range(100):
        with suppress(OSError):
            if " Z " in (process / "stat").read_text("ascii"):
                break
        if not process.exists():
            break
        time.sleep(0.05)
    else:
        pytest.fail("what git started is still running")


@pytest.fixture
def locked_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """An https server of this machine that wants a password for everything."""
    pem, name = tmp_path / "server.pem", "/CN=localhost"
    how = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", name]
    if not shutil.which("openssl"):
        pytest.skip("openssl is not installed")
    made = ["openssl", *how, "-keyout", str(pem), "-out", str(tmp_path / "cert.pem")]
    subprocess.run(made, check=True, capture_output=True)
    pem.write_text(pem.read_text("ascii") + (tmp_path / "cert.pem").read_text("ascii"), "ascii")
    monkeypatch.setenv("HOME", str(tmp_path))
    git(tmp_path, "config", "--global", "http.sslVerify", "false")

    class Locked(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="memories"')
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            return

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    with HTTPServer(("127.0.0.1", 0), Locked) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


def test_nobody_is_asked_for_a_password(
    history: History, tmp_path: Path, locked_server: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = tmp_path / "asked"
    asking = tmp_path / "ask"
    asking.write_text(f"#!/bin/sh\ntouch {mark}\necho secret\n", encoding="utf-8")
    asking.chmod(0o755)
    for name in ("GIT_ASKPASS", "SSH_ASKPASS"):
        monkeypatch.setenv(name, str(asking))
    with pytest.raises(RemoteError, match=r"could not read Username.*credential helper"):
        list_heads(history, f"https://localhost:{locked_server}/mem.git")
    assert not mark.exists()


def test_a_server_without_a_name_is_said_in_one_line(history: History) -> None:
    with pytest.raises(RemoteError, match=r"resolve") as raised:
        list_heads(history, "https://nowhere.invalid/mem.git")
    assert "\n" not in str(raised.value)
    assert "Look at the network" in str(raised.value)


def test_what_a_server_says_is_cut_to_a_line() -> None:
    said = describe_failure("hub", f"remote: {'x' * 9999}\nfatal: {'y' * 9999}\n")
    assert len(str(said)) < 400
    assert "\n" not in str(said)
    assert describe_failure("hub", "").why == "it gave no reason"
    err = "fatal: unable to access 'https://nas/x.git/': Failed to connect to nas port 443\n"
    assert "whether the server runs" in str(describe_failure("hub", err))


def test_without_git_the_remedy_is_named(history: History, hub: Path, monkeypatch) -> None:
    with history.merger().reach(Remote("hub", str(hub)), Deadline(20)) as there:
        monkeypatch.setenv("PATH", "/nowhere")
        with pytest.raises(HistoryError, match="git is not installed"):
            there.list_heads("abcdefgh")


def test_settings_of_a_person_reach_servers_by_another_name(
    history: History, hub: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    git(history.root, "push", "-q", str(hub), "main")
    git(tmp_path, "config", "--global", f"url.{tmp_path}/.insteadOf", "https://hub.invalid/")
    assert list_heads(history, "https://hub.invalid/hub.git")[0] == history.head()


def test_a_hook_of_git_that_calls_us_does_not_lead_elsewhere(
    history: History, hub: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    assert list_heads(history, str(hub)) == ("", "")


def test_a_call_that_is_interrupted_leaves_nothing_running(
    history: History, silent_server: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    try:
        with pytest.raises(KeyboardInterrupt):
            list_heads(history, f"https://127.0.0.1:{silent_server}/mem.git", 60)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert not any((history.root / ".kimi/remote").iterdir())
