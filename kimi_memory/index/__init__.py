"""The index: units of recall read from the files, their postings, and generations on disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kimi_memory.index.index import Index
    from kimi_memory.index.searcher import Searcher

__all__ = ["Index", "Searcher"]


def __getattr__(name: str) -> object:
    """Load a class when it is first asked for: opening a memory to write needs none."""
    if name == "Index":
        from kimi_memory.index.index import Index

        return Index
    if name == "Searcher":
        from kimi_memory.index.searcher import Searcher

        return Searcher
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
