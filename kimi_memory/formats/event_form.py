"""The text form of events."""

from __future__ import annotations

from dataclasses import replace

from kimi_memory.domain.moment import on_clocks, shown, stamp
from kimi_memory.domain.note import Lang
from kimi_memory.domain.pages import Event, EventType
from kimi_memory.formats import note_format
from kimi_memory.formats.body_layout import Body, Layout, Style
from kimi_memory.formats.labels import label
from kimi_memory.formats.sanitize import clean, one_line
from kimi_memory.formats.scalar import Value
from kimi_memory.formats.typed_keys import Keys

_LAYOUT = Layout(
    prefix="event",
    fields=("at", "type", "participants", *Event.body_fields),
    sections={"quotes": Style.QUOTES},
)


def _event_values(event: Event) -> dict[str, Value]:
    first: dict[str, Value] = {"type": str(event.type), "key": event.key}
    rest: dict[str, Value] = {
        "at": stamp(event.at),
        "participants": list(event.participants),
        "project": event.project,
        "scope": event.scope,
        "importance": float(event.importance),
    }
    return note_format.values(event, first, rest)


def _event_body(event: Event) -> Body:
    comma = "、" if event.lang is Lang.ZH else ", "
    fields = {
        "at": shown(event.at),
        "type": label(str(event.type), event.lang),
        "participants": comma.join(event.participants),
    }
    fields |= zip(event.body_fields, event.body_texts, strict=True)
    return Body(event.title, fields, {"quotes": note_format.quote_blocks(event.quotes)})


def _build_event(keys: Keys, body: Body) -> Event:
    shared = note_format.common(keys)
    return Event(
        **shared,
        title=body.title,
        type=keys.choice("type", EventType),
        at=on_clocks(keys.moment("at") or shared["created"], body.fields.get("at", "")),
        participants=keys.texts("participants"),
        content=body.fields.get("content", ""),
        outcome=body.fields.get("outcome", ""),
        lesson=body.fields.get("lesson", ""),
        quotes=note_format.quotes_of(body),
        key=keys.text("key"),
        importance=keys.number("importance", 0.5),
        project=keys.text("project"),
        scope=keys.text("scope"),
    )


def _clean_event(event: Event) -> Event:
    return replace(
        event,
        **note_format.clean_common(event),
        title=one_line(event.title),
        participants=note_format.lines(event.participants),
        content=clean(event.content),
        outcome=clean(event.outcome),
        lesson=clean(event.lesson),
        quotes=note_format.clean_quotes(event.quotes),
        key=one_line(event.key),
        project=one_line(event.project),
        scope=one_line(event.scope),
    )


def _event_path(event: Event) -> str:
    name = note_format.own_name(event.title, event.scope)
    return f"episodic/{event.at:%Y%m%d}_{name}.md"


SHAPE = note_format.Shape(
    _LAYOUT, _event_values, _event_body, _build_event, _clean_event, _event_path
)
