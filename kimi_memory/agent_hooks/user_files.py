"""Files and programs outside of memories: what a person lets us install on their machine."""

from __future__ import annotations

import contextlib
import difflib
import os
import shutil
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path

from kimi_memory.errors import DiskError, UsageError


def put(path: Path, text: str) -> None:
    """Give a file its text, whole or not at all.

    Raises:
        DiskError: the operating system refused.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(text.encode())
        part.replace(path)
    except OSError as error:
        # The first error is the one to tell; the part left over does no harm.
        with contextlib.suppress(OSError):
            part.unlink()
        raise DiskError(str(path), error, "Choose a place that you may write to") from error


def drop(path: Path) -> None:
    """Remove a file, if it is there.

    Raises:
        DiskError: the operating system refused.
    """
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise DiskError(str(path), error, "Remove it by hand") from error


def text_at(path: Path) -> str:
    """Return the text of a file; empty where the file is missing."""
    try:
        return path.read_bytes().decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        # Any byte survives the way through text, so a file in another encoding is kept as it was.
        return ""
    except OSError as error:
        raise DiskError(str(path), error, "Check its permissions") from error


def diff(old: str, new: str, name: str) -> str:
    """Return what would change in a file, as a unified diff."""
    names = (name if old else "/dev/null", name if new else "/dev/null")
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), *names, n=1, lineterm="")
    return "\n".join(lines)


def has(program: str) -> bool:
    """Whether a program is on the path."""
    return shutil.which(program) is not None


def call(argv: Sequence[str], given: str | None = None) -> tuple[int, str, str]:
    """Run a program; return its exit code, its output and its complaint.

    Raises:
        UsageError: there is no such program, or it does not answer.
    """
    if not has(argv[0]):
        raise UsageError(f"There is no {argv[0]} on this machine. Install it, or choose another.")
    sent = None if given is None else given.encode("utf-8", "surrogateescape")
    try:
        done = subprocess.run(list(argv), input=sent, capture_output=True, check=False, timeout=60)
    except subprocess.TimeoutExpired as error:
        raise UsageError(f"{argv[0]} did not answer within a minute. Try it by hand.") from error
    return (
        done.returncode,
        done.stdout.decode("utf-8", "surrogateescape"),
        done.stderr.decode("utf-8", "replace"),
    )


def converse(argv: Sequence[str], given: str, ends: str) -> str:
    """Return the lines a program answers, up to the one that holds `ends`; then it is ended.

    For programs that stop without an answer when their input ends.
    """
    # The program is killed at the answer or after a minute: some never end by themselves.
    lines: list[str] = []
    with subprocess.Popen(
        list(argv),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
    ) as process:
        patience = threading.Timer(60, process.kill)
        patience.start()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(given)
        process.stdin.flush()
        for line in process.stdout:
            lines.append(line)
            if ends in line:
                break
        process.kill()
        patience.cancel()
    return "".join(lines)
