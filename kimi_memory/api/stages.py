"""The stages of a memory's life, imported when they are first used: recall needs none."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kimi_memory.api.scaffold import TIERS, starter
    from kimi_memory.api.session import SessionHandle
    from kimi_memory.capture.ingest import Ingest
    from kimi_memory.capture.log import Said, SessionLog
    from kimi_memory.capture.remember import explicit_draft, remembered_in, wanted
    from kimi_memory.capture.screen import Screen
    from kimi_memory.capture.views import Views
    from kimi_memory.domain.job import JobReport
    from kimi_memory.domain.origin import Role
    from kimi_memory.domain.session import Session
    from kimi_memory.jobs.distil import Distil
    from kimi_memory.jobs.gates import DraftGate
    from kimi_memory.jobs.import_edits import Twoway
    from kimi_memory.jobs.periods import Periods
    from kimi_memory.jobs.rekeying import rekey
    from kimi_memory.jobs.remember import Remember
    from kimi_memory.jobs.runner import Jobs
    from kimi_memory.jobs.strength import graded
    from kimi_memory.jobs.trace import Tracer
    from kimi_memory.jobs.undo import Undo
    from kimi_memory.store.checkpoints import checkpoint
    from kimi_memory.store.copy import copy_id
    from kimi_memory.store.files.create_folders import lay
    from kimi_memory.store.git.autocommit import Batch
    from kimi_memory.store.git.history import History
    from kimi_memory.store.known_copies import note_copy, other_copies
    from kimi_memory.store.notes import sessions
    from kimi_memory.store.notes.notes import Shelf
    from kimi_memory.store.notes.tombstones import read_stones
    from kimi_memory.store.trust.vetting import Vetting

_HOMES = {
    "Batch": "store.git.autocommit",
    "History": "store.git.history",
    "Role": "domain.turn",
    "Screen": "capture.screen",
    "Session": "domain.session",
    "Shelf": "store.notes.notes",
    "Vetting": "store.trust.vetting",
    "Views": "capture.views",
    "checkpoint": "store.checkpoints",
    "copy_id": "store.copy",
    "lay": "store.files.create_folders",
    "note_copy": "store.known_copies",
    "other_copies": "store.known_copies",
    "read_stones": "store.notes.tombstones",
    "rekey": "jobs.rekeying",
    "sessions": "store.notes.sessions",
    "Ingest": "capture.ingest",
    "Said": "capture.log",
    "SessionLog": "capture.log",
    "Distil": "jobs.distil",
    "DraftGate": "jobs.gates",
    "JobReport": "domain.job",
    "Jobs": "jobs.runner",
    "Periods": "jobs.periods",
    "Remember": "jobs.remember",
    "Tracer": "jobs.trace",
    "Twoway": "jobs.import_edits",
    "Undo": "jobs.undo",
    "explicit_draft": "capture.remember",
    "remembered_in": "capture.remember",
    "wanted": "capture.remember",
    "graded": "jobs.strength",
    "SessionHandle": "api.session",
    "TIERS": "api.scaffold",
    "starter": "api.scaffold",
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
