"""Work over many memories: one unit is one memory, and a pool has workers that take units."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple, Protocol

UnitOutcome = Literal["done", "idle", "more", "elsewhere", "failed"]
"""``more`` has sessions left for another turn; ``elsewhere`` is led by another node."""


class Unit(NamedTuple):
    """One memory, and what is to be done with it."""

    folder: str
    name: str
    period: str
    """Name of the job: daily, weekly …"""
    config: str
    """The user's own directories: a worker may have another environment."""
    state: str
    node: str = ""
    """The machine that leads it; empty where any may do it."""
    per_round: float = 0.0
    """After so many seconds of sessions others have their turn; no bound if 0."""
    memory_mb: int = 0
    """Most data of a worker; no bound if 0."""
    longest_s: float = 0.0
    """A worker that is at one memory for longer is ended; no bound if 0."""
    round: int = 1


class UnitResult(NamedTuple):
    """What became of a unit."""

    unit: Unit
    outcome: UnitOutcome
    why: str = ""
    jobs: int = 0
    """Jobs that changed something."""
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    wall_s: float = 0.0


class Pool(Protocol):
    """Workers that carry out units, one each at a time."""

    workers: int

    def submit(self, unit: Unit) -> None:
        """Have a unit carried out as soon as a worker is free."""

    def wait(self) -> UnitResult:
        """Return the next result of what was submitted; one whose worker died has failed."""

    def close(self) -> None:
        """End the workers."""


class PoolWish(NamedTuple):
    """What a pool is to be like."""

    workers: int
    work: Callable[[Unit], UnitResult]
    """What each worker does; importable by its name in another process."""
    address: str = ""
    """Of an engine that runs already; empty for one on this machine alone."""
