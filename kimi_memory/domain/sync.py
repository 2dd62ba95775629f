"""What merging and syncing copies of a memory came to."""

from __future__ import annotations

from datetime import datetime

from kimi_memory.domain.job import Operation
from kimi_memory.lazy_dataclass import dataclass

SECONDS = 300.0
"""How long a remote may take in all."""


@dataclass(frozen=True, slots=True)
class MergeReport:
    """What a merge did, or with a dry run would do."""

    source: str
    theirs: str
    """The other commit."""
    commit: str = ""
    """The current commit afterwards; empty where nothing was to do, and with a dry run."""
    paths: tuple[str, ...] = ()
    """Files that change here."""
    joined: int = 0
    """Notes that both sides changed."""
    variants: tuple[tuple[str, str], ...] = ()
    """Cards with two statements, each with the candidate that keeps the other one."""
    forks: tuple[str, ...] = ()
    """Sessions that went on in both, under the names their later turns have now."""
    kept: tuple[str, ...] = ()
    """Versions that could not be merged."""
    settled: tuple[Operation, ...] = ()
    """What became of cards that say something of one thing."""
    signers: tuple[str, ...] = ()
    """Whose signatures were found on it, of those that are known."""
    waiting: tuple[str, ...] = ()
    """Files that wait for a person's word."""
    base: str = ""
    """The last commit that both sides have; empty where nothing was to do."""
    ahead: int = 0
    """Versions that are there and not here."""
    behind: int = 0
    """Versions that are here and not there."""
    added: int = 0
    """Notes that are new here."""
    turns: int = 0
    """Turns that were said there alone."""
    found: int = 0
    """Of these, the ones that the result has: all of them, or something is wrong."""
    ahead_until: datetime | None = None
    """The time of the other commit, where the clock there is minutes ahead of the one here."""
    job: str = ""
    """Of an adopted memory the record by which it can be undone; a merge has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncOptions:
    """How to sync."""

    pull: bool = True
    """Whether what others sent is merged here."""
    push: bool = True
    """Whether what is here is sent."""
    dry_run: bool = False
    """Report, and write nothing but objects that git does not show."""
    since: str = ""
    """A point that all copies have: a first bundle in a drop folder has only what came after."""
    seconds: float = SECONDS
    """How long each remote may take."""
    accept_forced: bool = False
    """Merge with a remote whose history was replaced, and send the result."""


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What came of syncing with one remote."""

    name: str
    url: str
    received: int = 0
    """Versions that were there and not here."""
    sent: int = 0
    """Versions that were here and not there."""
    head: str = ""
    """The current commit afterwards."""
    merged: tuple[MergeReport, ...] = ()
    """What was merged; of a folder of bundles what each copy brought."""
    left_out: tuple[str, ...] = ()
    """One line for what was not done, and why."""
    lag_ms: int | None = None
    """How old the oldest version is that is here and not there; 0 in step, None if not known."""
    failed: str = ""
    """Why it stopped; empty where it did not. Everything is still here."""
    code: int = 0
    """The exit code of that error."""
