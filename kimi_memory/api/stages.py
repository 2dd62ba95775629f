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
    from kimi_memory.jobs.distil import Distil, undistilled
    from kimi_memory.jobs.import_edits import ImportEdits
    from kimi_memory.jobs.planner import planners_of
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
    "rekey": "jobs.rekeying",
    "sessions": "store.notes.sessions",
    "Ingest": "capture.ingest",
    "Said": "capture.log",
    "SessionLog": "capture.log",
    "Distil": "jobs.distil",
    "undistilled": "jobs.distil",
    "planners_of": "jobs.planner",
    "JobReport": "domain.job",
    "Jobs": "jobs.runner",
    "Remember": "jobs.remember",
    "Tracer": "jobs.trace",
    "ImportEdits": "jobs.import_edits",
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
    "History",
    "ImportEdits",
    "Ingest",
    "JobReport",
    "Jobs",
    "Remember",
    "Role",
    "Said",
    "Screen",
    "Session",
    "SessionHandle",
    "SessionLog",
    "Shelf",
    "Tracer",
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
    "planners_of",
    "rekey",
    "remembered_in",
    "sessions",
    "starter",
    "undistilled",
    "wanted",
]


def __getattr__(name: str) -> object:
    """Import a stage."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = importlib.import_module(f"kimi_memory.{_HOMES[name]}")
    return home if _HOMES[name].endswith(f".{name}") else getattr(home, name)
