"""The tokens of a day that the memories of a space share.

Why it exists: a team pays one bill. `[budget] tokens_per_day` of a space bounds what the jobs of
all its memories on this machine spend together. A plugin of yours can bound them by other rules.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from kimi_memory import hookimpl
from kimi_memory.domain.job import TokenBound
from kimi_memory.spaces.budget import SpaceBudgets

SETTINGS = ()
"""Nothing is to be set: the bound is in the folder of the space."""


class SpaceBudget:
    """Asks the space of a memory."""

    def __init__(self) -> None:
        self._budgets = SpaceBudgets()

    @hookimpl
    def bound_tokens(
        self, memory: str, root: Path, state: Path, now: datetime
    ) -> TokenBound | None:
        """Say what is left of the day."""
        return self._budgets.find_bound(state, memory, root, now)


def create(settings: Mapping[str, Any]) -> SpaceBudget:
    """Make the plugin."""
    return SpaceBudget()
