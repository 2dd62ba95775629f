"""A log of what the memory does.

Why it exists: a memory that works unattended must be able to say what it did. Switch
on logging for ``kimi_memory.activity`` at level INFO and it tells.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kimi_memory import hookimpl

if TYPE_CHECKING:
    from kimi_memory import Memory
    from kimi_memory.model.job import Job
    from kimi_memory.model.session import Session
    from kimi_memory.model.unit import Hit, Query

NAME = "kimi_memory.activity"


@hookimpl
def memory_opened(memory: Memory) -> None:
    """Tell which folder was opened."""
    _tell("opened %s", memory.root)


@hookimpl
def session_ended(session: Session, turns: int) -> None:
    """Tell which session ended and how long it was."""
    _tell("session %s ended with %d turns", session.id, turns)


@hookimpl
def changes_applied(paths: Sequence[str], job: Job | None) -> None:
    """Tell what was written, and by which job."""
    _tell("%s wrote %d files: %s", job.id if job else "no job", len(paths), ", ".join(paths[:5]))


@hookimpl
def recalled(query: Query, hits: Sequence[Hit]) -> None:
    """Tell how many hits a query had; its words stay out of the log."""
    _tell("recall of %d characters had %d hits", len(query.text), len(hits))


def _tell(message: str, *told: object) -> None:
    # Who listens has loaded this; a command that answers one question need not.
    if logging := sys.modules.get("logging"):
        logging.getLogger(NAME).info(message, *told)
