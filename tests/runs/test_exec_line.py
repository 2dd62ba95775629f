"""Both ends of the protocol: over a program that carries lines, and over HTTPS."""

from __future__ import annotations

import http.client
import shutil
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kimi_memory.api.options import Home
from kimi_memory.domain.agent_run import Grant, Limits
from kimi_memory.errors import ServerError, UsageError
from kimi_memory.runs.exec_line import ExecLine
from kimi_memory.runs.exec_node import METHODS, name_node
from kimi_memory.runs.grants import GrantError, sign_grant

SERVE = (sys.executable, "-m", "kimi_memory", "exec", "serve")
pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.skipif(
        not (shutil.which("bwrap") and shutil.which("openssl")),
        reason="needs bubblewrap and openssl; 'make test-sandbox' installs them",
    ),
]


@pytest.fixture
def grant() -> str:
    home, until = Home.of_user(), datetime.now(UTC) + timedelta(minutes=5)
    one = Grant("grant-1", "run-1", "memory-1", 0, name_node(home), METHODS, until=until,
                limits=Limits(wall_s=20))  # fmt: skip
    return sign_grant(one, home.key())


def test_a_line_asks_a_node_and_measures_the_way(grant: str) -> None:
    with ExecLine.over_command(SERVE) as line:
        assert line.call("exec.run", grant=grant, argv=["echo", "你好"])["stdout"] == "你好\n"
        with pytest.raises(GrantError, match="no method") as caught:
            line.call("exec.shell")
        assert caught.value.code == -32601
        found = line.measure("here", "there", 5)
        assert 0 < found.p50_ms <= found.p95_ms < 1000
        assert (found.a, found.b, found.n) == ("here", "there", 5)


def test_an_answer_that_was_lost_is_asked_for_again(grant: str) -> None:
    with ExecLine.over_command(["head", "-c0"]) as cut, pytest.raises(ServerError, match="again"):
        cut.call("node.ping")
    argv = ["sh", "-c", "echo x >> n; wc -l < n"]
    for _ in range(2):
        with ExecLine.over_command(SERVE) as line:
            assert line.call("exec.run", "call-1", grant=grant, argv=argv)["stdout"] == "1\n"


def test_what_was_started_ends_with_its_line(grant: str) -> None:
    with ExecLine.over_command(SERVE) as line:
        argv = ["sh", "-c", "while true; do echo x >> beat; sleep 0.01; done"]
        call = line.call("exec.start", grant=grant, argv=argv)["call"]
        while "beat" not in line.call("fs.list", grant=grant, path=".")["content"]:
            time.sleep(0.01)
    with ExecLine.over_command(SERVE) as line:
        with pytest.raises(GrantError, match="ended with its node"):
            line.call("exec.poll", grant=grant, call=call)
        sizes = [-2, -1]
        while sizes[-2] != sizes[-1]:
            time.sleep(0.1)
            sizes.append(len(line.call("fs.read", grant=grant, path="beat")["content"]))
            assert len(sizes) < 50


@pytest.mark.parametrize("host", ["", "-oProxyCommand=touch x", "a b"])
def test_a_host_is_no_option_of_ssh(host: str) -> None:
    with pytest.raises(UsageError, match="no host"):
        ExecLine.over_ssh(host)


class Served:
    """A node behind HTTPS, and the certificates of everybody."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        for name in ("trusted", "stranger"):
            run_openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                        "-nodes", "-subj", f"/CN={name}", "-keyout", str(folder / f"{name}.key"),
                        "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost",
                        "-out", str(folder / f"{name}.pem"))  # fmt: skip
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]

    def file(self, name: str) -> Path:
        return self._folder / name

    def open(self, who: str) -> ExecLine:
        return ExecLine.over_https(
            f"https://127.0.0.1:{self.port}", own=self.file(f"{who}.pem"),
            key=self.file(f"{who}.key"), authority=self.file("trusted.pem"),
        )  # fmt: skip


def run_openssl(*words: str) -> None:
    subprocess.run(["openssl", *words], check=True, capture_output=True)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    pytest.importorskip("uvicorn")
    found = Served(tmp_path)
    words = ["--listen", f"127.0.0.1:{found.port}"]
    for name, file in (("certificate", "trusted.pem"), ("private", "trusted.key"),
                       ("clients", "trusted.pem")):  # fmt: skip
        words += [f"--{name}", str(found.file(file))]
    node = subprocess.Popen([*SERVE, *words])
    try:
        end = time.monotonic() + 30
        while True:
            with socket.socket() as one:
                if one.connect_ex(("127.0.0.1", found.port)) == 0:
                    break
            assert time.monotonic() < end and node.poll() is None
            time.sleep(0.05)
        yield found
    finally:
        node.terminate()
        assert node.wait(20) == 0


def test_a_node_answers_over_https_those_whose_certificate_it_knows(
    served: Served, grant: str
) -> None:
    with served.open("trusted") as line, served.open("trusted") as other:
        slow = threading.Thread(
            target=lambda: line.call("exec.run", grant=grant, argv=["sleep", "1"])
        )
        slow.start()
        # Who waits for a program keeps nobody else waiting, and what was started goes on.
        argv = ["sh", "-c", "sleep 0.2; echo 完"]
        call = other.call("exec.start", grant=grant, argv=argv)["call"]
        assert slow.is_alive()
        found = other.call("exec.poll", grant=grant, call=call, wait_ms=15_000)
        assert (found["exit"], found["stdout"]) == (0, "完\n")
        slow.join()
    with served.open("stranger") as line, pytest.raises(ServerError, match="cannot be reached"):
        line.call("node.ping")
    # Without any certificate there is no connection either.
    context = ssl.create_default_context(cafile=str(served.file("trusted.pem")))
    bare = http.client.HTTPSConnection("127.0.0.1", served.port, context=context)
    with pytest.raises(OSError):
        bare.request("POST", "/", "{}")
        bare.getresponse()
