"""Memories on their way to another machine over ssh, where the program there takes them in."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from kimi_memory.errors import RemoteError, UsageError
from kimi_memory.operations.copy_state import CopyState
from kimi_memory.operations.new_folders import borrow_folder
from kimi_memory.operations.take_in import Asked, TakenIn, write_stream
from kimi_memory.store.git.command import last_words
from kimi_memory.store.git.network import call_over_ssh, describe_failure
from kimi_memory.store.git.remotes import check_url

_SCHEME = "ssh://"
_MISSING = (126, 127)
# As ssh itself ends where no connection came about; other codes are of the command there.
_UNREACHABLE = 255
_HOME = re.compile(r"/~/(?=.)")


class SshPlace(NamedTuple):
    """A folder on another machine."""

    url: str
    server: str
    """As ssh takes it: ``user@host``."""
    port: int | None
    path: str
    """On that machine; one that does not begin with a slash lies in the home directory."""
    program: str
    """What kimi-memory is called there, in words of its shell."""

    def __str__(self) -> str:
        return self.url


def read_place(text: str, program: str = "kimi-memory") -> SshPlace | None:
    """Return the folder on another machine that a text names; None where it names none.

    Args:
        text: ``ssh://[user@]host[:port]/path``, or ``…/~/path`` for one in the home directory.
        program: what kimi-memory is called there.

    Raises:
        UsageError: it cannot be used.
    """
    if not text.startswith(_SCHEME):
        return None
    check_url(text)
    parts = urlsplit(text)
    try:
        port = parts.port
    except ValueError as error:
        raise UsageError(f"{text!r} names no port. Give {_SCHEME}host/path.") from error
    path = _HOME.sub("", unquote(parts.path), count=1)
    if not path.strip("/") or path.startswith(("/~", "-")) or not path.isprintable():
        raise UsageError(f"{text!r} names no folder. Give {_SCHEME}host/path.")
    user = f"{unquote(parts.username)}@" if parts.username else ""
    return SshPlace(text, f"{user}{parts.hostname}", port, path, program)


def send_memory(bundle: Path, place: SshPlace, asked: Asked, *, dry_run: bool) -> TakenIn:
    """Have the program on another machine take a memory in; return what it says of it.

    Args:
        bundle: holds the memory.
        place: where to.
        asked: what the copy is asked there.
        dry_run: have it made in a temporary folder there.

    Raises:
        RemoteError: the machine cannot be reached, or its program refused.
    """
    command = f"{place.program} migrate --receive {shlex.quote(place.path)}"
    command += " --dry-run" if dry_run else ""
    with borrow_folder() as work:
        write_stream(bundle, asked, work / "stream")
        with (work / "stream").open("rb") as stream:
            try:
                done = call_over_ssh(place.server, place.port, command, stream)
            except OSError as error:
                why = f"ssh could not be run ({error.strerror or error})"
                raise RemoteError(place.url, why, "Install OpenSSH, then retry") from error
    if done.code:
        raise _describe_refusal(place, done.code, done.err)
    return _read_answer(place, done.out)


def _describe_refusal(place: SshPlace, code: int, err: str) -> RemoteError:
    if code == _UNREACHABLE:
        return describe_failure(place.url, err)
    if code in _MISSING:
        remedy = "Install it there, or say with --program where it lies"
        return RemoteError(place.url, f"{place.program} was not found there", remedy)
    said = next((one for one in err.splitlines() if one.startswith("kimi-memory: ")), "")
    words = (said or last_words(err)).removeprefix("kimi-memory: ")
    # What a server says comes from elsewhere: one line, and no longer than a person reads.
    return RemoteError(place.url, words.strip()[:300], "Nothing was changed here")


def _read_answer(place: SshPlace, out: bytes) -> TakenIn:
    # The shell there may greet first.
    line = (out.strip().splitlines() or [b""])[-1]
    try:
        found = json.loads(line)
        return TakenIn(bool(found["merged"]), CopyState(**found["state"]))
    except (ValueError, TypeError, KeyError) as error:
        why, remedy = "its answer cannot be read", "Use the same version of kimi-memory there"
        raise RemoteError(place.url, why, remedy) from error
