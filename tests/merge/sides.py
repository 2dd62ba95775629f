"""Hypothesis strategies of a note and what two or three copies made of it."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import timedelta

from hypothesis import strategies as st

from kimi_memory.domain.note import Card, Link, LinkRel, Note, Origin, Rel, Source, Status
from kimi_memory.formats import codec
from tests.formats import strategies as made
from tests.merge.values import NOW, card, said

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
    return single_links(codec.clean_note(replace(base, **new)))


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


def subsets(items: list[str]) -> st.SearchStrategy[tuple[str, ...]]:
    return st.sets(st.sampled_from(items)).map(lambda chosen: tuple(sorted(chosen)))


MOMENTS = st.sampled_from([None, *(NOW + timedelta(days) for days in range(3))])
FEW: dict[str, st.SearchStrategy[object]] = {
    "value": st.sampled_from(["8080", "8443", "9999"]),
    "valid_from": MOMENTS,
    "valid_to": MOMENTS,
    "expires": MOMENTS,
    "trust": st.sampled_from([Origin.HUMAN, Origin.AGENT]),
    "status": st.sampled_from(Status),
    "key": st.sampled_from(["deploy.port", "port"]),
    "category": st.sampled_from(["general", "net"]),
    "project": st.sampled_from(["", "shop"]),
    "sources": st.dictionaries(st.sampled_from(["s1", "s2", "s3"]), st.sampled_from(Rel)).map(
        lambda found: tuple(Source(id, 1, 1, rel) for id, rel in sorted(found.items()))
    ),
    "confidence": st.sampled_from([0.1, 0.5, 0.9]),
    "temperature": st.sampled_from([0.1, 1.0]),
    "tags": subsets(["net", "port"]),
    "supersedes": subsets(["card-8", "card-9"]),
    "links": st.dictionaries(
        st.sampled_from(["card-8", "card-9"]), st.sampled_from([0.0, 0.5])
    ).map(lambda found: tuple(Link(id, LinkRel.RELATES_TO, w) for id, w in sorted(found.items()))),
}
"""A few values of each field of a card: that they meet is likely, which it is not of any text."""


@st.composite
def card_forks(draw: st.DrawFn, copies: int) -> tuple[Card, list[Card | None]]:
    """A card, and what so many copies made of it; None where one deleted it."""

    def change(old: Card, most: int) -> Card:
        chosen = draw(st.sets(st.sampled_from(sorted(FEW)), max_size=most))
        return replace(old, **{name: draw(FEW[name]) for name in sorted(chosen)})  # type: ignore[arg-type]  # any field

    base = change(card(sources=(said("s1", 1),)), 3)
    made_of_it = [change(base, 3) for _ in range(copies)]
    gone = draw(st.none() | st.integers(0, copies - 1))
    return base, [None if at == gone else one for at, one in enumerate(made_of_it)]
