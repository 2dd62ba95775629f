"""A page that a plugin adds to those of a memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kimi_memory.lazy_dataclass import dataclass

Given = Mapping[str, Sequence[str]]
"""What the address of a page says, by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginPage:
    """One page; who is bound to a part of a memory has none of them."""

    name: str
    """Its address below the pages: Latin letters and dashes, such as ``audit``."""
    titles: tuple[str, str]
    """In English and in Chinese; the page is listed under it."""
    template: str
    """Text of a Jinja template for what stands below the title. Every value is escaped."""
    find: Callable[[Any, Given], Mapping[str, object]]
    """Returns the values of the template. It gets the opened memory, of which it changes nothing,
    and what the address says."""
    labels: Mapping[str, tuple[str, str]]
    """What the template says in its own words, in English and Chinese; it finds each as ``t.name``
    beside those of all pages."""
