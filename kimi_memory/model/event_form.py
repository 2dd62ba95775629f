"""The text form of events."""

from __future__ import annotations

from dataclasses import replace

from kimi_memory.model import shape
from kimi_memory.model.clean import clean, one_line
from kimi_memory.model.event import Event, EventType
from kimi_memory.model.keys import Keys
from kimi_memory.model.labels import label
from kimi_memory.model.layout import Body, Layout, Style
from kimi_memory.model.moment import on_clocks, shown, stamp
from kimi_memory.model.note import Lang
from kimi_memory.model.scalar import Value

_LAYOUT = Layout(
    prefix="event",
    fields=("at", "type", "participants", "content", "outcome", "lesson"),
    sections={"quotes": Style.QUOTES},
)


def _values(event: Event) -> dict[str, Value]:
    first: dict[str, Value] = {"type": str(event.type), "key": event.key}
    rest: dict[str, Value] = {
        "at": stamp(event.at),
        "participants": list(event.participants),
        "project": event.project,
        "scope": event.scope,
        "importance": float(event.importance),
    }
    return shape.values(event, first, rest)


def _body(event: Event) -> Body:
    comma = "、" if event.lang is Lang.ZH else ", "
    fields = {
        "at": shown(event.at),
        "type": label(str(event.type), event.lang),
        "participants": comma.join(event.participants),
        "content": event.content,
        "outcome": event.outcome,
        "lesson": event.lesson,
    }
    return Body(event.title, fields, {"quotes": shape.quote_blocks(event.quotes)})


def _build(keys: Keys, body: Body) -> Event:
    shared = shape.common(keys)
    return Event(
        **shared,
        title=body.title,
        type=keys.choice("type", EventType),
        at=on_clocks(keys.moment("at") or shared["created"], body.fields.get("at", "")),
        participants=keys.texts("participants"),
        content=body.fields.get("content", ""),
        outcome=body.fields.get("outcome", ""),
        lesson=body.fields.get("lesson", ""),
        quotes=shape.quotes_of(body),
        key=keys.text("key"),
        importance=keys.number("importance", 0.5),
        project=keys.text("project"),
        scope=keys.text("scope"),
    )


def _clean(event: Event) -> Event:
    return replace(
        event,
        **shape.clean_common(event),
        title=one_line(event.title),
        participants=shape.lines(event.participants),
        content=clean(event.content),
        outcome=clean(event.outcome),
        lesson=clean(event.lesson),
        quotes=shape.clean_quotes(event.quotes),
        key=one_line(event.key),
        project=one_line(event.project),
        scope=one_line(event.scope),
    )


def _place(event: Event) -> str:
    name = shape.own_name(event.title, event.scope)
    return f"episodic/{event.at:%Y%m%d}_{name}.md"


SHAPE = shape.Shape(_LAYOUT, _values, _body, _build, _clean, _place)
