"""Layouts of bodies, as people see them."""

from __future__ import annotations

from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kimi_memory.domain.note import (
    Card,
    EventType,
    Lang,
    Note,
    Quote,
    Rel,
    Source,
)
from kimi_memory.domain.pages import Event
from kimi_memory.formats import codec
from kimi_memory.formats.body_layout import label

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


@pytest.mark.parametrize(("kind", "heading"), [(Card, "Cards"), (Event, "Events")])
def test_the_contract_names_every_field(kind: type[Note], heading: str) -> None:
    page = (Path(__file__).parents[2] / "docs/file-format.md").read_text(encoding="utf-8")
    section = page.split(f"### {heading}\n")[1].split("\n### ")[0]
    own = {field.name for field in fields(kind)} - {field.name for field in fields(Note)}
    words = {n: [label(n, lang) for lang in Lang] for n in (*kind.body_fields, "quotes")}
    words |= {"title": ["title"]}
    missing = [n for n in own if not all(w in section for w in words.get(n, [f"`{n}`"]))]
    assert not missing, f"{heading} in docs/file-format.md: {', '.join(missing)}"
