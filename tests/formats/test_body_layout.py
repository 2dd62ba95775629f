"""Layouts of bodies, as people see them."""

from __future__ import annotations

from datetime import UTC, datetime

from kimi_memory.domain.note import (
    EventType,
    Lang,
    Quote,
    Rel,
    Source,
)
from kimi_memory.domain.pages import Event
from kimi_memory.formats import codec

AT = datetime(2026, 2, 27, 9, 10, tzinfo=UTC)


def test_quotes_are_shown_with_their_turn():
    quote = Quote("01j", 3, "我们用 PostgreSQL\n> 引用")
    event = Event(
        id="event-1",
        created=AT,
        updated=AT,
        lang=Lang.ZH,
        title="选型",
        type=EventType.DECISION,
        at=AT,
        quotes=(quote,),
        sources=(Source.from_quote(quote, Rel.UPDATES),),
    )
    text = codec.render(event)
    assert "\n## 证据\n\n> 我们用 PostgreSQL\n> > 引用\n\n— [[session_01j#^t3|#3]]\n" in text
    assert codec.parse(text, "x.md") == event
