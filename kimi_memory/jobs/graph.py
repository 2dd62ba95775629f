"""The graph of a memory: what notes state, and what can be seen in them without being stated."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from kimi_memory.domain.graph import Edge, Graph, links_of, mentioned, name_of
from kimi_memory.domain.note import LIVE, Card, CardType, Link, LinkRel, Note, Status
from kimi_memory.domain.session import SHARED
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.store.notes.notes import Filed

_SAME_KEY = 0.8
_SAME_PROJECT = 0.3
"""Weight of the order between two decisions that share no more than their project."""


@dataclass(frozen=True, slots=True)
class Missing:
    """A link whose target is no note, or one that was archived."""

    path: str
    source: str
    target: str
    archived: bool = False
    """Whether the target is there and was archived; else there is none."""


def derive(filed: Sequence[Filed]) -> Graph:
    """Return the graph over these notes.

    Links and wikilinks are followed by id, by file name, by title and by key. Evidence
    leads to sessions (``session:<id>``), and the order in time runs from the older of
    two values of one key, or of two decisions of one project, to the newer.
    """
    whose = {one.note.id: _note_scope(one.note) for one in filed}
    names = {scope: _map_names(_of_scope(filed, scope)) for scope in {*whose.values()}}
    graph = Graph()
    for one in (one for one in filed if one.note.status is not Status.ARCHIVED):
        own = _note_scope(one.note)
        for edge in (*_stated_edges(one, names[own]), *_evidence_edges(one.note)):
            # Private notes are linked with private notes of the same owner alone.
            if whose.get(edge.target, own) == own:
                graph.add(edge)
    cards = [one.note for one in filed if isinstance(one.note, Card)]
    for edge in (*_version_edges(cards), *_decision_edges(cards)):
        graph.add(edge)
    return graph


def _note_scope(note: Note) -> str:
    return str(getattr(note, "scope", SHARED))


def _of_scope(filed: Sequence[Filed], scope: str) -> list[Filed]:
    return [one for one in filed if _note_scope(one.note) == scope]


def _map_names(filed: Sequence[Filed]) -> dict[str, str]:
    """Return the id behind every name a link may use; the first path has a shared name."""
    found = {one.note.id: one.note.id for one in filed}
    if not any(_by_name(one, found) for one in filed):
        return found  # To make a name of every title is most of the work.
    ordered = sorted(filed, key=lambda one: one.path)
    for name in (_file_name, _title_name, _key_name):
        for one in ordered:
            if known := name_of(name(one)):
                found.setdefault(known, one.note.id)
    return found


def missing(filed: Sequence[Filed], pages: Collection[str] = ()) -> Iterator[Missing]:
    """Yield the links that lead nowhere (dangling) or to an archived note (orphaned).

    Args:
        filed: all notes.
        pages: paths of other files that a wikilink may name.
    """
    names, others = _map_names(filed), {name_of(path) for path in pages}
    archived = {one.note.id for one in filed if one.note.status is Status.ARCHIVED}
    for one in filed:
        if one.note.status not in LIVE:
            continue
        stated = links_of(one.note) if isinstance(one.note, Card) else []
        for target in dict.fromkeys(link.to for link in (*stated, *_wiki_links(one))):
            id = names.get(target, "")
            if id in archived or (not id and target not in others):
                yield Missing(one.path, one.note.id, id or target, bool(id))


def _by_name(one: Filed, ids: Mapping[str, str]) -> bool:
    """Whether a note leads to another by something else than its id."""
    stated = one.note.links if isinstance(one.note, Card) else ()
    return bool(_wiki_links(one)) or any(link.to not in ids for link in stated)


def _file_name(one: Filed) -> str:
    return one.path


def _title_name(one: Filed) -> str:
    return str(getattr(one.note, "title", "") or getattr(one.note, "name", ""))


def _key_name(one: Filed) -> str:
    return str(getattr(one.note, "key", ""))


def _stated_edges(one: Filed, names: Mapping[str, str]) -> Iterator[Edge]:
    note = one.note
    links = links_of(note) if isinstance(note, Card) else []
    for link in links:
        target = names.get(link.to, link.to)
        yield Edge(note.id, target, link.rel, link.weight, link.reason)
    for link in _wiki_links(one):
        if target := names.get(link.to, ""):
            yield Edge(note.id, target, link.rel, link.weight, link.reason, "wikilink")


def _wiki_links(one: Filed) -> list[Link]:
    stated = one.note.links if isinstance(one.note, Card) else ()
    return mentioned(one.text, [link.to for link in stated])


def _evidence_edges(note: Note) -> Iterator[Edge]:
    for session in dict.fromkeys(source.session for source in note.sources):
        target = f"session:{session}"
        yield Edge(note.id, target, LinkRel.EXTRACTED_FROM, 1.0, "evidence", "evidence")


def _version_edges(cards: Sequence[Card]) -> Iterator[Edge]:
    """Yield the order of the values of one key, and of what replaced what."""
    known = {card.id for card in cards}
    chained: set[str] = set()
    for card in cards:
        for old in known.intersection(card.supersedes):
            chained |= {old, card.id}
            yield Edge(old, card.id, LinkRel.TEMPORAL_NEXT, 1.0, "replaced", "time")
    standing = [card for card in cards if card.key and card.status is not Status.ARCHIVED]
    for old_card, new in _in_order(standing, lambda card: (card.key, card.project, card.scope)):
        # What is stated to replace it is a stronger edge than the same key.
        if not {old_card.id, new.id} <= chained:
            yield Edge(old_card.id, new.id, LinkRel.TEMPORAL_NEXT, _SAME_KEY, "same key", "time")


def _decision_edges(cards: Sequence[Card]) -> Iterator[Edge]:
    """Yield the order of the decisions of one project."""
    made = [c for c in cards if c.type is CardType.DECISION and c.project and c.status in LIVE]
    for old, new in _in_order(made, lambda card: (card.project, "", card.scope)):
        yield Edge(old.id, new.id, LinkRel.TEMPORAL_NEXT, _SAME_PROJECT, "same project", "time")


def _in_order(
    cards: Iterable[Card], about: Callable[[Card], tuple[str, str, str]]
) -> Iterator[tuple[Card, Card]]:
    """Yield the neighbours in time among the cards that are about the same."""
    groups: dict[tuple[str, str, str], list[Card]] = {}
    for card in cards:
        groups.setdefault(about(card), []).append(card)
    for group in groups.values():
        group.sort(key=lambda card: (card.valid_from or card.created, card.id))
        yield from pairwise(group)
