"""A request for a context block: its purpose, its budget, and what the caller may see."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from kimi_memory.domain.search_types import Purpose, Query
    from kimi_memory.nlp.dates.vocabulary import Zone


class Request(NamedTuple):
    """What a context is wanted for."""

    purpose: Purpose
    budget: int
    """Most tokens of the block, by `kimi_memory.nlp.basic.sentences.estimate`."""
    nonce: str
    """8 to 64 random letters and digits, new for every block."""
    query: str = ""
    project: str = ""
    session: str = ""
    """Root id of the open session; the newest one if empty."""
    beside: str = ""
    """Root id of a session whose turns the model has before it; none of them is shown."""
    within: tuple[str, ...] | None = None
    """Private scopes that may be shown beside what is shared; None for all."""
    valid_at: datetime | None = None
    """Find what was held to be true at this moment; what is shown in any case is of now."""
    zone: Zone = UTC
    """The zone of shown days."""
    shown_from: datetime | None = None
    """What an open session says of its task is not shown where it was last heard before."""
    bound: Callable[[Query], Query] | None = None
    """Returns a query that finds only what the caller may see; None for an owner."""

    def narrowed(self, query: Query) -> Query:
        """Return a query that finds nothing but what the caller may see."""
        return self.bound(query) if self.bound else query
