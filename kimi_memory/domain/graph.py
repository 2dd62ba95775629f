"""A graph of notes: typed edges with weights, and walks along them in either direction."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import field

from kimi_memory.domain.note import Card, Link, LinkRel
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.basic.safe_text import slug

SUGGESTED = "suggested"
"""How the reason of a link begins that nobody has confirmed yet."""
# A removed suggestion stays as a link that weighs nothing: otherwise the next introspection would
# suggest it again.
REJECTED = "rejected"
"""The reason of a link of weight 0 that stands where a person removed a suggestion."""
SHARED_NAME = "both name"
"""How the reason of a link begins that says no more than that two cards name one thing."""
# A suggestion made by words alone must not outrank what somebody stated.
DOUBT = 0.5
"""What a suggested link counts beside a confirmed one."""
MUTUAL = frozenset({LinkRel.RELATES_TO, LinkRel.SIMILAR_TO, LinkRel.CONTRADICTS})
"""Relations that read the same from both ends."""
INVERSE = {
    LinkRel.DEPENDS_ON: "NEEDED_BY",
    LinkRel.CAUSED_BY: "CAUSES",
    LinkRel.TEMPORAL_NEXT: "TEMPORAL_PREVIOUS",
    LinkRel.EXTRACTED_FROM: "SOURCE_OF",
}
"""What the others are called from the far end; this is computed and never stored."""

# [[page#part|shown]]; with a backslash before it, it is text.
_WIKILINK = re.compile(r"(?<!\\)\[\[([^\[\]|#^\n]+)(?:[#^|][^\[\]\n]*)?\]\]")
_MENTION = 0.5


@dataclass(frozen=True, slots=True)
class Edge:
    """One relation from a note to another note or to a session."""

    source: str
    target: str
    rel: LinkRel
    weight: float
    reason: str = ""
    derived: str = ""
    """What it was seen in: wikilink, evidence, time; empty when a note states it."""

    @property
    def suggested(self) -> bool:
        """Whether it waits to be confirmed."""
        return self.reason.startswith(SUGGESTED)

    @property
    def strength(self) -> float:
        """What it counts on a walk, 0 to 1."""
        return max(0.0, min(1.0, self.weight)) * (DOUBT if self.suggested else 1.0)


@dataclass(frozen=True, slots=True)
class Near:
    """A note that a walk reached, by its strongest way."""

    id: str
    rel: str
    """The last step as seen from the start: CAUSED_BY forwards, CAUSES backwards."""
    weight: float
    """Product of the strengths on the way."""
    hops: int
    via: str
    """The note before it on the way; the start itself after one step."""
    reason: str = ""
    suggested: bool = False


@dataclass(slots=True)
class Graph:
    """Edges by both of their ends; an edge that two notes state counts once."""

    edges: dict[tuple[str, str, LinkRel], Edge] = field(default_factory=dict)
    _touching: dict[str, list[tuple[str, str, LinkRel]]] = field(default_factory=dict)

    @classmethod
    def from_edges(cls, edges: Iterable[Edge]) -> Graph:
        """Return the graph of these edges."""
        graph = cls()
        for edge in edges:
            graph.add(edge)
        return graph

    def add(self, edge: Edge) -> None:
        """Add an edge; of two alike, one that a note states stands, then the heavier."""
        ends = (edge.source, edge.target)
        # A note that links to itself says nothing, and a walk would come back at once.
        if edge.source == edge.target:
            return
        # Two notes that name each other state one relation, not two.
        first, second = sorted(ends) if edge.rel in MUTUAL else ends
        mark = (first, second, edge.rel)
        known = self.edges.get(mark)
        if known is None:
            for end in ends:
                self._touching.setdefault(end, []).append(mark)
        if known is None or _edge_rank(edge) > _edge_rank(known):
            self.edges[mark] = edge

    def touching(self, id: str) -> list[Edge]:
        """Return the edges that begin or end at a note."""
        return [self.edges[mark] for mark in self._touching.get(id, ())]

    def near(self, id: str, hops: int = 1) -> list[Near]:
        """Return what can be reached in so many steps, strongest first; ties stand by id."""
        found: dict[str, Near] = {}
        ring = {id: 1.0}
        for step in range(1, hops + 1):
            # Ring by ring: a way of two steps never replaces one of one step, however heavy.
            fresh: dict[str, Near] = {}
            for at, weight in ring.items():
                for edge in self.touching(at):
                    reached = _walk_edge(edge, at, weight, step)
                    best = fresh.get(reached.id)
                    known = reached.id == id or reached.id in found or reached.weight <= 0
                    if not known and (
                        best is None or _near_sort_key(reached) < _near_sort_key(best)
                    ):
                        fresh[reached.id] = reached
            found |= fresh
            ring = {near.id: near.weight for near in fresh.values()}
        return sorted(found.values(), key=_near_sort_key)

    def between(self, id: str, other: str) -> list[Near]:
        """Return every link between two notes as seen from the first, strongest first."""
        edges = (edge for edge in self.touching(id) if other in (edge.source, edge.target))
        found = [_walk_edge(edge, id, 1.0, 1) for edge in edges]
        return sorted((near for near in found if near.weight > 0), key=_near_sort_key)


def seen_from(rel: LinkRel, *, forwards: bool) -> str:
    """Return the name of a relation as read from one of its ends."""
    return str(rel) if forwards or rel in MUTUAL else INVERSE[rel]


def mentions(text: str) -> list[str]:
    """Return the targets of the wikilinks in a text, each once, in order."""
    if "[[" not in text:
        return []
    # What is shown as an arrow follows from what the notes state, and states nothing itself.
    links = (found for found in _WIKILINK.finditer(text) if "|→" not in found[0])
    return list(dict.fromkeys(found[1].strip() for found in links))


def name_of(text: str) -> str:
    """Return a title, a key or the name of a page in the form that wikilinks are compared in."""
    plain = text.strip().rpartition("/")[2].removesuffix(".md")
    return slug(plain) if plain else ""


def links_of(card: Card) -> list[Link]:
    """Return the links a card states, without those that a person rejected."""
    return [link for link in card.links if link.weight > 0]


def mentioned(body: str, known: Iterable[str]) -> list[Link]:
    """Return the wikilinks of a body as links by name, without sessions and known targets."""
    skip = set(known)
    return [
        Link(name_of(name), LinkRel.RELATES_TO, _MENTION, "wikilink")
        for name in mentions(body)
        # Pages cite sessions as evidence; that is no relation between notes.
        if name not in skip and not name.startswith("session_") and name_of(name)
    ]


def _walk_edge(edge: Edge, at: str, weight: float, hops: int) -> Near:
    forwards = edge.source == at
    return Near(
        edge.target if forwards else edge.source,
        seen_from(edge.rel, forwards=forwards),
        # Rounded, or ties would fall in another order after another way of multiplying.
        round(weight * edge.strength, 6),
        hops,
        at,
        edge.reason,
        edge.suggested,
    )


def _edge_rank(edge: Edge) -> tuple[bool, bool, float]:
    # What a note states beats what was derived from its text, whatever that weighs.
    return (not edge.derived, not edge.suggested, edge.weight)


def _near_sort_key(near: Near) -> tuple[float, int, str, str]:
    return (-near.weight, near.hops, near.id, near.rel)
