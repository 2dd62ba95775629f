"""Paths of a memory: which are safe, which hold truth, and how a folder is opened.

A path is relative to the memory folder, with forward slashes. Opening never follows
a link and never leaves the folder, whatever is swapped while we look.
"""

from __future__ import annotations

import ctypes
import errno
import os
import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from kimi_memory.domain.job import Change, Move
from kimi_memory.errors import StoreError, UnsafePathError

TIERS = ("short-term", "episodic", "mid-term", "semantic", "long-term")
"""The five folders of truth."""
PRIVATE = ".kimi"
"""The folder of everything machine-local."""
DEPLOYED = f"{PRIVATE}/deployment.json"
"""Makes a folder one of several that hold a memory; see `kimi_memory.store.deployment`."""
RECEIPTS = "short-term/recalls.jsonl"
"""What recall showed here: of this copy alone, though earlier versions committed it."""
KEPT = "+kept.jsonl"
"""Ends the name of a session that is kept on this node until its change log answers."""
TOMBSTONES = "mid-term/tombstones.jsonl"
"""What must not come back, a line each."""

_PATHS = 1 << 18
"""So many paths are remembered: fewer than a memory has would help a walk not at all."""
_NAMES = 1 << 12
"""So many names are remembered: those of folders come again and again."""
# On Windows "con.md" is the console, in whatever folder.
_DEVICES = frozenset(
    {"con", "prn", "aux", "nul", "conin$", "conout$"}
    | {f"{port}{n}" for port in ("com", "lpt") for n in "0123456789¹²³"}
)
# vim's 4913, Emacs' #note.md#, Office's ~$note, Safari's .sb-…
_PASSING = re.compile(
    r"~|.*~|#.*#|4913|.*\.sw[a-p]|.*\.(?:tmp|temp|part|crdownload|swp)|.*\.tmp[.\w-]*"
    r"|.*\.sb-[\w-]+|~\$.*"
)
_CONFLICT_MARK = re.compile(
    # Syncthing; ownCloud; Nutstore; Dropbox and Nextcloud in two languages; Obsidian Sync
    r"\.sync-conflict-\d{8}-\d{6}(?:-\w+)?|_conflict-\d{8}-\d{6}|-冲突-\d[\w-]*"
    r"| ?[(（][^()（）]*(?:conflicted copy|冲突副本|衝突副本|冲突文件|case conflict"
    r"|\bconflict \d{4}-)[^()（）]*[)）]",
    re.IGNORECASE,
)
# The readable view of an open session, made anew with every turn.
_VIEW = re.compile(r"short-term/[^/]+\.json")
# No link on the way may lead out of the memory, and no program that we start inherits it.
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# One number on all architectures, since Linux 5.6; the C library has no name for it.
_OPENAT2 = 437
_RESOLVE = 0x02 | 0x04 | 0x08  # no magic links, no symbolic links, beneath
_LINK_ERRORS = frozenset({errno.ELOOP, errno.ENOTDIR, errno.EXDEV})


@lru_cache(maxsize=1024)
def check(path: str) -> tuple[str, ...]:
    """Return the components of a safe path.

    Raises:
        UnsafePathError: it could leave the folder, or would mean something else to
            another system.
    """
    parts = tuple(path.split("/"))
    for part in parts:
        why = _component_fault(part)
        if why:
            raise UnsafePathError(path, why)
    return parts


def is_plain(path: str) -> bool:
    """Whether `check` takes the path."""
    return not any(map(_component_fault, path.split("/")))


@lru_cache(maxsize=_NAMES)
def _component_fault(part: str) -> str:
    """Say what is wrong with one component, or return an empty string."""
    if part in {"", ".", ".."}:
        return "it has an empty or dotted component"
    if part[0] in ".-":
        return "a component starts with a dot or a hyphen"
    return _bad_characters(part) or _bad_name(part)


def _bad_characters(part: str) -> str:
    if part.isprintable() and "\\" not in part and ":" not in part:
        return ""  # Nothing else is printable, and a start of a session asks for every file.
    # Both part a path on Windows; a newline would end a line of a journal.
    if any(c in "\\:" or unicodedata.category(c) == "Cc" for c in part):
        return "it has a control character, a backslash or a colon"
    if any("\ud800" <= c <= "\udfff" for c in part):
        return "it is not Unicode"
    return ""


def _bad_name(part: str) -> str:
    if len(part.encode()) > 255:
        return "a component is longer than 255 bytes"
    # macOS writes "é" as two characters: git would see two files.
    if not unicodedata.is_normalized("NFC", part):
        return "it is not in Unicode normal form C"
    if part[-1] in " .":
        return "a component ends in a space or a dot"
    if part.split(".", maxsplit=1)[0].rstrip().lower() in _DEVICES:
        return "a component is the name of a device on Windows"
    return ""


