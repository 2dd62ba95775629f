"""The text form of cards."""

from __future__ import annotations

from dataclasses import replace

from kimi_memory.model import shape
from kimi_memory.model.card import Card, CardType, Link
from kimi_memory.model.clean import clean, one_line
from kimi_memory.model.keys import Keys
from kimi_memory.model.layout import Body, Layout, Style
from kimi_memory.model.note import Lang
from kimi_memory.model.origin import Origin
from kimi_memory.model.scalar import Value

_LAYOUT = Layout(
    fields=("value", "applies", "usage", "caveats", "links"),
    sections={"quotes": Style.QUOTES},
)


def _values(card: Card) -> dict[str, Value]:
    first: dict[str, Value] = {"type": str(card.type), "key": card.key}
    rest: dict[str, Value] = {
        "category": card.category,
        "project": card.project,
        "scope": card.scope,
        "confidence": float(card.confidence),
        "importance": float(card.importance),
        "temperature": float(card.temperature),
        "trust": str(card.trust),
        "verified": shape.moment_text(card.verified),
        "valid_from": shape.moment_text(card.valid_from),
        "valid_to": shape.moment_text(card.valid_to),
        "expires": shape.moment_text(card.expires),
        "supersedes": list(card.supersedes),
        "links": [str(link) for link in card.links],
    }
    return shape.values(card, first, rest)


def _body(card: Card) -> Body:
    comma = "、" if card.lang is Lang.ZH else ", "
    sessions = dict.fromkeys(f"session_{source.session}" for source in card.sources)
    pages = [*(link.to for link in card.links if link.weight > 0), *sessions]
    fields = {
        "value": card.value,
        "applies": card.applies,
        "usage": card.usage,
        "caveats": card.caveats,
        "links": comma.join(f"[[{page}]]" for page in pages),
    }
    return Body(card.title, fields, {"quotes": shape.quote_blocks(card.quotes)})


def _build(keys: Keys, body: Body) -> Card:
    return Card(
        **shape.common(keys),
        title=body.title,
        type=keys.choice("type", CardType),
        key=keys.needed("key"),
        value=body.fields.get("value", ""),
        applies=body.fields.get("applies", ""),
        usage=body.fields.get("usage", ""),
        caveats=body.fields.get("caveats", ""),
        quotes=shape.quotes_of(body),
        category=keys.text("category", "general"),
        project=keys.text("project"),
        scope=keys.text("scope"),
        confidence=keys.number("confidence", 0.5),
        importance=keys.number("importance", 0.5),
        trust=keys.choice("trust", Origin, Origin.AGENT),
        verified=keys.moment("verified"),
        valid_from=keys.moment("valid_from"),
        valid_to=keys.moment("valid_to"),
        expires=keys.moment("expires"),
        supersedes=keys.texts("supersedes"),
        links=tuple(keys.parsed("links", Link.parse, text) for text in keys.texts("links")),
        temperature=keys.number("temperature", 1.0),
    )


def _clean(card: Card) -> Card:
    return replace(
        card,
        **shape.clean_common(card),
        title=one_line(card.title),
        key=one_line(card.key),
        value=clean(card.value),
        applies=clean(card.applies),
        usage=clean(card.usage),
        caveats=clean(card.caveats),
        quotes=shape.clean_quotes(card.quotes),
        category=one_line(card.category) or "general",
        project=one_line(card.project),
        scope=one_line(card.scope),
        supersedes=shape.lines(card.supersedes),
        links=tuple(replace(link, reason=one_line(link.reason)) for link in card.links),
    )


def _place(card: Card) -> str:
    name = shape.own_name(card.key or card.title, card.scope)
    return f"semantic/{shape.slug(card.category)}/{name}.md"


SHAPE = shape.Shape(_LAYOUT, _values, _body, _build, _clean, _place)
