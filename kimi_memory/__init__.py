"""kimi_memory: an agent's memory as a folder of Markdown you own.

Everything a program or a plugin needs stands here, in `kimi_memory.model`,
`kimi_memory.text` and `kimi_memory.errors`; the rest may move.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kimi_memory.errors import KimiMemoryError
from kimi_memory.hookspecs import hookimpl

if TYPE_CHECKING:
    from kimi_memory.memory import Memory
    from kimi_memory.opening import Opening

__version__ = "0.1.0"
__all__ = ["KimiMemoryError", "Memory", "Opening", "__version__", "hookimpl"]


_LAZY = {"Memory": "kimi_memory.memory", "Opening": "kimi_memory.opening"}


def __getattr__(name: str) -> object:
    """Load `Memory` and `Opening` when they are first asked for: plugins import this too."""
    if name in _LAZY:
        import importlib

        return getattr(importlib.import_module(_LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
