"""Hypothesis strategies of a note and what two or three copies made of it."""

from __future__ import annotations

from dataclasses import fields, replace

from hypothesis import strategies as st

from kimi_memory.domain.note import Card, Note
from kimi_memory.formats import codec
from tests.formats import strategies as made

FIXED = {"id", "created"}


@st.composite
def changed(draw: st.DrawFn, base: Note) -> Note:
    """The note with other values in some of its fields."""
    other = draw(made.KINDS[base.kind])
    names = [field.name for field in fields(base) if field.name not in FIXED]
    chosen = draw(st.sets(st.sampled_from(names), max_size=4))
    new = {name: getattr(other, name) for name in chosen}
    for name, value in new.items():
        if isinstance(value, tuple) and draw(st.booleans()):
            new[name] = (*getattr(base, name), *value)
    return single_links(codec.clean(replace(base, **new)))


def single_links(note: Note) -> Note:
    """The note with one link of a kind to each other note, as jobs and commands make them."""
    if not isinstance(note, Card):
        return note
    unique = {(link.to, link.rel): link for link in note.links}
    return replace(note, links=tuple(unique.values()))


@st.composite
def forks(draw: st.DrawFn, *kinds: str, copies: int = 2) -> tuple[Note, ...]:
    """A note and so many changed versions of it."""
    base = single_links(draw(made.KINDS[draw(st.sampled_from(kinds or tuple(made.KINDS)))]))
    return (base, *(draw(changed(base)) for _ in range(copies)))
