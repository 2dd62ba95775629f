"""A real PostgreSQL in a temporary folder, run by an unprivileged user."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path


def find_programs() -> Path | None:
    """The folder of the newest server programs; None where none are installed."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda p: p.parts[-3])
    on_path = shutil.which("initdb")
    return found[-1].parent if found else (Path(on_path).parent if on_path else None)


def _user() -> str:
    """The user who runs the server: PostgreSQL refuses root."""
    if os.geteuid() != 0:
        return ""
    names = {one.pw_name for one in pwd.getpwall()}
    return next(name for name in ("postgres", "nobody") if name in names)


class Server:
    """One server with an empty database; `url` is its address."""

    def __init__(self, host: str = "127.0.0.1") -> None:
        programs = find_programs()
        assert programs is not None
        self._bin, self._host = programs, host
        self.folder = Path(tempfile.mkdtemp(prefix="kimi-memory-pg-"))
        user = _user()
        self._as = ["setpriv", f"--reuid={user}", "--clear-groups"] if user else []
        if user:
            os.chown(self.folder, pwd.getpwnam(user).pw_uid, -1)
        self.folder.chmod(0o700)
        self.port = _free_port()
        self._data = self.folder / "data"
        self._run(
            "initdb",
            "-D",
            str(self._data),
            "-A",
            "trust",
            "-U",
            "km",
            "--no-sync",
            "-E",
            "UTF8",
            "--locale=C",
        )
        with (self._data / "pg_hba.conf").open("a") as rules:
            rules.write("host all all 10.77.0.0/16 trust\n")
        self.process: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def url(self) -> str:
        return f"postgres://km@{self._host}:{self.port}/postgres"

    def start(self) -> None:
        options = [f"-p{self.port}", "-c", f"listen_addresses={self._host}", "-c", "fsync=on"]
        options += ["-c", f"unix_socket_directories={self.folder}", "-c", "shared_buffers=16MB"]
        command = [*self._as, str(self._bin / "postgres"), "-D", str(self._data), *options]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                command, stdout=log, stderr=log, cwd=self.folder, start_new_session=True
            )
        end = time.monotonic() + 30
        ready = [str(self._bin / "pg_isready"), "-q", "-h", self._host, "-p", str(self.port)]
        while subprocess.run(ready, check=False).returncode != 0:
            assert time.monotonic() < end, (self.folder / "log").read_text()
            time.sleep(0.02)

    def kill(self) -> None:
        """End the server at once, as a power cut of it would."""
        assert self.process is not None
        os.kill(self.process.pid, signal.SIGQUIT)
        self.process.wait()

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, name: str, *arguments: str) -> None:
        command = [*self._as, str(self._bin / name), *arguments]
        subprocess.run(command, check=True, capture_output=True, cwd=self.folder)


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
