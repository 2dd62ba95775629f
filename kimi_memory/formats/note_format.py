"""The shape of a kind of note: its keys as typed values, what its body says, and back."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import date, datetime
from enum import StrEnum
from typing import Any, Generic, TypedDict, TypeVar

from kimi_memory.domain.ids import moment, stamp
from kimi_memory.domain.note import Lang, Note, Quote, Source, Status
from kimi_memory.errors import FormatError
from kimi_memory.formats.body_layout import Body, Layout, Style, quote_block, quoted
from kimi_memory.formats.frontmatter import FrontMatter
from kimi_memory.formats.scalar import Value, clean, one_line
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.basic.patterns import regex
from kimi_memory.nlp.basic.safe_text import slug as short

E = TypeVar("E", bound=StrEnum)
T = TypeVar("T")

# It becomes part of a file name: no slash, no dot in front, and no more than most systems take.
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,119}")
_TAG_GAP = re.compile(r"[,，、\s]+")
N = TypeVar("N", bound=Note)

_HAN = regex("[\u3400-\u9fff]")


# Strict where a wrong value would be believed, lenient where YAML merely guesses: `key: 8080` is
# text to the person who wrote it.
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
        # Nearly all are text or not there, and of each note twenty are asked for.
        if value is None or isinstance(value, str):
            return default if value is None else value
        if isinstance(value, list | dict):
            raise self.refusal(name, f"{name!r} should be one line of text")
        return _scalar_text(value)

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
        # Many programs for notes write a tag as `#db`.
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


@dataclass(frozen=True, slots=True)
class Shape(Generic[N]):
    """How notes of one kind become text and text becomes notes."""

    layout: Layout
    values: Callable[[N], dict[str, Value]]
    """Front matter of a clean note; empty values are left out of the file."""
    body: Callable[[N], Body]
    build: Callable[[Keys, Body], N]
    clean: Callable[[N], N]
    place: Callable[[N], str]
    """Path in the memory."""


class Common(TypedDict):
    """What every note is built from."""

    id: str
    created: datetime
    updated: datetime
    tags: tuple[str, ...]
    status: Status
    sources: tuple[Source, ...]
    lang: Lang


def common(keys: Keys) -> Common:
    """Read the keys that all notes share."""
    created = keys.parsed("created", lambda _: keys.moment("created"), keys.needed("created"))
    assert created is not None, "a key that is needed is there"
    # A page that a person began names no language; a single hanzi shows which it is.
    guess = Lang.ZH if _HAN.search(keys.front.body) else Lang.EN
    sources = keys.texts("sources")
    return {
        "id": keys.id(),
        "created": created,
        "updated": keys.moment("updated") or created,
        "tags": keys.tags(),
        "status": keys.choice("status", Status, Status.ACTIVE),
        "sources": tuple(keys.parsed("sources", Source.parse, text) for text in sources),
        "lang": keys.choice("lang", Lang, guess),
    }


def values(note: Note, first: Mapping[str, Value], rest: Mapping[str, Value]) -> dict[str, Value]:
    """Return front matter in its fixed order, without what is empty."""
    every: dict[str, Value] = {
        "id": note.id,
        "kind": note.kind,
        **first,
        "status": str(note.status),
        "created": stamp(note.created),
        "updated": stamp(note.updated),
        "lang": str(note.lang),
        "tags": list(note.tags),
        **rest,
        "sources": [str(source) for source in note.sources],
    }
    return {name: value for name, value in every.items() if value not in (None, "", [])}


def clean_common(note: Note) -> Common:
    """Return the shared part of a note, cleaned."""
    return {
        "id": note.id,
        "created": note.created,
        "updated": note.updated,
        "tags": lines(note.tags),
        "status": note.status,
        "sources": note.sources,
        "lang": note.lang,
    }


def with_fields(note: N, **fields: Any) -> N:
    """Return a note that has these fields; itself where it has them already."""
    # To make a card takes longer than to see that it is clean, and nearly all are.
    if all(getattr(note, name) == value for name, value in fields.items()):
        return note
    return replace(note, **fields)


def lines(texts: Iterable[str]) -> tuple[str, ...]:
    """Return one-line texts, cleaned, without empty ones."""
    return tuple(line for text in texts if (line := one_line(text)))


def texts(texts: Iterable[str]) -> tuple[str, ...]:
    """Return texts, cleaned, without empty ones."""
    return tuple(found for text in texts if (found := clean(text)))


def section_blocks(note: Note, sections: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return the blocks of sections that are fields of the note of the same name."""
    found = ((name, getattr(note, name)) for name in sections)
    return {name: (said,) if isinstance(said, str) else said for name, said in found if said}


def read_sections(body: Body, sections: Mapping[str, Style]) -> dict[str, Any]:
    """Return the fields of a note that its sections say, each of them by its name."""
    read = ((name, style, body.sections.get(name, ())) for name, style in sections.items())
    return {name: "".join(said) if style is Style.TEXT else said for name, style, said in read}


def read_fields(body: Body, names: Iterable[str]) -> dict[str, Any]:
    """Return the fields of a note that its body has under the same labels."""
    return {name: body.fields.get(name, "") for name in names}


def clean_lines(note: Note, *names: str) -> dict[str, Any]:
    """Return some fields of a note, each cleaned and in one line."""
    return {name: one_line(getattr(note, name)) for name in names}


def clean_texts(note: Note, names: Iterable[str]) -> dict[str, Any]:
    """Return some fields of a note, texts and lists of texts, cleaned."""
    found = ((name, getattr(note, name)) for name in names)
    return {name: clean(said) if isinstance(said, str) else texts(said) for name, said in found}


def clean_quotes(quotes: Iterable[Quote]) -> tuple[Quote, ...]:
    """Return quotes with their words cleaned, without empty ones."""
    return tuple(
        Quote(quote.session, quote.n, words) for quote in quotes if (words := clean(quote.text))
    )


def quote_blocks(quotes: Iterable[Quote]) -> tuple[str, ...]:
    """Return the blocks of a section of quotes."""
    return tuple(quote_block(quote.session, quote.n, quote.text) for quote in quotes)


def quotes_of(body: Body) -> tuple[Quote, ...]:
    """Return the quotes of a body."""
    return tuple(Quote(*quoted(block)) for block in body.sections.get("quotes", ()))


def moment_text(at: datetime | None) -> str | None:
    """Return a moment as front matter has it, None for none."""
    return stamp(at) if at else None


def own_name(title: str, scope: str) -> str:
    """Return the file name that a title has, with whose it is where that is not everybody's."""
    return f"{short(title, limit=40)}.{short(scope, limit=20)}" if scope else slug(title)


def slug(text: str) -> str:
    """Return the file name that a title has, without its ending."""
    return short(text, limit=60)
