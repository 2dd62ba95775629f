"""Recall: finds the units that answer a question, and builds context from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kimi_memory.recall.engine import Answer, Recall

__all__ = ["Answer", "Recall"]


def __getattr__(name: str) -> object:
    """Load a class when it is first asked for: opening a memory to write needs none."""
    if name in __all__:
        from kimi_memory.recall import engine

        return getattr(engine, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
