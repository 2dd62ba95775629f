"""The window of lengths in which a turn may become a memory at once."""

from __future__ import annotations

from kimi_memory.config import CaptureTable
from kimi_memory.nlp.basic.cjk import HAN
from kimi_memory.nlp.basic.regex import regex

_HAN = regex(f"[{HAN}]")


def fits_window(text: str, limits: CaptureTable) -> bool:
    """Whether a text is neither too short to be a statement nor as long as pasted text."""
    if len(text) > limits.max_chars:
        return False
    # A Chinese character counts twice: it says about as much as two letters or more.
    return limits.min_chars <= len(text) + len(_HAN.findall(text)) <= limits.max_chars
