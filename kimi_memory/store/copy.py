"""The copy: which of all folders that hold one memory this folder is.

Clones and copied folders share the id of the memory. What only one of them may write,
such as the session of a day's remembered statements, carries the id of the copy.
"""

from __future__ import annotations

import json
import os
import re
from base64 import b32encode
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kimi_memory.domain.ids import safe_session_id
from kimi_memory.errors import HistoryError, KimiMemoryError
from kimi_memory.store.files.disk import put
from kimi_memory.store.files.locks import COPY, is_here, origin_of, place_of
from kimi_memory.store.files.paths import PRIVATE
from kimi_memory.store.store import Store

if TYPE_CHECKING:
    from kimi_memory.domain.operation_types import Commit

PATH = f"{PRIVATE}/{COPY}"
TRAILER = "Checkpoint"
_ID = re.compile(r"[a-z2-7]{8}")


def copy_id(store: Store) -> str:
    """Return the id of this copy; a folder that was copied or moved elsewhere draws a new one.

    A folder that takes no writes has none: an empty string.
    """
    found = known_copy(store)
    # Asked twice, without and with the lock: nearly always it is there.
    if found or store.read_only:
        return found
    try:
        with store.lock("copy"):
            return known_copy(store) or _draw_id(store, ())
    except KimiMemoryError:
        # Another process holds it, or the disk is full: a turn is stored all the same.
        return ""


def renew_copy(store: Store) -> None:
    """Give this copy another id; those that it had are kept, as files elsewhere bear them."""
    with store.lock("copy"):
        _draw_id(store, list_ids(store))


def known_copy(store: Store) -> str:
    """Return the id that was drawn in this very folder, else an empty string; write nothing."""
    return next(reversed(list_ids(store)), "")


def list_ids(store: Store) -> tuple[str, ...]:
    """Return the ids that were drawn in this very folder, the one it has now last."""
    try:
        marks = json.loads(store.read(PATH))
    except (KimiMemoryError, ValueError):
        # None was drawn here yet.
        return ()
    if not isinstance(marks, dict) or not is_here(marks, store.root):
        return ()
    was = marks.get("was", [])
    found = tuple(map(str, [*(was if isinstance(was, list) else []), marks.get("copy", "")]))
    return found if all(map(_ID.fullmatch, found)) else ()


def origin(store: Store) -> str:
    """Return the id of the copy that this folder was copied from, journal and all.

    Empty where none is known, and after a purge here, which began the journal anew.
    """
    return origin_of(store.root) if len(list_ids(store)) == 1 else ""


def _draw_id(store: Store, was: Sequence[str]) -> str:
    # Five bytes are eight letters without padding, the same to systems that ignore case.
    found = b32encode(os.urandom(5)).decode("ascii").lower()
    earlier = {"was": list(was)} if was else {}
    marks = {"copy": found, **earlier, **place_of(store.root)}
    store.view(PATH, f"{json.dumps(marks)}\n".encode())
    return found


def note_copy(state: Path, memory: str, root: Path, copy: str) -> None:
    """Note that a folder holds a memory; what cannot be written is noted the next time."""
    place = _copies_path(state, memory)
    known = _read_copies(place)
    if memory and copy and known.get(str(root)) != copy:
        # Folders that are gone leave the list here; nobody else would clear it.
        alive = {path: one for path, one in known.items() if _is_still_copy(path, one)}
        try:
            put(place, json.dumps({**alive, str(root): copy}, ensure_ascii=False).encode())
        except (HistoryError, OSError):
            # The list only helps to name copies; without it they have their ids.
            return


def other_copies(state: Path, memory: str, root: Path) -> list[str]:
    """Return the other folders on this machine that hold the same memory."""
    known = read_copies(state, memory)
    return sorted(
        path for path, copy in known.items() if path != str(root) and _is_still_copy(path, copy)
    )


def read_copies(state: Path, memory: str) -> dict[str, str]:
    """Return the folders on this machine that held a memory when last seen, with their copies."""
    return _read_copies(_copies_path(state, memory)) if memory else {}


def _copies_path(state: Path, memory: str) -> Path:
    return state / "copies" / f"{safe_session_id(memory)}.json"


def _read_copies(place: Path) -> dict[str, str]:
    try:
        found = json.loads(place.read_bytes())
    except (OSError, ValueError):
        # Whatever is wrong with the list, it is made anew by the copies that are opened.
        return {}
    return {str(path): str(copy) for path, copy in found.items()} if type(found) is dict else {}


def _is_still_copy(path: str, copy: str) -> bool:
    """Whether a folder is still there and still that copy."""
    try:
        marks = json.loads((Path(path) / PATH).read_bytes())
    except (OSError, ValueError):
        # Moved, removed, or on a disk that is not there now: it enters again when it is opened.
        return False
    if not isinstance(marks, dict):
        return False
    # After a purge it has another id, and is the same copy.
    was = marks.get("was")
    return copy in (marks.get("copy"), *(was if isinstance(was, list) else ()))


def checkpoint(store: Store) -> dict[str, str]:
    """Return the trailer of a commit that is made now; none where no record is on disk for sure."""
    try:
        # Synced first: a commit must not vouch for records that a power cut takes.
        seq, head = store.journal.head(sync=True)
    except OSError:
        return {}
    copy = copy_id(store)
    return {TRAILER: f"{copy} {seq} {head}"} if copy else {}


def copy_of(commit: Commit) -> str | None:
    """Return the copy that made a commit; empty for an unnamed one, None for a person's own."""
    said = commit.trailers.get(TRAILER, "").split()
    if not said:
        return None
    return said[0] if len(said) == 3 else ""


def checkpoints_of(commits: Iterable[Commit], copy: str) -> set[tuple[int, str]]:
    """Return number and hash of the journal's head at each commit of a copy."""
    own = (commit.trailers[TRAILER].split() for commit in commits if copy_of(commit) == copy)
    return {(int(seq), head) for _, seq, head in own if seq.isdigit()} if copy else set()
