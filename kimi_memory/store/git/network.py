"""Calls of git that reach other machines: bounded in time, without a prompt, failing in one line.

How a person reaches servers is their own affair: their global settings apply, with credential
helpers, ssh and proxies. What a folder says of it, nobody reads.
"""

from __future__ import annotations

import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import BinaryIO

from kimi_memory.errors import HistoryError, RemoteError
from kimi_memory.store.git.command import (
    FLAGS,
    MISSING,
    Git,
    Result,
    end_group,
    last_words,
    network_environment,
    ssh_command,
)

_SETTINGS = {
    # Objects from elsewhere are checked before any of them is kept.
    "fetch.fsckObjects": "true",
    "transfer.fsckObjects": "true",
    # As one pack, which is taken over as it is once it was looked through.
    "fetch.unpackLimit": "1",
    "fetch.recurseSubmodules": "no",
    "fetch.writeCommitGraph": "false",
    "submodule.recurse": "false",
    "push.followTags": "false",
    "push.gpgSign": "false",
    "push.recurseSubmodules": "no",
    "credential.interactive": "never",
    # To list the refs of the repository whose objects are borrowed, its settings would be read.
    "core.alternateRefsCommand": "true",
}
_LOCAL = {
    "core.hooksPath": "/dev/null",
    "core.alternateRefsCommand": "true",
    "core.fsmonitor": "false",
    "receive.autogc": "false",
    # Files of a working copy are its owner's to change; and its filters would run.
    "receive.denyCurrentBranch": "refuse",
}
"""What holds at the other end where that is a folder: nothing it names is run on this machine."""
_REMEDIES = (
    ("Could not resolve", "Look at the network and the name of the server, then retry"),
    ("not resolve host", "Look at the network and the name of the server, then retry"),
    ("Network is unreachable", "Retry when there is a network"),
    ("No route to host", "Retry when the server can be reached"),
    ("Connection refused", "Look whether the server runs, then retry"),
    ("ailed to connect", "Look whether the server runs, then retry"),
    ("onnection timed out", "Retry when the server can be reached"),
    ("Host key verification failed", "Connect once with ssh yourself, to accept its key"),
    ("Permission denied (", "Add your key to an ssh agent, and give it access there"),
    ("could not read Username", "Set up a credential helper of git for this server"),
    ("could not read Password", "Set up a credential helper of git for this server"),
    ("Authentication failed", "Renew what your credential helper of git keeps for this server"),
    ("dubious ownership", "Run as its owner, or add it to git's safe.directory"),
    ("insufficient permission", "Ask for the right to write there"),
    ("Permission denied", "Ask for the right to read and write there"),
    ("does not appear to be a git repository", "Make one there with 'git init --bare', or name it"),
    ("Repository not found", "Look at the URL, and whether you have access"),
    ("not found", "Look at the URL, and whether you have access"),
    ("does not exist", "Make it with 'git init --bare', or name the right one"),
    ("transport '", "Use https, ssh or a folder"),
    ("fsck error", "Somebody put damaged or hostile objects there; look before you trust it"),
    ("No space left", "Free some space, then retry"),
)


class Deadline:
    """A moment at which everything that is under way ends.

    Args:
        seconds: how long it may take in all.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """Return how many seconds are left, never less than none."""
        return max(0.0, self._end - time.monotonic())


def call_remote(git: Git, folder: Path, deadline: Deadline, *arguments: str) -> Result:
    """Run a command of git that talks to a remote; its failure is a result.

    Args:
        git: the repository that speaks.
        folder: of it; it is the work tree as well, as it has none.
        deadline: when it is stopped, with all that it started.
        arguments: the command.

    Raises:
        HistoryError: git is not there.
        TimeoutError: it did not end in time.
    """
    settings = [part for name, value in _SETTINGS.items() for part in ("-c", f"{name}={value}")]
    environment = network_environment() | git.variables | {"GIT_WORK_TREE": str(folder)}
    # Into files, not pipes: a connection that ssh keeps open behind us would hold a pipe open.
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        try:
            process = subprocess.Popen(
                ["git", *FLAGS, *settings, *arguments],
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                # Without a terminal ssh cannot ask for a password; and all of it can be ended.
                start_new_session=True,
            )
        except FileNotFoundError as error:
            raise HistoryError(MISSING) from error
        late = threading.Event()
        # A wait with a timeout looks again every few hundredths of a second; this wakes at once.
        timer = threading.Timer(deadline.left(), _end_late, (process, late))
        timer.start()
        try:
            process.wait()
        finally:
            timer.cancel()
            if process.returncode is None:  # an interrupt came first
                end_group(process)
                process.wait()
        if late.is_set():
            raise TimeoutError
        return Result(process.returncode, _read_all(out), _read_all(err).decode("utf-8", "replace"))


def call_over_ssh(server: str, port: int | None, command: str, feed: BinaryIO) -> Result:
    """Run a command on another machine; its failure is a result.

    Args:
        server: as ssh takes it, ``user@host``.
        port: of the server; None for the usual one.
        command: in words of the shell there.
        feed: a file that the command reads.

    Raises:
        OSError: ssh is not there.
    """
    # Nobody answers a question for a password or a key behind a job.
    asks = ("-o", "BatchMode=yes", "-o", "ConnectTimeout=30", "-o", "ServerAliveInterval=15", "-T")
    at = ("-p", str(port)) if port else ()
    done = subprocess.run(
        [*ssh_command(), *asks, *at, "--", server, command],
        stdin=feed,
        capture_output=True,
        check=False,
        env=network_environment(),
    )
    return Result(done.returncode, done.stdout, done.stderr.decode("utf-8", "replace"))


def local_programs(url: str) -> tuple[str, str]:
    """Return the options that name the programs at the other end; empty but for a folder."""
    if not url.startswith(("/", "file://")):
        return "", ""
    settings = " ".join(f"-c {name}={value}" for name, value in _LOCAL.items())
    return (
        f"--upload-pack=git {settings} upload-pack",
        f"--receive-pack=git {settings} receive-pack",
    )


def describe_failure(name: str, err: str) -> RemoteError:
    """Return the error of a remote: the words of git in one line, and what to do."""
    remedy = next((remedy for mark, remedy in _REMEDIES if mark in err), "Look at it with git")
    said = next((line for line in err.splitlines() if any(m in line for m, _ in _REMEDIES)), "")
    # What a server says comes from elsewhere: one line, and no longer than a person reads.
    words = (said or last_words(err)).removeprefix("fatal: ").removeprefix("remote: ")
    return RemoteError(name, words.strip()[:300], remedy)


def late_remote(name: str, deadline: Deadline) -> RemoteError:
    """Return the error of a remote that did not answer in time."""
    why = f"it did not answer within {deadline.seconds:g} seconds"
    return RemoteError(name, why, "Retry, or give it longer with --timeout")


def _end_late(process: subprocess.Popen[bytes], late: threading.Event) -> None:
    late.set()
    end_group(process)


def _read_all(file: BinaryIO) -> bytes:
    file.seek(0)
    return file.read()
