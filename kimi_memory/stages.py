"""The stages of a memory's life, imported when they are first used: recall needs none."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kimi_memory.capture.ingest import Ingest
    from kimi_memory.capture.log import Said, SessionLog
    from kimi_memory.consolidation.distil import Distil
    from kimi_memory.consolidation.gates import DraftGate
    from kimi_memory.consolidation.jobs import Jobs
    from kimi_memory.consolidation.periods import Periods
    from kimi_memory.consolidation.remember import Remember
    from kimi_memory.consolidation.trace import Tracer
    from kimi_memory.consolidation.undo import Undo
    from kimi_memory.explicit import explicit_draft, wanted
    from kimi_memory.handle import SessionHandle
    from kimi_memory.starter import TIERS, starter

_HOMES = {
    "Ingest": "capture.ingest",
    "Said": "capture.log",
    "SessionLog": "capture.log",
    "Distil": "consolidation.distil",
    "DraftGate": "consolidation.gates",
    "Jobs": "consolidation.jobs",
    "Periods": "consolidation.periods",
    "Remember": "consolidation.remember",
    "Tracer": "consolidation.trace",
    "Undo": "consolidation.undo",
    "explicit_draft": "explicit",
    "wanted": "explicit",
    "SessionHandle": "handle",
    "TIERS": "starter",
    "starter": "starter",
}

__all__ = [
    "TIERS",
    "Distil",
    "DraftGate",
    "Ingest",
    "Jobs",
    "Periods",
    "Remember",
    "Said",
    "SessionHandle",
    "SessionLog",
    "Tracer",
    "Undo",
    "explicit_draft",
    "starter",
    "wanted",
]


def __getattr__(name: str) -> object:
    """Import a stage."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"kimi_memory.{_HOMES[name]}"), name)
