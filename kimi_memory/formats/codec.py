"""The text form of notes: the shape of each kind; render, parse, patch, place."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import date, datetime
from enum import StrEnum
from functools import cache, lru_cache
from importlib import import_module
from typing import Any, Generic, TypedDict, TypeVar

from kimi_memory.domain.ids import moment, stamp
from kimi_memory.domain.note import Lang, Note, Quote, Source, Status
from kimi_memory.domain.pages import IDENTITY_HEAD, IDENTITY_PATH
from kimi_memory.errors import FormatError
from kimi_memory.formats import body_layout, body_patch, frontmatter
from kimi_memory.formats.body_layout import Body, Layout, Style, quote_block, quoted
from kimi_memory.formats.frontmatter import FrontMatter
from kimi_memory.formats.frontmatter_patch import patch_values
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.basic.patterns import regex
from kimi_memory.nlp.basic.safe_text import Value, clean, entry, lines_of, one_line
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


_SHAPES = {
    "event": ("event_form", "EVENT"),
    "digest": ("event_form", "DIGEST"),
    "card": ("card_form", "SHAPE"),
    "project": ("card_form", "PROJECT"),
    "agent": ("card_form", "AGENT"),
    "identity": ("card_form", "IDENTITY"),
    "day": ("event_form", "DAY"),
    "proposal": ("event_form", "PROPOSAL"),
}
"""Where the shape of each kind stands; it is imported when a note of that kind is met."""
KINDS = tuple(_SHAPES)
"""Every kind of note that has a file of its own."""
KNOWN, SHORT = 256, 8192
"""So many notes are known, of texts up to so many characters."""


# The notes of a shape are of one class; which one, only the kind tells.
@cache
def _load_shape(kind: str) -> Shape[Any]:
    module, name = _SHAPES[kind]
    shape: Shape[Any] = getattr(import_module(f"kimi_memory.formats.{module}"), name)
    return shape


def clean_note(note: Note) -> Note:
    """Return a note as its file can hold it: what is rendered parses back to this."""
    cleaned: Note = _load_shape(note.kind).clean(note)
    return cleaned


def render(note: Note, links: str | None = None) -> str:
    """Return the text of a new file that holds a note.

    Args:
        note: the note.
        links: what it shows of its links, which no reader takes for more; its own where None.
    """
    shape, tidy = _load_shape(note.kind), clean_note(note)
    head = [line for name, value in shape.values(tidy).items() for line in entry(name, value)]
    body = shape.body(tidy)
    if links is not None:
        body = replace(body, fields={**body.fields, "links": links})
    lines = body_layout.write(body, shape.layout, tidy.lang)
    return body_layout.body_lines(["---", *head, "---", "", *lines])


def parse(text: str, path: str) -> Note:
    """Return the note in a file's text.

    A job asks for the same few notes again and again, so those are known for a while.

    Raises:
        FormatError: The text holds no note of a known kind, or a broken one.
    """
    # So many texts of that length are 2 MB; longer ones are few, and would only fill memory.
    return _parse_cached_note(text, path) if len(text) <= SHORT else _parse_note(text, path)


def read_note(content: bytes, path: str) -> Note | None:
    """Return the note in the bytes of a file; None where nobody can read one."""
    try:
        return parse(frontmatter.decode(content, path), path)
    except FormatError:
        # Who asks here wants a note or nothing; `doctor` names broken files.
        return None


def _parse_note(text: str, path: str) -> Note:
    return build_note(frontmatter.read(text, path), path)


_parse_cached_note = lru_cache(maxsize=KNOWN)(_parse_note)


def build_note(front: FrontMatter, path: str) -> Note:
    """Return the note of a file whose front matter was read already.

    Raises:
        FormatError: The file holds no note of a known kind, or a broken one.
    """
    if path == IDENTITY_PATH and not front.values.get("id"):
        # People write this page in their own form, without a head.
        front = front._replace(values={**IDENTITY_HEAD, **front.values})
    keys = Keys(front, path)
    kind = keys.text("kind")
    if kind not in _SHAPES:
        why = f"unknown kind {kind!r}" if kind else "no 'kind' in the front matter"
        raise keys.refusal("kind", why, f"Write one of {', '.join(KINDS)}")
    shape = _load_shape(kind)
    note: Note = shape.build(keys, body_layout.read(lines_of(front.body), shape.layout))
    return note


def patch(text: str, old: Note, new: Note, path: str) -> str:
    """Return the text of `old` made to say `new`, touching only what differs.

    Unknown keys, comments, and whatever else a person wrote stay as they are.

    Raises:
        FormatError: The text cannot be made to say `new` without harm to the rest.
    """
    before, after, shape = clean_note(old), clean_note(new), _load_shape(new.kind)
    if before == after:
        return text
    values, wanted = shape.values(before), shape.values(after)
    changed: dict[str, Value] = {
        name: wanted.get(name)
        for name in (*values, *wanted)
        if values.get(name) != wanted.get(name)
    }
    headed = patch_values(text, changed, path)
    body = frontmatter.read(headed, path).body
    spliced = body_patch.patch(
        body, shape.layout, after.lang, shape.body(before), shape.body(after)
    )
    if "\n" not in body and "\r\n" in headed:  # no line of the body shows how lines end
        spliced = spliced.replace("\n", "\r\n")
    result = headed[: len(headed) - len(body)] + spliced
    if parse(result, path).lang is not after.lang:  # it was guessed from words now gone or come
        result = patch_values(result, {"lang": str(after.lang)}, path)
    # The last check before a person's file changes; a file that did not say `old` is not judged.
    if parse(text, path) == before and parse(result, path) != after:
        raise FormatError(path, 1, "the text cannot be changed without harming the rest")
    return result


def with_links(text: str, note: Note, links: str) -> str:
    """Return the text of a note that shows these links; no reader takes them for more."""
    shape, body = _load_shape(note.kind), frontmatter.read(text, note.id).body
    shown = (Body(fields={"links": f"{old}{links}"}) for old in ("before", ""))
    return text[: len(text) - len(body)] + body_patch.patch(body, shape.layout, note.lang, *shown)


def with_alias(text: str, name: str, path: str) -> str:
    """Return the text of a note by another name, besides those that it has."""
    known = frontmatter.read(text, path).values.get("aliases")
    names = known if isinstance(known, list) else [known] if known else []
    return text if name in names else patch_values(text, {"aliases": [*names, name]}, path)


def place(note: Note) -> str:
    """Return the path in the memory where a note belongs."""
    path: str = _load_shape(note.kind).place(clean_note(note))
    return path
