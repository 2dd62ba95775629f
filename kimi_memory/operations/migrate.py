"""Migration: a memory moves to another place, and is checked there before it is closed here."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

from kimi_memory.api.memory import Memory
from kimi_memory.config import MARKER
from kimi_memory.domain.job import Update, digest
from kimi_memory.errors import GateError, KimiMemoryError, MovedError, UsageError
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.merge.settings import MOVED, remove_moved, set_entries
from kimi_memory.nlp.basic.counted import counted
from kimi_memory.operations.bundles import export_bundle
from kimi_memory.operations.copy_state import describe_copy, find_differences
from kimi_memory.operations.drop_folders import drop_news
from kimi_memory.operations.encrypted_drops import check_dropped
from kimi_memory.operations.migrate_remote import RemotePlace, describe_remote, send_memory
from kimi_memory.operations.migrate_ssh import SshPlace
from kimi_memory.operations.migrate_ssh import send_memory as send_over_ssh
from kimi_memory.operations.new_folders import beside, borrow_folder
from kimi_memory.operations.take_in import Asked, TakenIn, take_in
from kimi_memory.operations.verify_index import sample_questions
from kimi_memory.store.files.outside import check_outside

Place = Path | SshPlace | RemotePlace
"""A folder here or on another machine, or a repository that copies sync with."""


@dataclass(frozen=True, slots=True)
class Migrated:
    """What a migration did, or would do."""

    folder: str
    """Where to; the URL of a folder on another machine."""
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
    to: Place,
    *,
    since: str = "",
    drop: bool = False,
    keep_source: bool = False,
    dry_run: bool = False,
) -> Migrated:
    """Carry a memory to another place, check it there, and close it here.

    Args:
        memory: opened for writing.
        to: a new or empty folder, another copy of the memory, a drop folder, or a remote.
        since: a point in the history, where the copy there has what was before.
        drop: the folder is one for bundles, which something else carries on.
        keep_source: both go on as copies.
        dry_run: carry it to a temporary folder beside, check it there, and remove that.

    Raises:
        UsageError: the folder cannot be used.
        RemoteError: the other machine cannot be reached, or its program refused.
        GateError: it is not the same there; the source is as it was.
        MovedError: it moved already.
    """
    # What would be refused is refused when it is tried, too.
    _check_movable(memory, closes=not keep_source)
    # People read it in every refusal from then on, and no `..` is to stand in it.
    place = to.parent.resolve() / to.name if isinstance(to, Path) else to
    _check_place(memory, place, since=since, drop=drop)
    if isinstance(place, RemotePlace):
        send_memory(memory, place, dry_run=dry_run)
    # As a bundle and not as a copied folder: it has the whole history, and nothing that is derived.
    with borrow_folder() as work:
        path = work / "memory.bundle"
        written = export_bundle(memory, path, since=since)
        if drop and isinstance(place, Path):
            checked = _carry(memory, path, work / "copy", dry_run=False) if not since else ()
            dropped = None if dry_run else drop_news(memory, place, since)
            if dropped and check_dropped(memory, place, dropped):
                checked = (*checked, f"{dropped} is whole")
        else:
            checked = _carry(memory, path, place, dry_run=dry_run)
    moves = not (keep_source or dry_run)
    if moves:
        _close_source(memory, place, written.commit, drop=drop)
    count, shown = len(memory.store.files()), () if dry_run else checked
    return Migrated(str(place), written.commit, written.bytes, count, shown, moved=moves)


def _check_movable(memory: Memory, *, closes: bool) -> None:
    if memory.store.moved:
        raise MovedError(memory.store.moved)
    if closes:
        memory.refuse_if_deployed("a move", "Use 'kimi-memory deploy migrate NAME --to NODE'")


def _check_place(memory: Memory, place: Place, *, since: str, drop: bool) -> None:
    if memory.is_secret(str(place)):
        raise UsageError("The name of the folder holds a secret, which git would keep. Rename it.")
    if isinstance(place, Path):
        check_outside(memory.root, place)
    elif drop:
        raise UsageError("A drop folder lies on this machine. Name a folder, or leave out --drop.")
    elif since and isinstance(place, RemotePlace):
        raise UsageError("A remote is sent what it lacks. Leave out --since.")


def _carry(memory: Memory, path: Path, place: Place, *, dry_run: bool) -> tuple[str, ...]:
    """Have a bundle taken in elsewhere, and hold the copy against this memory."""
    now = memory.clock()
    asked = Asked(sample_questions(memory), now.isoformat())
    found = _deliver(memory, path, place, asked, dry_run=dry_run)
    ours, theirs = describe_copy(memory, asked.questions, now), found.state
    if theirs.copy == ours.copy:
        raise UsageError(f"{place} is this very memory. Name another folder.")
    if found.merged:
        _refuse_problems(place, iter(theirs.faults))
        return ("its history has this one", "nothing is damaged there")
    _refuse_problems(place, find_differences(ours, theirs, asked.questions))
    return (
        f"{counted(theirs.files, 'files')}, sha256 {theirs.sha256[:16]}",
        counted(theirs.versions, "versions"),
        "a journal that begins there",
        "the answers to its own questions",
    )


def _deliver(memory: Memory, path: Path, place: Place, asked: Asked, *, dry_run: bool) -> TakenIn:
    if isinstance(place, SshPlace):
        return send_over_ssh(path, place, asked, dry_run=dry_run)
    if isinstance(place, RemotePlace):
        if not dry_run:
            return TakenIn(False, describe_remote(memory, place, asked))
        # A remote keeps what it is sent: it is tried here.
        place = path.with_name("copy")
    return take_in(path, place, beside(memory), asked, dry_run=dry_run)


def _refuse_problems(place: Place, problems: Iterator[str]) -> None:
    found = next(problems, "")
    if found:
        why = f"{place} is not what this memory is: {found}"
        remedy = "Nothing was changed here; delete that folder and try again"
        raise GateError("migration", why, remedy)


def _close_source(memory: Memory, place: Place, carried: str, *, drop: bool) -> None:
    """Mark the source as moved, and bring after what was written meanwhile."""
    moved = {MOVED: json.dumps(str(place), ensure_ascii=False)}
    # Marked before the rest is carried: from here on no process adds what would stay behind.
    _write_settings(memory, lambda before: set_entries(before.decode(), moved).encode())
    memory.batch.flush(f"Moved to {place}")
    changed = {pair.path for pair in memory.history.pairs(carried, "HEAD")}
    try:
        if changed - {MARKER}:
            _carry_rest(memory, place, carried, drop=drop)
    except KimiMemoryError:
        # The network may have gone meanwhile: what is not there must be usable here.
        _write_settings(memory, remove_moved)
        memory.batch.flush(f"Not moved to {place}")
        raise
    memory.store.set_moved(str(place))


def _carry_rest(memory: Memory, place: Place, carried: str, *, drop: bool) -> None:
    """Carry what came after a commit."""
    if drop and isinstance(place, Path):
        drop_news(memory, place)
        return
    if isinstance(place, RemotePlace):
        why = f"something was written here while it moved to {place}"
        # The mark that it moved may not be sent along with the rest.
        raise GateError("migration", why, "End what writes to it, and try again")
    with borrow_folder() as work:
        path = work / "rest.bundle"
        export_bundle(memory, path, since=carried)
        _deliver(memory, path, place, Asked([], memory.clock().isoformat()), dry_run=False)


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
