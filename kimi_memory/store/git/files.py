"""Files of the memory folder that belong into history, and those that never do."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from kimi_memory.store.files.cache_files import put
from kimi_memory.store.files.disk import Stat, signature
from kimi_memory.store.files.paths import KEPT, PRIVATE, RECEIPTS
from kimi_memory.store.git.command import decode, encode

# Larger files are no notes, and every commit of one would stay in the history for ever.
LARGEST = 50 * 1024 * 1024
IGNORED = """\
# Derived or of this machine only; kimi_memory makes it again.
/.kimi/
/short-term/*.json
/short-term/recalls.jsonl

# Temporaries of editors and systems
*~
*.tmp
*.sw[a-p]
.#*
.~lock.*#
~$*
.goutputstream-*
.DS_Store
Thumbs.db
/.obsidian/workspace*.json
"""
"""What init writes to .gitignore; the same rules hold without that file."""

_ENDINGS = ("~", ".tmp", *(f".sw{letter}" for letter in "abcdefghijklmnop"))
_BEGINNINGS = (".#", ".~lock.", "~$", ".goutputstream-")
_NAMES = frozenset({"4913", ".DS_Store", "Thumbs.db"})
_DERIVED = re.compile(
    rf"{re.escape(RECEIPTS)}|short-term/(?:[^/]*\.json|session_[^/]*{re.escape(KEPT)})"
    r"|\.obsidian/workspace[^/]*\.json",
    re.DOTALL,
)
# Some file systems drop these characters from names, which turns others into .git.
_INVISIBLE = "\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff"
_DROPPED = re.compile(f"[{_INVISIBLE}]")
_SUSPECT = re.compile(f"git|[{_INVISIBLE}]", re.IGNORECASE)


@dataclass(slots=True)
class Scan:
    """What lies in the folder."""

    files: dict[str, Stat] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    """Path to reason, of what we leave out and the owner should know."""


def renew_ignored(root: Path) -> None:
    """Add the receipts to a .gitignore that an earlier version wrote."""
    path, rule, before = root / ".gitignore", f"/{RECEIPTS}\n".encode(), b"/short-term/*.json\n"
    text = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
    if before in text and rule not in text:
        spare = root / PRIVATE / path.name
        put(spare, text.replace(before, before + rule, 1), sync=True)
        spare.replace(path)


def refused_by_git(name: str) -> bool:
    """Whether git would refuse a file of this name, and with it the whole commit."""
    if not _SUSPECT.search(name):
        return False
    # On Windows a backslash begins a folder and a colon a stream of a file, so that either may hide
    # ".git".
    parts = re.split(r"[\\:]", _DROPPED.sub("", name))
    return any(part.rstrip(" .").casefold() in {".git", "git~1"} for part in parts)


def is_ignored(path: str) -> bool:
    """Whether our own rules keep a path out of history."""
    name = path.rpartition("/")[2]
    if name.endswith(_ENDINGS) or name.startswith(_BEGINNINGS) or name in _NAMES:
        return True
    if path.startswith(("short-term/", ".obsidian/")):
        return _DERIVED.fullmatch(path) is not None
    return name.startswith("#") and name.endswith("#")


def scan(root: Path) -> Scan:
    """Return the files that belong into history, and what was left out."""
    result = Scan()
    folders = [""]
    while folders:
        folders.extend(_scan_folder(encode(str(root)), folders.pop(), result))
    return result


def scan_paths(root: Path, paths: Iterable[str]) -> Scan:
    """Return what `scan` would find at these paths, without a look at any other."""
    result = Scan()
    apart = {".git": True, ".kimi": True}
    for path in paths:
        above = [path[:at] for at, sign in enumerate(path) if sign == "/"]
        for folder in above:
            if folder not in apart:
                apart[folder] = os.path.lexists(_full_path(root, f"{folder}/.git"))
        if not any(apart[folder] for folder in above):
            _look_at(root, path, result)
    return result


def _look_at(root: Path, path: str, result: Scan) -> None:
    try:
        found = os.lstat(_full_path(root, path))
    except OSError as error:
        _skip_broken(result, path, error)
        return
    if why := _skip_reason(path, found):
        result.skipped[path] = why
    elif stat.S_ISREG(found.st_mode) and not is_ignored(path):
        result.files[path] = signature(found)


def _full_path(root: Path, path: str) -> bytes:
    return os.path.join(encode(str(root)), encode(path))  # noqa: PTH118  bytes


def _scan_folder(root: bytes, folder: str, result: Scan) -> Iterator[str]:
    full = os.path.join(root, encode(folder))  # noqa: PTH118  bytes
    try:
        fd = os.open(full, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        _skip_broken(result, folder, error)
        return
    try:
        # From its folder, the state of a file costs half of what it costs from its path.
        with os.scandir(fd) as entries:
            yield from _scan_entries(list(entries), folder, result)
    except OSError as error:
        _skip_broken(result, folder, error)
    finally:
        os.close(fd)


def _scan_entries(entries: list[os.DirEntry[str]], folder: str, result: Scan) -> Iterator[str]:
    """Note the entries of a folder; yield the folders to go into."""
    # Git takes such a folder for a submodule, and refuses the commit.
    if folder and any(entry.name == ".git" for entry in entries):
        result.skipped[folder] = "another git repository"
        return
    prefix = f"{folder}/" if folder else ""
    for entry in entries:
        name = decode(os.fsencode(entry.name)) if not entry.name.isascii() else entry.name
        if not folder and name in {".git", ".kimi"}:
            continue
        if _scan_entry(entry, prefix + name, result):
            yield prefix + name


def _scan_entry(entry: os.DirEntry[str], path: str, result: Scan) -> bool:
    """Note an entry; return whether it is a folder to go into."""
    try:
        found = entry.stat(follow_symlinks=False)
    except OSError as error:
        _skip_broken(result, path, error)
        return False
    # Most files are notes with plain names, of which nothing else needs to be asked.
    if stat.S_ISREG(found.st_mode) and found.st_size <= LARGEST and _is_note(entry.name):
        result.files[path] = signature(found)
        return False
    why = _skip_reason(path, found)
    if why:
        result.skipped[path] = why
    elif stat.S_ISDIR(found.st_mode):
        return True
    elif not is_ignored(path):
        result.files[path] = signature(found)
    return False


def _is_note(name: str) -> bool:
    """Whether a file of this name belongs into history, in whatever folder it lies."""
    return name.endswith(".md") and name[0].isalnum() and not _SUSPECT.search(name)


def _skip_reason(path: str, found: os.stat_result) -> str:
    if refused_by_git(path.rpartition("/")[2]):
        return "a name that git refuses"
    if stat.S_ISDIR(found.st_mode):
        return ""
    if not stat.S_ISREG(found.st_mode):
        return "a symbolic link" if stat.S_ISLNK(found.st_mode) else "not a plain file"
    return "larger than 50 MB" if found.st_size > LARGEST else ""


def _skip_broken(result: Scan, path: str, error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        result.skipped[path] = f"unreadable ({error.strerror})"


def is_gone(root: Path, path: str, mode: str) -> bool:
    """Whether nothing git could mean by a path of this mode is there any more."""
    try:
        found = os.lstat(os.path.join(encode(str(root)), encode(path)))  # noqa: PTH118  bytes
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and mode != "160000"


def read_plain(root: Path, path: str) -> bytes | None:
    """Return the bytes of a plain file; None when it is gone or not plain any more."""
    full = os.path.join(encode(str(root)), encode(path))  # noqa: PTH118  bytes
    try:
        opened = os.open(full, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(opened, "rb") as file:
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            return None
        content = file.read(LARGEST + 1)
    return content if len(content) <= LARGEST else None


def write_absent(path: Path, text: str) -> None:
    """Write a file where there is none yet, and bring it to disk."""
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
    except FileExistsError:
        # A person's own stays as it is.
        return


def sync_repository(common: Path, folder: Path) -> None:
    """Bring to disk what git init leaves to chance: without HEAD and config all is lost."""
    for path in (folder / "HEAD", common / "config", common / "info", common, common.parent):
        opened = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
