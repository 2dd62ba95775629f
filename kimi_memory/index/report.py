"""What an index tells of itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What a refresh did."""

    added: int
    """Units written."""
    removed: int
    """Files whose units were taken out."""
    units: int
    """Units in the index now."""
    files: int
    broken: tuple[tuple[str, str], ...] = ()
    """Files that cannot be parsed, and why."""
    embedded: int = 0
    """Units with a vector."""


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """How the index stands to the files."""

    generation: str
    """Empty when there is none, or none that may be opened."""
    units: int
    files: int
    pending: int
    """Units that differ from the index, which recall reads itself; of many, how many files."""
    model: str = ""
    broken: tuple[tuple[str, str], ...] = ()
    why: str = ""
    """Why the index on disk is not used."""
