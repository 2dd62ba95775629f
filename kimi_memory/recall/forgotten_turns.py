"""Turns that were forgotten: those of barred sessions, and those that barred notes rest on.

A tombstone keeps a forgotten value from being distilled again; the words themselves stay
in their session, as files and history are never cut but by a purge. Recall must not
bring up in another form what somebody asked to forget.
"""

from __future__ import annotations

import numpy as np

from kimi_memory.errors import KimiMemoryError
from kimi_memory.index.files import Files, state_of
from kimi_memory.index.searcher import Bools, Searcher
from kimi_memory.recall.tombstones import barred
from kimi_memory.store.files.paths import TOMBSTONES


def forgotten(searcher: Searcher) -> Bools:
    """Return the rows of turns that were forgotten."""
    state = state_of(searcher.files.root, TOMBSTONES)
    # They are only ever added to, or written anew as another file, so their state tells them.
    return searcher.once(f"forgotten {state}", lambda: _rows(searcher))


def _rows(searcher: Searcher) -> Bools:
    content = tombstones(searcher.files)
    if not content:
        return np.zeros(len(searcher), dtype=bool)
    # Most memories have forgotten nothing, and need none of what reads it.

    return barred(searcher, content)


def tombstones(files: Files) -> bytes:
    """Return the file of tombstones, nothing where there is none."""
    if state_of(files.root, TOMBSTONES) is None:
        return b""  # which is told much sooner than to open what is not there
    try:
        return files.read(TOMBSTONES)
    except (OSError, KimiMemoryError):
        return b""