def fold(name: str) -> str:
    """Return the form under which names meet on systems that ignore case."""
    if name.isascii():  # Most names are, of the thousands in a folder.
        return name.casefold()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def is_passing(name: str) -> bool:
    """Whether a file name is one that editors and downloads use for a moment."""
    return _PASSING.fullmatch(name) is not None


def is_conflict_copy(path: str) -> bool:
    """Whether a file is the losing version that a sync tool leaves beside a file.

    It looks like a note, with the same id.
    """
    may_be = "onflict" in path or "冲突" in path or "衝突" in path
    return may_be and _CONFLICT_MARK.search(path.rpartition("/")[2]) is not None


def path_without_conflict(path: str) -> str:
    """Return the path of the file that a losing version lies beside."""
    folder, slash, name = path.rpartition("/")
    return f"{folder}{slash}{_CONFLICT_MARK.sub('', name)}"


def is_own(path: str) -> bool:
    """Whether a file of truth is this copy's alone, so that no log and no history has it."""
    return path == RECEIPTS or (path.startswith("short-term/") and path.endswith(KEPT))


@lru_cache(maxsize=_PATHS)
def is_truth(path: str) -> bool:
    """Whether a path holds truth: not hidden, not a view, not an editor's temporary."""
    return _holds_truth(path)


@lru_cache(maxsize=_PATHS)
def is_kept(path: str) -> bool:
    """Whether a path holds truth and is safe: whatever lies there as a plain file is kept."""
    return _holds_truth(path) and is_plain(path)


def _holds_truth(path: str) -> bool:
    if path.startswith(".") or "/." in path or is_passing(path.rpartition("/")[2]):
        return False
    return _VIEW.fullmatch(path) is None


def forget() -> None:
    """Give back what is remembered of names; it is found anew."""
    for known in (_component_fault, is_truth, is_kept):
        known.cache_clear()


class _How(ctypes.Structure):
    _fields_ = (
        ("flags", ctypes.c_uint64),
        ("mode", ctypes.c_uint64),
        ("resolve", ctypes.c_uint64),
    )


def _load_openat2() -> Callable[[int, str], int] | None:
    """Return the beneath-open of this kernel, or None where there is none."""
    if sys.platform != "linux":
        return None  # pragma: no cover  other systems walk
    libc = ctypes.CDLL(None, use_errno=True)
    how = _How(_DIRECTORY, 0, _RESOLVE)
    reference, size = ctypes.byref(how), ctypes.sizeof(how)
    syscall = libc.syscall

    def call(root: int, path: str) -> int:
        fd: int = syscall(_OPENAT2, root, os.fsencode(path), reference, size)
        if fd < 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), path)
        return fd

    return call


beneath = _load_openat2()


def open_folder(root: int, parts: Sequence[str]) -> int:
    """Open a folder of the memory whose folder is open as `root`.

    Raises:
        FileNotFoundError: it is not there.
        UnsafePathError: a component is a link or no folder.
    """
    path = "/".join(parts) or "."
    try:
        return _open_beneath(root, path, parts)
    except OSError as error:
        if error.errno in _LINK_ERRORS:
            raise UnsafePathError(path, "a component is a link or no folder") from error
        raise


def _open_beneath(root: int, path: str, parts: Sequence[str]) -> int:
    if len(parts) == 1 and "/" not in path and path != "..":
        # One name that is no link leads nowhere else, and `os.open` is the quicker call.
        return os.open(parts[0], _DIRECTORY, dir_fd=root)
    if beneath is not None:
        try:
            return beneath(root, path)
        except OSError as error:
            # EAGAIN: something was renamed meanwhile; the walk needs no such luck.
            if error.errno not in {errno.ENOSYS, errno.EPERM, errno.EAGAIN}:
                raise
    return walk(root, parts)


def walk(root: int, parts: Sequence[str]) -> int:
    """Open a folder component by component, following no link."""
    fd = os.open(".", _DIRECTORY, dir_fd=root)
    for part in parts:
        try:
            below = os.open(part, _DIRECTORY, dir_fd=fd)
        finally:
            os.close(fd)
        fd = below
    return fd


def paths_of(changes: Iterable[Change]) -> list[str]:
    """Return the checked paths that changes touch.

    Raises:
        UnsafePathError: a path is not safe.
        StoreError: a path is named twice, or is no place for truth.
    """
    found: list[str] = []
    for change in changes:
        found += [change.path, change.to] if isinstance(change, Move) else [change.path]
    for path in found:
        check(path)
        # Views and caches can be made anew at any time; staged, journaled and kept for undo is only
        # truth.
        if not is_truth(path):
            raise StoreError(f"{path} is a view or passing file; only truth is changed here.")
    twice = (
        {path for path in found if found.count(path) > 1} if len(set(found)) < len(found) else ()
    )
    if twice:
        raise StoreError(f"{', '.join(sorted(twice))}: one set of changes names it twice.")
    return found
