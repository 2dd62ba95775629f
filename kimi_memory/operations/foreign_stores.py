"""Stores of memories on disk, read without touching them: files, their text, their memos."""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from kimi_memory.domain.foreign_note import Memo
from kimi_memory.domain.screen import TranscriptFile
from kimi_memory.errors import FormatError, TranscriptError, UsageError
from kimi_memory.hooks.host import Host
from kimi_memory.lazy_dataclass import dataclass

LARGEST = 64 * 1024 * 1024
"""A larger file is named and not read."""
SYSTEMS = ("memex", "claude", "mem0", "claude-mem", "kimi", "markdown")
"""The systems whose stores the bundled plugins know."""

# Binary files show a zero byte early; whole disks of them are looked at.
_HEAD = 65536
_SQLITE = b"SQLite format 3\0"
_TEXT = {
    *("", ".md", ".markdown", ".txt", ".text", ".json", ".jsonl", ".yaml", ".yml", ".toml"),
    *(".csv", ".tsv", ".log", ".xml", ".html", ".ini", ".env"),
}
_WIDE = (b"\xff\xfe", b"\xfe\xff")
_DATABASES = {".db", ".sqlite", ".sqlite3"}


@dataclass(frozen=True, slots=True)
class Stored:
    """One file of a store."""

    path: str
    """From the root of the store, with forward slashes."""
    modified: datetime
    text: str = ""
    """Its text with plain newlines; empty for a database."""
    memos: tuple[Memo, ...] = ()
    problem: str = ""
    """Why it could not be read as it should be; empty if it could."""
    size: int = 0


@dataclass(slots=True)
class Skipped:
    """What was passed over, and why."""

    lines: list[str] = field(default_factory=list)


def read_store(root: Path, host: Host, skipped: Skipped, system: str = "") -> Iterator[Stored]:
    """Yield the files of a store in order of path; a file is a store of its own.

    Hidden files and folders, links, and files that hold no text are passed over.

    Args:
        root: a file or a folder.
        host: asked for the memos in each file.
        skipped: called with what was passed over and might have been wanted.
        system: the one system to look for; any if empty.

    Raises:
        UsageError: there is nothing at `root`.
    """
    if not root.exists():
        raise UsageError(f"{root} does not exist. Name a file or a folder.")
    for path in _walk_files(root, skipped):
        name = path.relative_to(root).as_posix() if root.is_dir() else path.name
        found = _read_file(path, name, skipped)
        if found is not None:
            yield _with_memos(*found, host, system)


def _walk_files(root: Path, skipped: Skipped) -> Iterator[Path]:
    if not root.is_dir():
        yield root
        return
    # Links are not followed, so none leads round in a circle or out of the store.
    for folder, folders, names in os.walk(root):
        here = Path(folder)
        links = [name for name in folders if (here / name).is_symlink()]
        for link in links:
            skipped.lines.append(f"{(here / link).relative_to(root).as_posix()}: a link")
        # In place, so that `os.walk` goes into no other; sorted, so that an import has one order.
        folders[:] = sorted(n for n in folders if not n.startswith(".") and n not in links)
        yield from (here / name for name in sorted(names) if not name.startswith("."))


def _read_file(path: Path, name: str, skipped: Skipped) -> tuple[Stored, bytes] | None:
    """Return a file without its memos, and the bytes that they are read from."""
    if path.suffix.lower() not in _TEXT | _DATABASES:
        return None
    try:
        state = path.lstat()
        why = _refusal_reason(state)
        content = b"" if why else path.read_bytes()
    except OSError as error:
        why, content = str(error.strerror), b""
    text, problem = "", ""
    if not why and not content.startswith(_SQLITE):
        wide = content.startswith(_WIDE)
        why = "not text" if b"\0" in content[:_HEAD] and not wide else ""
        text, problem = _decode_text(content)
        content = text.encode()
    if why:
        skipped.lines.append(f"{name}: {why}")
        return None
    at = datetime.fromtimestamp(state.st_mtime, UTC)
    return Stored(name, at, text, problem=problem, size=state.st_size), content


def _refusal_reason(state: os.stat_result) -> str:
    if not stat.S_ISREG(state.st_mode):
        return "a link or no plain file"
    return f"larger than {LARGEST // 2**20} MiB" if state.st_size > LARGEST else ""


def _decode_text(content: bytes) -> tuple[str, str]:
    """Return a file's text with plain newlines, and what is wrong with its encoding."""
    problem = ""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        # GB18030 reads every older Chinese file; what is none of these is replaced, and named.
        encoding = "utf-16" if content.startswith(_WIDE) else "gb18030"
        problem = f"not UTF-8; read as {encoding}"
        text = content.decode(encoding, "replace")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text.encode("utf-8", "replace").decode(), problem


def _with_memos(stored: Stored, content: bytes, host: Host, system: str) -> Stored:
    file = TranscriptFile(stored.path, content[:_HEAD], lambda: io.BytesIO(content))
    try:
        found = host.answer("read_memories", file=file, system=system)
        memos = tuple(cast("Iterable[Memo]", found or ()))  # what the hook's annotation says
        return replace(stored, memos=memos)
    except FormatError as error:
        problem = f"line {error.line}: {error.why}"
    except TranscriptError as error:
        problem = str(error).removeprefix(f"{stored.path}:").partition(" Nothing of")[0]
    return replace(stored, problem=problem)
