"""Decisions by Cedar, over the policies in the folder of a space.

Why it exists: who may do what is text that people read, review and take back. A plugin of yours
that answers `permit` decides instead, and one that wraps it can refuse more.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kimi_memory import hookimpl
from kimi_memory.domain.space_types import Decision, Question
from kimi_memory.spaces.policies import PolicyFolders

SETTINGS = ()
"""Nothing is to be set: the policies are in the folder of the space."""


class CedarPolicies:
    """Asks the policies of a space."""

    def __init__(self) -> None:
        self._folders = PolicyFolders()

    @hookimpl(trylast=True)
    def permit(self, question: Question, root: Path) -> Decision:
        """Decide by the policies as they stand."""
        return self._folders.find(root).decide(question)


def create(settings: Mapping[str, Any]) -> CedarPolicies:
    """Make the plugin."""
    return CedarPolicies()
