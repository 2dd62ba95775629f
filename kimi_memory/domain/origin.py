"""Who speaks, and where words come from."""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    """Who speaks, in the words of chat APIs."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    SYSTEM = "system"


class Origin(StrEnum):
    """Where words come from; listed from most to least trusted."""

    HUMAN = "human"
    AGENT = "agent"
    TOOL = "tool"
    IMPORT = "import"
    REMOTE = "remote"

    @property
    def rank(self) -> int:
        """0 for the most trusted origin, growing as trust falls."""
        return list(Origin).index(self)


def least_trusted(origins: list[Origin]) -> Origin:
    """Return the origin a note derived from all of these has; REMOTE for none."""
    return max(origins, key=lambda origin: origin.rank, default=Origin.REMOTE)
