"""Where the memory of a command is."""

from __future__ import annotations

import os
from argparse import Namespace
from pathlib import Path

from kimi_memory.config import MARKER
from kimi_memory.errors import NotAMemoryError


def find_memory(arguments: Namespace) -> Path:
    """Return the memory folder a command is about.

    Raises:
        NotAMemoryError: none was named and none lies above the working directory.
    """
    named = arguments.memory or os.environ.get("KIMI_MEMORY")
    if named:
        return Path(named)
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / MARKER).is_file():
            return folder
    raise NotAMemoryError(here)
