"""What a page is: its address, who may see it, and the values that its template shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

from kimi_memory.api.memory import Memory
from kimi_memory.errors import KimiMemoryError
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.server.principal import Caller

ROOT = "/ui"


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
    title: str
    """A name of a caption, or what stands there itself."""
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Redirect:
    """Another page that shows what was done."""

    to: str


def title_of(memory: Memory, id: str) -> str:
    """Return what a note is known by; its id where it is not there, or has no title."""
    try:
        note = memory.get(id).note
    except KimiMemoryError:
        return id
    return str(getattr(note, "value", "") or getattr(note, "title", "")) or id


Deed = Callable[[Memory, Asked], View | Redirect]


@dataclass(frozen=True, slots=True)
class Page:
    """A row in the table of pages."""

    method: str
    path: str
    """Below `ROOT`."""
    deed: Deed
    whole: bool = True
    """Whether it shows the whole memory, so that who is bound to a part has no such page."""


def link(path: str, **query: str | int | tuple[str, ...]) -> str:
    """Return the address of a page; what is empty is left out."""
    given = {name: value for name, value in query.items() if value}
    return f"{ROOT}{path}{f'?{urlencode(given, doseq=True)}' if given else ''}"
