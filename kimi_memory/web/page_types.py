"""What a page is: its address, who may see it, and the values that its template shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any
from urllib.parse import urlencode

from kimi_memory.api.memory import Memory
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.server.principal import Caller

ROOT = "/ui"
"""All pages lie below it; those of one of several memories below a name of its own."""
MOST_FIELDS = 2000
"""So many fields an address or a form has at most."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One request of a seat."""

    caller: Caller
    given: Mapping[str, tuple[str, ...]]
    """What its address and its form say, by name."""

    def get(self, name: str, default: str = "") -> str:
        """Return the last value of a name."""
        found = self.given.get(name, ())
        return found[-1].strip() if found and found[-1].strip() else default

    def all(self, name: str) -> tuple[str, ...]:
        """Return every value of a name that is not blank."""
        return tuple(value.strip() for value in self.given.get(name, ()) if value.strip())

    def number(self, name: str, default: int) -> int:
        """Return a number of up to nine digits."""
        text = self.get(name)
        return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else default


@dataclass(frozen=True, slots=True)
class View:
    """A page to be shown."""

    template: str
    title: str | tuple[str, str]
    """A name of a caption, or what stands there itself; or both languages of it."""
    values: Mapping[str, Any]
    source: str = ""
    """Text of the template of a plugin, which is shown in the template of all of them."""
    labels: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """What that text says in its own words, in both languages."""


@dataclass(frozen=True, slots=True)
class Redirect:
    """Another page that shows what was done."""

    to: str
    """Its address, as `link` returns it."""


@dataclass(frozen=True, slots=True)
class Download:
    """A file to be kept instead of a page to be shown."""

    text: str
    kind: str
    """Its media type."""
    name: str


Deed = Callable[[Memory, Asked], View | Redirect | Download]


@dataclass(frozen=True, slots=True)
class Page:
    """A row in the table of pages."""

    method: str
    path: str
    """Below the pages of its memory."""
    deed: Deed
    whole: bool = True
    """Whether it shows the whole memory, so that who is bound to a part has no such page."""


def link(path: str, **query: str | int | tuple[str, ...]) -> str:
    """Return the address of a page of the same memory; what is empty is left out."""
    given = {name: value for name, value in query.items() if value}
    return f"{path}{f'?{urlencode(given, doseq=True)}' if given else ''}"
