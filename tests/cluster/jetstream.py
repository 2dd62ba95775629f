"""A real NATS server with JetStream, in a process of its own."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.request
from pathlib import Path
from urllib.error import URLError


def find_program() -> str:
    """The server's program; empty where none is installed."""
    return os.environ.get("NATS_SERVER", "") or shutil.which("nats-server") or ""


class Jetstream:
    """One server; `url` is the address of a log in it."""

    def __init__(self, folder: Path, *, sync: str = "sync_interval: always") -> None:
        port, monitor = _find_port(), _find_port()
        config = folder / "nats.conf"
        config.write_text(
            f"listen: 127.0.0.1:{port}\nhttp: 127.0.0.1:{monitor}\n"
            f'jetstream {{ store_dir: "{folder}/js"\n{sync} }}\n'
        )
        self._argv = [find_program(), "-c", str(config)]
        self._monitor = f"http://127.0.0.1:{monitor}"
        self.url = f"nats://127.0.0.1:{port}/shop?monitor={self._monitor}"
        self.start()

    def start(self) -> None:
        self._process = subprocess.Popen(
            self._argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        end = time.monotonic() + 30
        while True:
            try:
                urllib.request.urlopen(f"{self._monitor}/healthz").close()
            except (URLError, ConnectionError):
                assert time.monotonic() < end, "the server does not answer"
                time.sleep(0.02)
            else:
                return

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def pause(self) -> None:
        os.kill(self._process.pid, signal.SIGSTOP)

    def go_on(self) -> None:
        os.kill(self._process.pid, signal.SIGCONT)

    def stop(self) -> None:
        self.go_on()
        self.kill()


def _find_port() -> int:
    with socket.socket() as spare:
        spare.bind(("127.0.0.1", 0))
        return int(spare.getsockname()[1])
