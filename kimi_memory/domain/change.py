"""Changes: what a stage wants written, and on whose behalf. Only the store carries them out.

Paths are relative to the memory folder, with forward slashes. `base` is the
SHA-256 (hex) of the bytes the stage read; a change over another content is refused.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple

from kimi_memory.domain.note import Origin
from kimi_memory.lazy_dataclass import dataclass


class Actor(NamedTuple):
    """Who writes, with what trust, in which session or job, and for whom."""

    name: str
    """``cli``, ``library``, ``job:daily``, ``claude`` …"""
    origin: Origin = Origin.AGENT
    session: str = ""
    job: str = ""
    sub: str = ""
    """The member of a space on whose behalf; empty where there is none."""
    run: str = ""
    """The run of an agent that writes; empty where none is known."""


def of_job(actor: Actor, kind: str) -> Actor:
    """Return a job as the one who writes, for whom somebody had it run."""
    return actor._replace(name=f"job:{kind}", session="", job=kind)


def digest(content: bytes) -> str:
    """Return the SHA-256 of a file's bytes, as changes and jobs carry it."""
    return hashlib.sha256(content).hexdigest()


class Create(NamedTuple):
    """A new file; refused where one exists."""

    path: str
    content: bytes


class Update(NamedTuple):
    """New bytes for the file whose bytes hashed to `base`."""

    path: str
    base: str
    content: bytes


class Append(NamedTuple):
    """Whole lines at the end of a file, made if it is not there."""

    path: str
    lines: tuple[bytes, ...]
    """Each ends in a newline and holds no other."""


class Move(NamedTuple):
    """The same bytes at another path; refused where that exists."""

    path: str
    to: str
    base: str


class Delete(NamedTuple):
    """No file any more; its bytes stay in history and in the undo area."""

    path: str
    base: str


Change = Create | Update | Append | Move | Delete


# Hashes and no contents: undo takes those from history, and a purged text must not live on in the
# record of a job.
@dataclass(frozen=True, slots=True)
class Effect:
    """What became of one file: hashes before and after, empty for absent."""

    path: str
    before: str
    after: str
