"""The copy: which of all folders that hold one memory this folder is.

Clones and copied folders share the id of the memory. What only one of them may write,
such as the session of a day's remembered statements, carries the id of the copy.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
from base64 import b32encode
from collections.abc import Mapping
from pathlib import Path

from kimi_memory.errors import KimiMemoryError
from kimi_memory.store.paths import PRIVATE
from kimi_memory.store.store import Store

PATH = f"{PRIVATE}/copy"


def copy_id(store: Store) -> str:
    """Return the id of this copy; a folder that was copied or moved elsewhere draws a new one.

    A folder that takes no writes has none: an empty string.
    """
    found = _read(store)
    if found or store.read_only:
        return found
    try:
        with store.lock("copy"):
            found = _read(store)
            if not found:
                found = b32encode(os.urandom(5)).decode("ascii").lower()
                marks = {"copy": found, **_place(store.root)}
                store.view(PATH, f"{json.dumps(marks)}\n".encode())
    except KimiMemoryError:
        return ""
    return found


def _read(store: Store) -> str:
    """Return the id that was drawn in this very folder, else an empty string."""
    try:
        marks = json.loads(store.read(PATH))
    except (KimiMemoryError, ValueError):
        return ""
    return str(marks.get("copy", "")) if isinstance(marks, dict) and _is_here(marks, store) else ""


def _is_here(marks: Mapping[str, object], store: Store) -> bool:
    """Whether the marks are those of this folder; it may have been renamed, or mounted anew."""
    here = _place(store.root)
    steady = all(marks.get(name) == here[name] for name in ("host", "ino"))
    return steady and any(marks.get(name) == here[name] for name in ("dev", "path"))


def _place(root: Path) -> dict[str, str | int]:
    """Return what tells this folder from a copy of it."""
    seen = root.stat()
    host = hashlib.sha256(_machine().encode()).hexdigest()[:12]
    return {"host": host, "dev": seen.st_dev, "ino": seen.st_ino, "path": str(root)}


def _machine() -> str:
    try:
        return Path("/etc/machine-id").read_text(encoding="ascii").strip() or platform.node()
    except (OSError, ValueError):
        return platform.node()
