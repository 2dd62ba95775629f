"""The copies of a memory on this machine: every folder that was opened with its id."""

from __future__ import annotations

import json
from pathlib import Path

from kimi_memory.domain.ids import safe_session_id
from kimi_memory.errors import HistoryError
from kimi_memory.store.copy import PATH
from kimi_memory.store.files.cache_files import put


def note_copy(state: Path, memory: str, root: Path, copy: str) -> None:
    """Note that a folder holds a memory; what cannot be written is noted the next time.

    Args:
        state: the user's own folder of this machine.
        memory: the id of the memory.
        root: the folder.
        copy: the id of the copy.
    """
    place = _copies_path(state, memory)
    known = _read_copies(place)
    if memory and copy and known.get(str(root)) != copy:
        alive = {path: one for path, one in known.items() if _is_still_copy(path, one)}
        try:
            put(place, json.dumps({**alive, str(root): copy}, ensure_ascii=False).encode())
        except (HistoryError, OSError):
            return


def other_copies(state: Path, memory: str, root: Path) -> list[str]:
    """Return the other folders on this machine that hold the same memory."""
    known = _read_copies(_copies_path(state, memory)) if memory else {}
    return sorted(
        path for path, copy in known.items() if path != str(root) and _is_still_copy(path, copy)
    )


def _copies_path(state: Path, memory: str) -> Path:
    return state / "copies" / f"{safe_session_id(memory)}.json"


def _read_copies(place: Path) -> dict[str, str]:
    try:
        found = json.loads(place.read_bytes())
    except (OSError, ValueError):
        return {}
    return {str(path): str(copy) for path, copy in found.items()} if type(found) is dict else {}


def _is_still_copy(path: str, copy: str) -> bool:
    """Whether a folder is still there and still that copy."""
    try:
        marks = json.loads((Path(path) / PATH).read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(marks, dict) and marks.get("copy") == copy
