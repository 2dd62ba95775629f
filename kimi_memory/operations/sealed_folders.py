"""Sealed folders: gocryptfs keeps what lies in them encrypted, age says who can open them.

A sealed folder holds ``data``, which gocryptfs encrypted with a random passphrase, ``key.age``,
that passphrase for its recipients, and ``recipients``. A memory lies in the open folder, with its
history and all that is derived from it.
"""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from kimi_memory.errors import UsageError
from kimi_memory.operations.encryption import (
    decrypt_bytes,
    encrypt_bytes,
    read_lines,
    read_recipients,
)
from kimi_memory.operations.new_folders import borrow_folder
from kimi_memory.store.files.outside import write_whole

DATA, KEY, RECIPIENTS = "data", "key.age", "recipients"
# Mounting may ask a slow disk; longer, and a program is waiting for a password.
_SECONDS = 60.0
_MOUNTS = Path("/proc/self/mountinfo")
_SYSTEM = "fuse.gocryptfs"
_PROGRAM = "gocryptfs"


class SealedPlace(NamedTuple):
    """The sealed folder that something lies in, while it is open."""

    folder: str
    recipients: tuple[str, ...]
    """Public keys of who can open it; none where gocryptfs was used without us."""


class _Mount(NamedTuple):
    point: str
    system: str
    source: str


def create_sealed(root: Path, recipients: Sequence[str]) -> bytes:
    """Make a sealed folder for some recipients; return the passphrase, which is kept nowhere else.

    Args:
        root: a new or empty folder.
        recipients: each ``age1…``, a line of an SSH public key, or a file with such lines.

    Raises:
        UsageError: a recipient is none, the folder is not empty, or a program is missing.
    """
    lines = check_new(root, recipients)
    _make_empty(root)
    (root / DATA).mkdir()
    passphrase = secrets.token_urlsafe(48).encode()
    _run([_PROGRAM, "-q", "-init", str(root / DATA)], passphrase)
    _write_key(root, passphrase, lines)
    return passphrase


def check_new(root: Path, recipients: Sequence[str]) -> list[str]:
    """Return the keys of those who could open a new sealed folder.

    Raises:
        UsageError: as `create_sealed`.
    """
    if not recipients:
        raise UsageError("A sealed folder needs a recipient. Give --to with a public key.")
    lines = [line for text in recipients for line in read_lines(text)]
    read_recipients(lines)
    _check_empty(root)
    # Looked for before: a folder that was begun is not empty any more.
    if shutil.which(_PROGRAM) is None:
        raise _missing(_PROGRAM)
    return lines


def open_sealed(root: Path, mount: Path, identity: Path) -> None:
    """Show what a sealed folder holds in an empty folder, to this user alone.

    Raises:
        UsageError: it is none, it is for others, or the folder is not empty.
    """
    _mount(root / DATA, mount, _read_key(root, identity))


def close_sealed(mount: Path) -> None:
    """Take the open folder away again; the files stay sealed.

    Raises:
        UsageError: nothing is open there, or a program has files of it open.
    """
    if not os.path.ismount(mount):
        raise UsageError(f"Nothing is open in {mount}. Name the folder given to 'sealed open'.")
    program = shutil.which("fusermount3") or shutil.which("fusermount")
    if program is None:
        raise UsageError("fusermount is missing. Install fuse3.")
    _run([program, "-u", str(mount)])


def find_sealed(path: Path) -> SealedPlace | None:
    """Return the sealed folder that a file or folder lies in; None where it lies in none.

    Args:
        path: of an open folder, or below one.
    """
    here = path.resolve()
    over = [one for one in _list_mounts() if here.is_relative_to(one.point)]
    nearest = max(over, key=lambda one: len(one.point), default=None)
    if nearest is None or nearest.system != _SYSTEM:
        return None
    root = Path(nearest.source).parent
    named = Path(nearest.source).name == DATA and (root / RECIPIENTS).is_file()
    return SealedPlace(str(root), tuple(list_recipients(root)) if named else ())


def list_recipients(root: Path) -> list[str]:
    """Return the public keys of those who can open a sealed folder."""
    _check_sealed(root)
    return list(read_lines(str(root / RECIPIENTS)))


def add_recipient(root: Path, recipient: str, identity: Path, *, dry_run: bool = False) -> None:
    """Let somebody open a sealed folder, by the key of one who can; with `dry_run`, only look.

    Raises:
        UsageError: that is no recipient, or the key is of nobody who can.
    """
    passphrase, before = _read_key(root, identity), list_recipients(root)
    added = [line for line in read_lines(recipient) if line not in before]
    read_recipients([*before, *added])
    if not dry_run:
        _write_key(root, passphrase, [*before, *added])


