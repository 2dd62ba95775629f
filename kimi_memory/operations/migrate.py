"""Migration: a memory moves to another folder, and is checked there before it is closed here."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

from kimi_memory.api.memory import Memory
from kimi_memory.config import MARKER
from kimi_memory.domain.change import Update, digest
from kimi_memory.errors import GateError, MovedError, UsageError
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.merge.settings import MOVED, remove_moved, set_entries
from kimi_memory.nlp.basic.counted import counted
from kimi_memory.operations.bundles import export_bundle, import_bundle, unpack_copy
from kimi_memory.operations.doctor import verify
from kimi_memory.operations.drop_folders import drop_news
from kimi_memory.operations.encrypted_drops import check_dropped
from kimi_memory.operations.new_folders import beside, borrow_folder
from kimi_memory.operations.open_questions import waiting_files
from kimi_memory.operations.verify_index import compare_answers
from kimi_memory.store.files.outside import check_outside


@dataclass(frozen=True, slots=True)
class Migrated:
    """What a migration did, or would do."""

    folder: Path
    commit: str
    """The version that was carried."""
    bytes: int
    """Of the bundle that carried it."""
    files: int
    checked: tuple[str, ...] = ()
    """What is the same there; empty where nothing was carried."""
    moved: bool = False
    """Whether the source takes no writes any more."""


def migrate(
    memory: Memory,
    folder: Path,
    *,
    since: str = "",
    drop: bool = False,
    keep_source: bool = False,
    dry_run: bool = False,
) -> Migrated:
    """Carry a memory to another place, check it there, and close it here.

    Args:
        memory: opened for writing.
        folder: a new or empty one, another copy of the memory, or a drop folder.
        since: a point in the history, where the copy there has what was before.
        drop: the folder is one for bundles, which something else carries on.
        keep_source: both go on as copies.
        dry_run: carry it to a temporary folder, check it there, and remove that.

    Raises:
        UsageError: the folder cannot be used.
        GateError: it is not the same there; the source is as it was.
        MovedError: it moved already.
    """
    # What would be refused is refused when it is tried, too.
    _check_movable(memory, closes=not keep_source)
    place = folder.absolute()
    if memory.is_secret(str(place)):
        raise UsageError("The name of the folder holds a secret, which git would keep. Rename it.")
    check_outside(memory.root, place)
    # As a bundle and not as a copied folder: it has the whole history, and nothing that is derived.
    with borrow_folder() as work:
        path = work / "memory.bundle"
        written = export_bundle(memory, path, since=since)
        count = len(memory.store.files())
        found = Migrated(place, written.commit, written.bytes, count)
        if dry_run or drop:
            checked = _check_copy(memory, path, work / "copy") if not since else ()
        if dry_run:
            return found
        if drop:
            dropped = drop_news(memory, place)
            if dropped and check_dropped(memory, place, dropped):
                checked = (*checked, f"{dropped} is whole")
        else:
            checked = _carry(memory, path, place)
    if keep_source:
        return Migrated(place, written.commit, written.bytes, count, checked)
    _close_source(memory, place, written.commit, drop=drop)
    return Migrated(place, written.commit, written.bytes, count, checked, moved=True)


def _check_movable(memory: Memory, *, closes: bool) -> None:
    if memory.store.moved:
        raise MovedError(memory.store.moved)
    if closes:
        memory.refuse_if_deployed("a move", "Use 'kimi-memory deploy migrate NAME --to NODE'")


def _carry(memory: Memory, path: Path, place: Path) -> tuple[str, ...]:
    if not (place / MARKER).is_file():
        return _check_copy(memory, path, place)
    with Memory.open(place, beside(memory)) as there:
        if there.store.moved:
            raise MovedError(there.store.moved)
        import_bundle(there, path)
        _refuse_problems(place, verify_lines(there))
        return ("its history has this one", "nothing is damaged there")


def _check_copy(memory: Memory, path: Path, place: Path) -> tuple[str, ...]:
    """Make a copy of a bundle and compare it with the memory; return what is the same."""
    unpack_copy(path, place, beside(memory))
    with Memory.open(place, beside(memory)) as there:
        _refuse_problems(place, _find_differences(memory, there))
        return (
            f"{counted(len(there.store.files()), 'files')}, sha256 {digest_files(there)[:16]}",
            counted(len(there.history.since()), "versions"),
            "a journal that begins there",
            "the answers to its own questions",
        )


def _refuse_problems(place: Path, problems: Iterator[str]) -> None:
    found = next(problems, "")
    if found:
        raise GateError(
            "migration",
            f"{place} is not what this memory is: {found}",
            "Nothing was changed here; delete that folder and try again",
        )


def _find_differences(memory: Memory, there: Memory) -> Iterator[str]:
    """Yield what a copy has otherwise than the memory it was made of."""
    if memory.store.files() != there.store.files():
        yield "it has other files"
    if digest_files(memory) != digest_files(there):
        yield "its files have other bytes"
    if memory.history.graph() != there.history.graph():
        yield "it has another history"
    if memory.history.names() != there.history.names():
        yield "its versions have other names"
    if [one.path for one in waiting_files(memory)] != [one.path for one in waiting_files(there)]:
        yield "other files wait for a word there"
    if there.store.journal.head()[0] < 1:
        yield "its journal has not begun"
    # What is damaged here already is carried as it is; only new damage is a fault of the move.
    known = set(verify_lines(memory))
    yield from (line for line in verify_lines(there) if line not in known)
    yield from (f"it ranks {question!r} otherwise" for question in compare_answers(memory, there))


def verify_lines(memory: Memory) -> Iterator[str]:
    """Yield what `verify` finds, a line each."""
    yield from (f"{one.path}: {one.message}".removeprefix(": ") for one in verify(memory))


def digest_files(memory: Memory) -> str:
    """Return what stands for all files of a memory, with their paths."""
    files = ((path, digest(memory.store.read(path))) for path in memory.store.files())
    return digest(json.dumps(list(files), ensure_ascii=False).encode())


def _close_source(memory: Memory, place: Path, carried: str, *, drop: bool) -> None:
    """Mark the source as moved, and bring after what was written meanwhile."""
    moved = {MOVED: json.dumps(str(place), ensure_ascii=False)}
    # Marked before the rest is carried: from here on no process adds what would stay behind.
    _write_settings(memory, lambda before: set_entries(before.decode(), moved).encode())
    memory.batch.flush(f"Moved to {place}")
    changed = {pair.path for pair in memory.history.pairs(carried, "HEAD")}
    if changed - {MARKER}:
        if drop:
            drop_news(memory, place)
        else:
            with borrow_folder() as work:
                path = work / "rest.bundle"
                export_bundle(memory, path, since=carried)
                with Memory.open(place, beside(memory)) as there:
                    import_bundle(there, path)
    memory.store.set_moved(str(place))


def _write_settings(memory: Memory, change: Callable[[bytes], bytes]) -> None:
    before = memory.store.read(MARKER)
    update = Update(MARKER, digest(before), change(before))
    memory.store.apply([update], memory.actor)
    memory.written()


def take_back(memory: Memory) -> str:
    """Let a memory that was moved take writes again; return where it had moved.

    Raises:
        UsageError: it was not moved.
    """
    place = memory.store.moved
    if not place:
        raise UsageError("This memory was not moved. There is nothing to take back.")
    # Before the settings are written: a memory that moved refuses every write.
    memory.store.set_moved("")
    _write_settings(memory, remove_moved)
    memory.batch.flush(f"Taken back from {place}")
    return place
