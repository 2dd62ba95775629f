"""The memory of the panel, asked by one thread at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import TypeVar

from kimi_memory.api.memory import Memory
from kimi_memory.tui.phrases import phrases

T = TypeVar("T")


class Desk:
    """Hands questions to a memory, one after the other.

    Args:
        memory: an open memory; it is closed by its opener.
        lang: ``en`` or ``zh``.
    """

    def __init__(self, memory: Memory, lang: str) -> None:
        self.memory = memory
        self.say: Mapping[str, str] = phrases(lang)
        self._one = threading.Lock()

    def ask(self, question: Callable[[], T]) -> T:
        """Return the answer to a question; others wait meanwhile."""
        with self._one:
            return question()
