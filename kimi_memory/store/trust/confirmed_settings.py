"""Settings in force: the last version of ``memory.toml`` that does not wait for review."""

from __future__ import annotations

import hmac
from contextlib import suppress

from kimi_memory.errors import HistoryError, KimiMemoryError, UnsafePathError
from kimi_memory.store.files.cache_files import put
from kimi_memory.store.files.paths import PRIVATE
from kimi_memory.store.reading import SETTINGS
from kimi_memory.store.store import Store

_KEPT = f"{PRIVATE}/settings"
"""The version that counted last, sealed: to ask the journal takes as long as it is."""


def find_confirmed(store: Store) -> tuple[bytes, str]:
    """Return the settings in force, and why those of the file wait; empty if they do not.

    Nothing is returned where no version is known that counted.
    """
    kept = _read_kept(store)
    try:
        content = store.read(SETTINGS)
    except UnsafePathError:
        # It may lead to a file that a stranger's commit brought.
        return kept, "it is a link or no plain file"
    vetting = store.vetting if content != kept else None
    if vetting is None:
        return content, ""
    found = vetting.standing(SETTINGS, content)
    if found.cap is not None:
        return kept or vetting.version(SETTINGS, found.vetted) or b"", found.why
    with suppress(HistoryError):  # Without it, the journal is asked again.
        put(store.root / _KEPT, store.journal.sign(content) + b"\n" + content)
    return content, ""


def _read_kept(store: Store) -> bytes:
    try:
        mark, _, content = store.read(_KEPT).partition(b"\n")
    except KimiMemoryError:
        return b""
    # A version that came with the folder of a stranger counts for nothing.
    return content if hmac.compare_digest(mark, store.journal.sign(content)) else b""
