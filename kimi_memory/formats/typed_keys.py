"""Keys of front matter as typed values, with errors that name the line."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import TypeVar

from kimi_memory.domain.moment import moment
from kimi_memory.errors import FormatError
from kimi_memory.formats.frontmatter import FrontMatter
from kimi_memory.formats.scalar import Value

E = TypeVar("E", bound=StrEnum)
T = TypeVar("T")

# It becomes part of a file name: no slash, no dot in front, and no more than most systems take.
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,119}")
_TAG_GAP = re.compile(r"[,，、\s]+")


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of one file; empty and missing are the same."""

    front: FrontMatter
    path: str

    def refusal(self, name: str, why: str, remedy: str = "Correct the line") -> FormatError:
        """Return the error for a key that does not say what it should."""
        return FormatError(self.path, self.front.lines.get(name, 1), why, remedy)

    def text(self, name: str, default: str = "") -> str:
        """Return a line of text; a number or a word of YAML is what was written."""
        value = self.front.values.get(name)
        if isinstance(value, list | dict):
            raise self.refusal(name, f"{name!r} should be one line of text")
        return default if value is None else _scalar_text(value)

    def needed(self, name: str) -> str:
        """Return a line of text that must be there."""
        if not (text := self.text(name)):
            raise self.refusal(name, f"the key {name!r} is missing", f"Add a line '{name}: …'")
        return text

    def id(self) -> str:
        """Return the note's id, which is safe as a part of a file name."""
        if not _ID.fullmatch(text := self.needed("id")):
            raise self.refusal("id", f"{text!r} is no id (letters, digits and - . _)")
        return text

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of text; a single value is a list of one."""
        value = self.front.values.get(name)
        if not isinstance(value, list):
            return (text,) if (text := self.text(name)) else ()
        if any(isinstance(item, list | dict) for item in value):
            raise self.refusal(name, f"{name!r} should be a list of text")
        return tuple(text for item in value if item is not None and (text := _scalar_text(item)))

    def tags(self) -> tuple[str, ...]:
        """Return the tags; a single line of them may be parted by commas or spaces."""
        if isinstance(self.front.values.get("tags"), list):
            return self.texts("tags")
        words = _TAG_GAP.split(self.text("tags"))
        return tuple(tag for word in words if (tag := word.removeprefix("#")))

    def number(self, name: str, default: float) -> float:
        """Return a number."""
        value = self.front.values.get(name)
        if value is None:
            return default
        try:
            found = (
                float(_scalar_text(value))
                if not isinstance(value, bool | list | dict)
                else math.nan
            )
        except ValueError:
            found = math.nan
        if not math.isfinite(found):
            raise self.refusal(name, f"{name!r} should be a number")
        return found

    def flag(self, name: str) -> bool:
        """Return whether a key says true."""
        value = self.front.values.get(name)
        if value not in (None, True, False):
            raise self.refusal(name, f"{name!r} should be true or false")
        return value is True

    def moment(self, name: str) -> datetime | None:
        """Return a moment in UTC, or None."""
        return self.parsed(name, moment, text) if (text := self.text(name)) else None

    def date(self, name: str) -> date:
        """Return a day that must be there."""
        return self.parsed(name, date.fromisoformat, self.needed(name))

    def choice(self, name: str, words: type[E], default: E | None = None) -> E:
        """Return one of a closed set of words."""
        text = self.text(name) or (default or self.needed(name))
        try:
            return words(text)
        except ValueError:
            allowed = ", ".join(words)
            raise self.refusal(name, f"{name!r} is {text!r}, not one of {allowed}") from None

    def parsed(self, name: str, parse: Callable[[str], T], text: str) -> T:
        """Return what a text form says."""
        try:
            return parse(text)
        except ValueError as error:
            raise self.refusal(name, f"{name!r}: {error}") from None


def _scalar_text(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
