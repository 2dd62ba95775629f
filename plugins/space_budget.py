"""The tokens of a day that the memories of a space share.

Why it exists: a team pays one bill. `[budget] tokens_per_day` of a space bounds what the jobs of
all its memories on this machine spend together. A plugin of yours can bound them by other rules.
"""

from __future__ import annotations

from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from kimi_memory import hookimpl

if TYPE_CHECKING:
    from kimi_memory.domain.job import TokenBound
    from kimi_memory.spaces.budget import SpaceBudgets

SETTINGS = ()
"""Nothing is to be set: the bound is in the folder of the space."""


@cache
def _load_budgets() -> SpaceBudgets:
    from kimi_memory.spaces.budget import SpaceBudgets

    return SpaceBudgets()


@hookimpl
def bound_tokens(memory: str, root: Path, state: Path, now: datetime) -> TokenBound | None:
    """Say what is left of the day."""
    # Most people have no space, and nothing of one is loaded for them.
    if not (state / "spaces.json").is_file():
        return None
    return _load_budgets().find_bound(state, memory, root, now)
