"""What a folder knows of its place in a cluster: which log it follows, and how far it got.

``.kimi/deployment.json`` makes a folder a deployment. What it says of the log is a lower bound:
everything up to `seq` was carried out and journaled here; what came after it is looked at anew.
"""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from kimi_memory.errors import DivergedError
from kimi_memory.store.files.disk import put
from kimi_memory.store.files.paths import DEPLOYED
from kimi_memory.store.wal.journal import Extent

REMEDY = "Run 'kimi-memory deploy repair' to copy it anew"
RENEWAL = "'kimi-memory cluster run' copies it anew, or 'kimi-memory deploy repair' does"


class Deployment(NamedTuple):
    """One folder of a memory that is deployed on several nodes."""

    memory: str
    """Id of the memory: the name of its log."""
    node: str
    """The node that holds this folder."""
    seq: int = 0
    """All records up to this one are carried out here."""
    prev: str = ""
    """SHA-256 of that record."""
    extent: Extent = ("", 0)
    """How far the journal went when they were."""
    may_lead: bool = True
    """Whether this folder may take writes where no other does."""
    broken: str = ""
    """Why nothing more is carried out here; empty for a sound one."""
    keep: tuple[str, ...] = ()
    """The tiers that this folder has, and no history; all of the memory if empty."""


class Terms(NamedTuple):
    """How long a relay waits, and how long it leads."""

    ttl: float = 6.0
    """Seconds that a leadership lasts unless it is renewed."""
    wait_seconds: float = 10.0
    """How long the engine is asked again before an outcome is called unknown."""


class Kept(NamedTuple):
    """What a folder keeps of it, for all processes of its node."""

    root: Path

    def load(self) -> Deployment | None:
        """Return what was kept last."""
        return read_deployment(self.root)

    def save(self, deployment: Deployment) -> None:
        """Keep it, durably; not of a folder that was made a plain copy meanwhile."""
        if is_deployed(self.root):
            write_deployment(self.root, deployment)


def read_deployment(root: Path) -> Deployment | None:
    """Return what a folder knows; None for one that is no deployment.

    Raises:
        DivergedError: the file is damaged.
    """
    try:
        mark, _, body = (root / DEPLOYED).read_bytes().partition(b"\n")
    except (FileNotFoundError, NotADirectoryError):
        # A memory of this machine alone, as nearly all are.
        return None
    # What is damaged falls through to the error: to write alone would part it from the others.
    with suppress(ValueError, TypeError, KeyError):
        if mark == hashlib.sha256(body).hexdigest().encode():
            found = json.loads(body)
            segment, size = found.pop("extent")
            keep = tuple(found.pop("keep", ()))
            return Deployment(**found, extent=(segment, size), keep=keep)
    raise DivergedError(str(root), f"{DEPLOYED} is damaged", REMEDY)


def write_deployment(root: Path, deployment: Deployment) -> None:
    """Keep what a folder knows, durably."""
    body = json.dumps(deployment._asdict(), ensure_ascii=False).encode()
    put(root / DEPLOYED, hashlib.sha256(body).hexdigest().encode() + b"\n" + body, sync=True)


def is_deployed(root: Path) -> bool:
    """Whether a folder is a deployment."""
    return (root / DEPLOYED).exists()


def drop_deployment(root: Path) -> None:
    """Make a folder a plain memory again."""
    (root / DEPLOYED).unlink(missing_ok=True)
