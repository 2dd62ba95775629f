"""The copy: which of all folders that hold one memory this folder is.

Clones and copied folders share the id of the memory. What only one of them may write,
such as the session of a day's remembered statements, carries the id of the copy.
"""

from __future__ import annotations

import json
import os
import re
from base64 import b32encode

from kimi_memory.errors import KimiMemoryError
from kimi_memory.store.files.ownership import COPY, is_here, place_of
from kimi_memory.store.files.paths import PRIVATE
from kimi_memory.store.store import Store

PATH = f"{PRIVATE}/{COPY}"
_ID = re.compile(r"[a-z2-7]{8}")


def copy_id(store: Store) -> str:
    """Return the id of this copy; a folder that was copied or moved elsewhere draws a new one.

    A folder that takes no writes has none: an empty string.
    """
    found = _read_copy_id(store)
    if found or store.read_only:
        return found
    try:
        with store.lock("copy"):
            found = _read_copy_id(store)
            if not found:
                found = b32encode(os.urandom(5)).decode("ascii").lower()
                marks = {"copy": found, **place_of(store.root)}
                store.view(PATH, f"{json.dumps(marks)}\n".encode())
    except KimiMemoryError:
        return ""
    return found


def _read_copy_id(store: Store) -> str:
    """Return the id that was drawn in this very folder, else an empty string."""
    try:
        marks = json.loads(store.read(PATH))
    except (KimiMemoryError, ValueError):
        return ""
    if not isinstance(marks, dict) or not is_here(marks, store.root):
        return ""
    found = str(marks.get("copy", ""))
    return found if _ID.fullmatch(found) else ""
