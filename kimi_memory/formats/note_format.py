"""The shape of a kind of note: which keys it has, what its body says, and back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypedDict, TypeVar

from kimi_memory.domain.moment import stamp
from kimi_memory.domain.note import Lang, Note, Quote, Source, Status
from kimi_memory.formats.body_layout import Body, Layout, quote_block, quoted
from kimi_memory.formats.sanitize import clean, one_line
from kimi_memory.formats.scalar import Value
from kimi_memory.formats.typed_keys import Keys
from kimi_memory.nlp.basic.slug import slug as short

N = TypeVar("N", bound=Note)

_HAN = re.compile("[\u3400-\u9fff]")


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


def lines(texts: Iterable[str]) -> tuple[str, ...]:
    """Return one-line texts, cleaned, without empty ones."""
    return tuple(line for text in texts if (line := one_line(text)))


def texts(texts: Iterable[str]) -> tuple[str, ...]:
    """Return texts, cleaned, without empty ones."""
    return tuple(found for text in texts if (found := clean(text)))


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