def remove_recipient(root: Path, recipient: str, identity: Path, *, dry_run: bool = False) -> None:
    """Keep somebody from what is written from now on: all of it is encrypted anew.

    What that one could read before may have been copied, with its key. With `dry_run`, only look.

    Raises:
        UsageError: that is no recipient, none would be left, or the folder is open.
    """
    before, gone = list_recipients(root), set(read_lines(recipient))
    left = [line for line in before if line not in gone]
    if len(left) == len(before):
        raise UsageError(f"{recipient[:80]!r} is no recipient of {root}. See 'sealed list'.")
    if not left:
        raise UsageError("Nobody could open it any more. Add another recipient before.")
    where = str((root / DATA).resolve())
    if any(one.source == where for one in _list_mounts()):
        raise UsageError(f"{root} is open. Close it with 'kimi-memory sealed close', then retry.")
    _read_key(root, identity)
    if dry_run:
        return
    fresh, old = (root.with_name(f".{root.name}.{name}") for name in ("new", "old"))
    shutil.rmtree(fresh, ignore_errors=True)
    with borrow_folder() as work:
        source, target = work / "from", work / "to"
        try:
            open_sealed(root, source, identity)
            # It is opened by its passphrase: whose key was given may be the one to go.
            _mount(fresh / DATA, target, create_sealed(fresh, left))
            shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)
        finally:
            for mount in (source, target):
                # What was never mounted cannot be closed; the first error is the one to tell.
                with suppress(UsageError):
                    close_sealed(mount)
    # In this order: at no moment is there neither the old nor the new.
    root.rename(old)
    fresh.rename(root)
    shutil.rmtree(old)


def _mount(data: Path, mount: Path, passphrase: bytes) -> None:
    _make_empty(mount)
    _run([_PROGRAM, "-q", str(data), str(mount)], passphrase)
    if not os.path.ismount(mount):
        raise UsageError(f"{mount} did not become what {data} holds. Look at the system's log.")


def _list_mounts() -> Iterator[_Mount]:
    """Yield what is mounted; nothing where the system does not say, as gocryptfs tells itself."""
    text = _MOUNTS.read_text("utf-8", "replace") if _MOUNTS.exists() else ""
    for line in text.splitlines():
        head, _, tail = line.partition(" - ")
        system, _, rest = tail.partition(" ")
        # Blanks are written as \040 there.
        point, source = (
            one.replace("\\040", " ") for one in (head.split(" ")[4], rest.partition(" ")[0])
        )
        yield _Mount(point, system, source)


def _check_sealed(root: Path) -> None:
    if not all((root / name).exists() for name in (DATA, KEY, RECIPIENTS)):
        raise UsageError(f"{root} is no sealed folder. Make one with 'kimi-memory sealed create'.")


def _check_empty(folder: Path) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is no empty folder. Choose a new one.")


def _make_empty(folder: Path) -> None:
    _check_empty(folder)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def _read_key(root: Path, identity: Path) -> bytes:
    _check_sealed(root)
    return decrypt_bytes((root / KEY).read_bytes(), identity, root / KEY)


def _write_key(root: Path, passphrase: bytes, recipients: Sequence[str]) -> None:
    sealed = encrypt_bytes(passphrase, read_recipients(recipients))
    for name, content in ((KEY, sealed), (RECIPIENTS, "\n".join([*recipients, ""]).encode())):
        with write_whole(root / name) as part:
            part.write_bytes(content)


def _missing(program: str) -> UsageError:
    return UsageError(f"{program} is missing. Install gocryptfs and fuse3.")


def _run(command: Sequence[str], given: bytes = b"") -> None:
    """Run a program; what it reads stands in no argument, which others could see."""
    try:
        done = subprocess.run(
            list(command), input=given + b"\n", capture_output=True, timeout=_SECONDS, check=False
        )
    except FileNotFoundError as error:
        raise _missing(command[0]) from error
    except subprocess.TimeoutExpired as error:
        raise UsageError(f"{command[0]} gave no answer in {_SECONDS:g} s. Retry.") from error
    if done.returncode:
        said = " ".join((done.stderr or done.stdout).decode("utf-8", "replace").split())[:300]
        raise UsageError(f"{command[0]} failed: {said or done.returncode}. Nothing was changed.")
