"""Keys of notes as typed values: what is wrong is named with its line."""

from __future__ import annotations

from dataclasses import fields
from datetime import UTC, datetime

import pytest
from hypothesis import given

from kimi_memory.domain.note import (
    Card,
    CardType,
    EventType,
)
from kimi_memory.domain.pages import Day, Event, Project
from kimi_memory.errors import FormatError
from kimi_memory.formats import codec
from kimi_memory.nlp.basic.safe_text import clean
from tests.formats.strategies import KINDS, examples, notes

AT = datetime(2026, 2, 27, 9, 10, tzinfo=UTC)


@pytest.mark.parametrize("kind", KINDS)
def test_every_text_of_a_note_is_cleaned(kind):
    @examples(30)
    @given(KINDS[kind])
    def law(note):
        values = [getattr(note, field.name) for field in fields(note)]
        values += [item for value in values if isinstance(value, tuple) for item in value]
        assert [text for text in values if isinstance(text, str) and text != clean(text)] == []

    law()


@pytest.mark.parametrize(
    ("lines", "line", "why"),
    [
        ("id: x", 1, "no 'kind'"),
        ("kind: poem", 2, "unknown kind 'poem'"),
        ("kind: card", 1, "'created' is missing"),
        ("kind: card\ncreated: gestern", 3, "not a date and time"),
        ("kind: card\ncreated: 0001-01-01T00:00:00+08:00", 3, "not a date and time"),
        ("kind: card\ncreated: [2026-02-27]", 3, "one line of text"),
        ("kind: card\ncreated: 2026-02-27", 1, "'id' is missing"),
        ("kind: card\ncreated: 2026-02-27\nid: ../x", 4, "no id"),
        ("kind: card\ncreated: 2026-02-27\nid: a", 1, "'type' is missing"),
        ("kind: card\ncreated: 2026-02-27\nid: a\ntype: poem", 5, "not one of concept, pattern"),
        ("kind: card\ncreated: 2026-02-27\nid: a\ntype: fact", 1, "'key' is missing"),
        ("kind: card\ncreated: 2026-02-27\nid: a\nsources: [x]", 5, "not a source"),
        ("kind: card\ncreated: 2026-02-27\nid: a\ntags: [[x]]", 5, "list of text"),
        (
            "kind: card\ncreated: 2026-02-27\nid: a\ntype: fact\nkey: k\nconfidence: high",
            7,
            "number",
        ),
        (
            "kind: card\ncreated: 2026-02-27\nid: a\ntype: fact\nkey: k\nconfidence: true",
            7,
            "number",
        ),
        ("kind: card\ncreated: 2026-02-27\nid: a\ntype: fact\nkey: k\nlinks: a B", 7, "'B'"),
        ("kind: project\ncreated: 2026-02-27\nid: a\nfinished: maybe", 5, "true or false"),
        ("kind: day\ncreated: 2026-02-27\nid: a\ndate: monday", 5, "'date'"),
    ],
)
def test_a_broken_note_names_line_and_cause(lines, line, why):
    with pytest.raises(FormatError) as caught:
        codec.parse(f"---\n{lines}\n---\n# T\n", "x.md")
    assert str(caught.value).startswith(f"x.md:{line}: ")
    assert why in caught.value.why


@examples(40)
@given(notes())
def test_every_note_has_a_place_in_the_memory(note):
    place = codec.place(note)
    assert place.endswith(".md")
    assert ".." not in place.split("/")
    assert not place.startswith("/")


def test_places_are_those_of_the_memory_folder():
    shared = {"id": "x-1", "created": AT, "updated": AT}
    card = Card(**shared, title="T", type=CardType.FACT, key="db.choice", value="", category="工具")
    event = Event(**shared, title="选用 PostgreSQL", type=EventType.DECISION, at=AT)
    assert codec.place(card) == "semantic/工具/db.choice.md"
    assert codec.place(event) == "episodic/20260227_选用-postgresql.md"
    assert codec.place(Project(**shared, name="雅典娜")) == "mid-term/projects/雅典娜.md"
    finished = Project(**shared, name="雅典娜", finished=True)
    assert codec.place(finished) == "mid-term/projects/archive/雅典娜.md"
    assert codec.place(Day(**shared, date=AT.date())) == "episodic/daily/2026-02-27.md"
