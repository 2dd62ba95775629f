"""The text form of cards."""

from __future__ import annotations

from dataclasses import replace

from kimi_memory.domain.note import Card, CardType, Lang, Link, Origin
from kimi_memory.formats import note_format
from kimi_memory.formats.body_layout import Body, Layout, Style
from kimi_memory.formats.note_format import Keys
from kimi_memory.formats.scalar import Value, clean, one_line

_LAYOUT = Layout(
    fields=(*Card.body_fields, "links"),
    sections={"quotes": Style.QUOTES},
)


def _card_values(card: Card) -> dict[str, Value]:
    first: dict[str, Value] = {"type": str(card.type), "key": card.key}
    rest: dict[str, Value] = {
        "category": card.category,
        "project": card.project,
        "scope": card.scope,
        "confidence": float(card.confidence),
        "importance": float(card.importance),
        "temperature": float(card.temperature),
        "trust": str(card.trust),
        "verified": note_format.moment_text(card.verified),
        "valid_from": note_format.moment_text(card.valid_from),
        "valid_to": note_format.moment_text(card.valid_to),
        "expires": note_format.moment_text(card.expires),
        "supersedes": list(card.supersedes),
        "links": [str(link) for link in card.links],
    }
    return note_format.values(card, first, rest)


def _card_body(card: Card) -> Body:
    comma = "、" if card.lang is Lang.ZH else ", "
    sessions = dict.fromkeys(f"session_{source.session}" for source in card.sources)
    pages = [*(link.to for link in card.links if link.weight > 0), *sessions]
    fields = dict(zip(card.body_fields, card.body_texts, strict=True))
    fields["links"] = comma.join(f"[[{page}]]" for page in pages)
    return Body(card.title, fields, {"quotes": note_format.quote_blocks(card.quotes)})


def _build_card(keys: Keys, body: Body) -> Card:
    return Card(
        **note_format.common(keys),
        title=body.title,
        type=keys.choice("type", CardType),
        key=keys.needed("key"),
        value=body.fields.get("value", ""),
        applies=body.fields.get("applies", ""),
        usage=body.fields.get("usage", ""),
        caveats=body.fields.get("caveats", ""),
        quotes=note_format.quotes_of(body),
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


def _clean_card(card: Card) -> Card:
    return replace(
        card,
        **note_format.clean_common(card),
        title=one_line(card.title),
        key=one_line(card.key),
        value=clean(card.value),
        applies=clean(card.applies),
        usage=clean(card.usage),
        caveats=clean(card.caveats),
        quotes=note_format.clean_quotes(card.quotes),
        category=one_line(card.category) or "general",
        project=one_line(card.project),
        scope=one_line(card.scope),
        supersedes=note_format.lines(card.supersedes),
        links=tuple(replace(link, reason=one_line(link.reason)) for link in card.links),
    )


def _card_path(card: Card) -> str:
    name = note_format.own_name(card.key or card.title, card.scope)
    return f"semantic/{note_format.slug(card.category)}/{name}.md"


SHAPE = note_format.Shape(_LAYOUT, _card_values, _card_body, _build_card, _clean_card, _card_path)
