"""The stages of a memory's life, imported when they are first used: recall needs none."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kimi_memory.capture.ingest import Ingest
    from kimi_memory.capture.log import Said, SessionLog
    from kimi_memory.capture.screen import Screen
    from kimi_memory.capture.views import Views
    from kimi_memory.consolidation.distil import Distil
    from kimi_memory.consolidation.gates import DraftGate
    from kimi_memory.consolidation.jobs import JobReport, Jobs
    from kimi_memory.consolidation.periods import Periods
    from kimi_memory.consolidation.rekeying import rekey
    from kimi_memory.consolidation.remember import Remember
    from kimi_memory.consolidation.strength import graded
    from kimi_memory.consolidation.trace import Tracer
    from kimi_memory.consolidation.twoway import Twoway
    from kimi_memory.consolidation.undo import Undo
    from kimi_memory.explicit import explicit_draft, remembered_in, wanted
    from kimi_memory.handle import SessionHandle
    from kimi_memory.model.origin import Role
    from kimi_memory.model.session import Session
    from kimi_memory.starter import TIERS, starter
    from kimi_memory.store import sessions
    from kimi_memory.store.batch import Batch
    from kimi_memory.store.checkpoints import checkpoint
    from kimi_memory.store.copy import copy_id
    from kimi_memory.store.ground import lay
    from kimi_memory.store.history import History
    from kimi_memory.store.known_copies import note_copy, other_copies
    from kimi_memory.store.shelf import Shelf
    from kimi_memory.store.tombstones import read_stones
    from kimi_memory.store.vetting import Vetting

_HOMES = {
    "Batch": "store.batch",
    "History": "store.history",
    "Role": "model.turn",
    "Screen": "capture.screen",
    "Session": "model.session",
    "Shelf": "store.shelf",
    "Vetting": "store.vetting",
    "Views": "capture.views",
    "checkpoint": "store.checkpoints",
    "copy_id": "store.copy",
    "lay": "store.ground",
    "note_copy": "store.known_copies",
    "other_copies": "store.known_copies",
    "read_stones": "store.tombstones",
    "rekey": "consolidation.rekeying",
    "sessions": "store.sessions",
    "Ingest": "capture.ingest",
    "Said": "capture.log",
    "SessionLog": "capture.log",
    "Distil": "consolidation.distil",
    "DraftGate": "consolidation.gates",
    "JobReport": "consolidation.jobs",
    "Jobs": "consolidation.jobs",
    "Periods": "consolidation.periods",
    "Remember": "consolidation.remember",
    "Tracer": "consolidation.trace",
    "Twoway": "consolidation.twoway",
    "Undo": "consolidation.undo",
    "explicit_draft": "explicit",
    "remembered_in": "explicit",
    "wanted": "explicit",
    "graded": "consolidation.strength",
    "SessionHandle": "handle",
    "TIERS": "starter",
    "starter": "starter",
}

__all__ = [
    "TIERS",
    "Batch",
    "Distil",
    "DraftGate",
    "History",
    "Ingest",
    "JobReport",
    "Jobs",
    "Periods",
    "Remember",
    "Role",
    "Said",
    "Screen",
    "Session",
    "SessionHandle",
    "SessionLog",
    "Shelf",
    "Tracer",
    "Twoway",
    "Undo",
    "Vetting",
    "Views",
    "checkpoint",
    "copy_id",
    "explicit_draft",
    "graded",
    "lay",
    "note_copy",
    "other_copies",
    "read_stones",
    "rekey",
    "remembered_in",
    "sessions",
    "starter",
    "wanted",
]


def __getattr__(name: str) -> object:
    """Import a stage."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = importlib.import_module(f"kimi_memory.{_HOMES[name]}")
    return home if _HOMES[name].endswith(f".{name}") else getattr(home, name)
