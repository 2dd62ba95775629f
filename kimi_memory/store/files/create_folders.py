"""The ground a memory stands on: its folder and the folders of its tiers."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from kimi_memory.store.files.disk import refusal


def lay(root: Path, tiers: Iterable[str]) -> None:
    """Make the folder of a memory and those of its tiers, where they are missing.

    Raises:
        DiskError: the system refused, or a file is in the way.
    """
    for folder in (root, *(root / tier for tier in tiers)):
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise refusal(str(folder), error) from error
