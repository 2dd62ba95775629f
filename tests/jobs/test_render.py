"""Steps become files: what masks secrets leaves a note that can be read."""

from __future__ import annotations

import re

import pytest

from kimi_memory import hookimpl
from kimi_memory.capture.log import MASK, Screen
from kimi_memory.domain.job import Create
from kimi_memory.domain.note import Card, Note, Quote, Source
from kimi_memory.domain.pages import Event
from kimi_memory.domain.screen import Span
from kimi_memory.formats import codec
from kimi_memory.hooks.host import Host
from kimi_memory.jobs.render import screen_changes
from tests.jobs.notes import card, event


class Numbers:
    """A rule of one's own that is too broad: every number of two digits and more."""

    @hookimpl
    def screen_text(self, text: str) -> list[Span]:
        return [Span(*match.span(), "numbers") for match in re.finditer(r"\d{2,}", text)]


SAID = "The vault opens with 4711."
QUOTE = Quote("talk-20260101", 12, SAID)
RESTS = {"sources": (Source.from_quote(QUOTE),), "quotes": (QUOTE,), "tags": ("room-4711",)}


@pytest.mark.parametrize("note", [card("a-77", SAID, **RESTS), event("b-77", SAID, **RESTS)])
def test_a_mask_in_the_head_of_a_note_never_makes_it_unreadable(note: Note) -> None:
    host = Host(entry_points=False)
    host.register(Numbers(), "numbers")
    path = codec.place(note)
    created = Create(path, codec.render(note).encode())
    (change,) = screen_changes([created], {}, Screen(host, b"k" * 32).mask_new)
    assert isinstance(change, Create)
    read = codec.read_note(change.content, path)
    assert isinstance(read, Card | Event)
    assert (read.id, read.created, read.sources) == (note.id, note.created, RESTS["sources"])
    # What a person said is masked, there also where it stands in the head.
    text = change.content.decode()
    assert "4711" not in text and len(MASK.findall(text)) >= 3
