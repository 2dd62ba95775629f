"""How many bytes a memory takes: its tiers, its history, and what is derived."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from kimi_memory.index.tiers import tier_of
from kimi_memory.store.files.paths import PRIVATE

_HISTORY = ".git"


def sizes(root: Path) -> Mapping[str, int]:
    """Return bytes by tier, of the pages outside of all tiers, of history and of derived files."""
    found: Counter[str] = Counter()
    for folder, _, names in os.walk(root):
        here = Path(folder)
        above = here.relative_to(root).as_posix()
        head = above.partition("/")[0]
        part = {_HISTORY: "history", PRIVATE: "derived"}.get(head) or tier_of(f"{above}/")
        for name in names:
            try:
                found[part] += (here / name).lstat().st_size
            except OSError:
                continue  # It went while we looked.
    return dict(sorted(found.items()))


def shown_size(count: int) -> str:
    """Return a number of bytes for people."""
    if count < 1024:
        return f"{count} B"
    size, units = float(count), ("KiB", "MiB", "GiB")
    for unit in units:
        size /= 1024
        if size < 1024 or unit == units[-1]:
            break
    return f"{size:.1f} {unit}"
