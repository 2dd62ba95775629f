"""Three-way merge of single files that are neither sessions nor notes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath
from typing import NamedTuple

from kimi_memory.formats.page_lines import is_generated, sign_of
from kimi_memory.merge.kinds import Kind, has_id, kind_of, mark_of, read_text
from kimi_memory.merge.lines import merge_lines
from kimi_memory.merge.records import merge_jobs, merge_threads, merge_usage
from kimi_memory.merge.settings import merge_settings, remove_moved

CONFLICTS = "conflicts"


class Versions(NamedTuple):
    """The bytes of one path in three trees; None where it is not there."""

    base: bytes | None
    ours: bytes | None
    theirs: bytes | None


class MergedFile(NamedTuple):
    """What becomes of a path."""

    content: bytes | None = None
    """None where nothing stays there."""
    others: tuple[tuple[str, bytes], ...] = ()
    """Paths and bytes of versions that are kept elsewhere."""


def merge_file(path: str, found: Versions) -> MergedFile:
    """Return the file of both sides."""
    if kind_of(path, b"") is Kind.SETTINGS:
        found = Versions(*(None if one is None else remove_moved(one) for one in found))
    base, ours, theirs = found
    if theirs in (ours, base):
        return MergedFile(ours)
    if ours == base:
        return MergedFile(theirs)
    kinds = {kind_of(path, side) for side in (ours, theirs) if side is not None}
    kind = kinds.pop() if len(kinds) == 1 else Kind.BINARY
    if ours is None or theirs is None:
        edit = theirs if ours is None else ours
        return MergedFile(edit if _stays(kind, edit) else None)
    return _RULES[kind](path, found, (ours, theirs))


def _stays(kind: Kind, edit: bytes | None) -> bool:
    """Whether an edit stays of what the other side deleted."""
    if kind is Kind.PAGE:
        return not _is_as_generated(edit or b"")
    return kind not in (Kind.JOB, Kind.VIEW)


def conflict_path(path: str, content: bytes) -> str:
    """Return where a losing version is kept: by its name and content, in every copy the same."""
    name = PurePosixPath(path)
    text = read_text(content)
    # A second note of one id would be taken for the note itself.
    end = f"{name.suffix}.txt" if text is not None and has_id(text) else name.suffix
    return f"{CONFLICTS}/{name.stem}.{mark_of(content)}{end}"


def beside(path: str, mark: str) -> str:
    """Return a path whose name ends in a mark."""
    name = PurePosixPath(path)
    return str(name.with_name(f"{name.stem}-{mark}{name.suffix}"))


Sides = tuple[bytes, bytes]


def _keep_greater(path: str, _: Versions, sides: Sides) -> MergedFile:
    """Keep the greater version by its hash, and the other in the folder of conflicts."""
    loses, stays = sorted(sides, key=lambda side: hashlib.sha256(side).digest())
    return MergedFile(stays, ((conflict_path(path, loses), loses),))


def _keep_both(path: str, found: Versions, sides: Sides) -> MergedFile:
    if found.base is not None:
        return _keep_greater(path, found, sides)
    loses, stays = sorted(sides, key=lambda side: hashlib.sha256(side).digest())
    return MergedFile(stays, ((beside(path, mark_of(loses)), loses),))


def _merge_text(path: str, found: Versions, sides: Sides) -> MergedFile:
    if found.base is not None:
        texts = [read_text(side) for side in (found.base, *sides)]
        versions = [text.splitlines(keepends=True) for text in texts if text is not None]
        merged = merge_lines(versions[0], versions[1], versions[2]) if len(versions) == 3 else None
        if merged is not None:
            return MergedFile("".join(merged).encode())
    return _keep_greater(path, found, sides)


def _merge_page(path: str, found: Versions, sides: Sides) -> MergedFile:
    """Keep the edits that nobody took in yet; what is as generated is written anew."""
    edited = [side for side in sides if not _is_as_generated(side)]
    if len(edited) < 2:
        return MergedFile(edited[0] if edited else None)
    signs = {sign_of(side.decode()) for side in sides}
    base = found.base.decode("utf-8", "replace") if found.base is not None else ""
    if signs == {sign_of(base)}:
        return _merge_text(path, found, sides)
    return _keep_greater(path, found, sides)


def _is_as_generated(page: bytes) -> bool:
    return is_generated(page.decode("utf-8", "replace"))


def _merge_settings(path: str, found: Versions, sides: Sides) -> MergedFile:
    texts = [read_text(side or b"") for side in (found.base, *sides)]
    base, ours, theirs = (text or "" for text in texts)
    merged = merge_settings(base, ours, theirs) if None not in texts else None
    return _keep_greater(path, found, sides) if merged is None else MergedFile(merged.encode())


def _merge_job(path: str, found: Versions, sides: Sides) -> MergedFile:
    try:
        return MergedFile(merge_jobs(*sides))
    except ValueError:
        return _keep_greater(path, found, sides)


def _merge_thread(path: str, _: Versions, sides: Sides) -> MergedFile:
    merged = merge_threads(*sides)
    forks = ((beside(path, merged.mark), merged.fork),) if merged.mark else ()
    return MergedFile(merged.content, forks)


def _merge_usage(_: str, found: Versions, sides: Sides) -> MergedFile:
    return MergedFile(merge_usage(found.base or b"", *sides))


_RULES: Mapping[Kind, Callable[[str, Versions, Sides], MergedFile]] = {
    Kind.VIEW: _keep_greater,
    Kind.PAGE: _merge_page,
    Kind.USAGE: _merge_usage,
    Kind.JOB: _merge_job,
    Kind.THREAD: _merge_thread,
    Kind.SETTINGS: _merge_settings,
    Kind.TEXT: _merge_text,
    Kind.BINARY: _keep_both,
}
