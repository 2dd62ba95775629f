"""Hidden, passing and machine-local files, which hold no truth, washed of a text."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from kimi_memory.domain.job import Actor
from kimi_memory.store.copy import renew_copy
from kimi_memory.store.files.disk import put
from kimi_memory.store.files.paths import PRIVATE, is_truth
from kimi_memory.store.git.rewrite import Wash
from kimi_memory.store.store import Store
from kimi_memory.store.wal.commit_files import UNDO
from kimi_memory.store.wal.records import Entry

JOURNAL = f"{PRIVATE}/journal"
_LOCKS = f"{PRIVATE}/locks"
_LOST = f"{PRIVATE}/lost+found"
_OBJECTS = ".git/objects"
_DERIVED = ("git-cache", "git-index", "git-owed", "snapshot.json", "cache/catalog", "past/past.db")
"""Files that name commits or contents which are no more; earlier versions kept an index."""


def scan(root: Path) -> Iterator[tuple[str, bytes]]:
    """Yield path and bytes of every file below a folder; of a link, where it leads.

    Left out are the compressed objects of git, which `Rewrite.search` reads.
    """
    for folder, folders, files in os.walk(root):
        here = Path(folder).relative_to(root).as_posix()
        prefix = "" if here == "." else f"{here}/"
        if prefix == f"{_OBJECTS}/":
            folders.clear()
            continue
        for name in folders:
            yield f"{prefix}{name}", _link_target(Path(folder) / name)
        for name in files:
            path = Path(folder) / name
            yield f"{prefix}{name}", _link_target(path) or _file_bytes(path)


def _link_target(path: Path) -> bytes:
    return os.fsencode(path.readlink()) if path.is_symlink() else b""


def _file_bytes(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""


def places(root: Path, wash: Wash) -> list[str]:
    """Return where the text stands: paths whose name or bytes hold it."""
    return [
        path for path, content in scan(root) if wash.count(content) or wash.count(os.fsencode(path))
    ]


def wipe(root: Path, wash: Wash) -> int:
    """Take the text out of every file that is no truth; return how many files it was in.

    The journal is left to its owner. What is derived is removed, the rest rewritten.
    """
    for name in _DERIVED:
        (root / PRIVATE / name).unlink(missing_ok=True)
    # What a sync that was killed had fetched is compressed: nobody could find the text in it.
    shutil.rmtree(root / PRIVATE / "remote", ignore_errors=True)
    found = [path for path in places(root, wash) if _is_ours(root, path)]
    for path in found:
        _wipe_file(root, path, wash)
    _drop_records(root, wash)
    _rename_folders(root, wash)
    return len(found)


def run_places(state: Path, root: Path, wash: Wash) -> list[Path]:
    """Return the files of runs of agents over a memory, kept for days elsewhere, that hold a text.

    Args:
        state: the user's state directory.
        root: the memory.
        wash: what finds the text.
    """
    named = (state / "runs").glob("*/memory")
    folders = [place.parent for place in named if _file_bytes(place) == os.fsencode(root)]
    return [folder / path for folder in folders for path in places(folder, wash)]


def wipe_runs(state: Path, root: Path, wash: Wash) -> None:
    """Take a text out of what runs left; one that goes on writes into its files itself."""
    for path in run_places(state, root, wash):
        if b'"status": "stopped"' in _file_bytes(path.with_name("run.json")):
            put(path, wash.words(path.read_bytes()), sync=True)


def restart_journal(store: Store, waiting: Sequence[Entry] = ()) -> None:
    """Begin the journal anew, where its records name what is to be forgotten.

    The files that are there count as they are from now on, but for those that are waiting. The
    copy gets another id: the checkpoints of this one tell of records that are no more.
    """
    renew_copy(store)
    with store.lock("journal"):
        for segment in (store.root / JOURNAL).iterdir():
            segment.unlink()
        store.journal.start()
    store.journal.add(waiting, Actor("purge"))


def _is_ours(root: Path, path: str) -> bool:
    hidden = path.startswith((".git/", f"{JOURNAL}/"))
    return not hidden and not is_truth(path) and (root / path).is_file()


def _wipe_file(root: Path, path: str, wash: Wash) -> None:
    place = root / path
    if path.startswith(f"{_LOCKS}/"):
        # Somebody may wait for this very file; what it says is for messages only.
        os.truncate(place, 0)
        return
    if path.startswith(f"{PRIVATE}/") and not path.startswith(f"{_LOST}/"):
        place.unlink()
        return
    clean, to = wash.content(path, place.read_bytes()), root / wash.name(path)
    if to != place:
        place.unlink()
    to.parent.mkdir(parents=True, exist_ok=True)
    put(to, clean, sync=True)


def _drop_records(root: Path, wash: Wash) -> None:
    """Remove replaced records of jobs that name the hash of what a file held."""
    for place in (root / UNDO).iterdir():
        content = _file_bytes(place)
        if wash.content(place.name, content) != content:
            place.unlink()


def _rename_folders(root: Path, wash: Wash) -> None:
    """Remove emptied folders that are named after the text; rename those that are not empty."""
    for folder, _, _ in os.walk(root, topdown=False):
        here = Path(folder)
        if here == root or ".git" in here.relative_to(root).parts:
            continue
        if wash.name(here.name) == here.name:
            continue
        if any(here.iterdir()):
            here.rename(here.with_name(wash.name(here.name)))
        else:
            here.rmdir()
