"""kimi_memory: an agent's memory as a folder of Markdown you own.

Everything a program or a plugin needs stands here, in `kimi_memory.domain`,
`kimi_memory.formats`, `kimi_memory.nlp` and `kimi_memory.errors`; the rest may move.
"""

from __future__ import annotations

import importlib

# Python's own name costs the import of `typing`, which a hook has no time for.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from kimi_memory.api.memory import Memory
    from kimi_memory.api.options import Opening
    from kimi_memory.errors import KimiMemoryError
    from kimi_memory.hooks.specs import hookimpl

__version__ = "0.1.0"
__all__ = ["KimiMemoryError", "Memory", "Opening", "__version__", "hookimpl"]


_LAZY = {
    "KimiMemoryError": "kimi_memory.errors",
    "Memory": "kimi_memory.api.memory",
    "Opening": "kimi_memory.api.options",
    "hookimpl": "kimi_memory.hooks.specs",
}


def __getattr__(name: str) -> object:
    """Load a name when it is first asked for: a hook needs none of them."""
    if name in _LAZY:
        value = getattr(importlib.import_module(_LAZY[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
