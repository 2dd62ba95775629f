"""A real HTTP server that speaks S3, with conditional writes, in a process of its own."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.request
from urllib.error import URLError


def find_program() -> str:
    """The server's program; empty where none is installed."""
    return os.environ.get("MOTO_SERVER", "") or shutil.which("moto_server") or ""


class Bucket:
    """One server with an empty bucket; `url` is the address of a log in it."""

    def __init__(self) -> None:
        with socket.socket() as spare:
            spare.bind(("127.0.0.1", 0))
            port = spare.getsockname()[1]
        self._process = subprocess.Popen(
            [find_program(), "-H", "127.0.0.1", "-p", str(port)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        endpoint = f"http://127.0.0.1:{port}"
        self.url = f"s3://key:secret@logs/shop?endpoint={endpoint}"
        end = time.monotonic() + 60
        while True:
            try:
                urllib.request.urlopen(urllib.request.Request(f"{endpoint}/logs", method="PUT"))
            except (URLError, ConnectionError):
                assert time.monotonic() < end, "the server does not answer"
                time.sleep(0.1)
            else:
                return

    def pause(self) -> None:
        os.kill(self._process.pid, signal.SIGSTOP)

    def go_on(self) -> None:
        os.kill(self._process.pid, signal.SIGCONT)

    def stop(self) -> None:
        self.go_on()
        self._process.kill()
        self._process.wait()
