"""Links of an opened memory: made and removed by hand, shown, and checked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from kimi_memory.api.memory import Memory
from kimi_memory.domain.graph import MUTUAL, REJECTED, SUGGESTED, Edge
from kimi_memory.domain.health import Finding, Severity
from kimi_memory.domain.job import JobReport, Op, Plan, Step, digest_of
from kimi_memory.domain.note import Card, Link, LinkRel, Note
from kimi_memory.domain.session import SHARED
from kimi_memory.errors import UsageError
from kimi_memory.jobs.graph import derive, missing
from kimi_memory.jobs.planner import OneJob
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.store.notes.notes import Shelf

KIND = "link"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A link as a person wants it."""

    source: str
    """Id of a note, or a unique prefix."""
    target: str
    rel: LinkRel | None = None
    """RELATES_TO for a new link; all relations where one is removed."""
    weight: float = 0.8
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A note or session near another in the graph."""

    id: str
    title: str
    path: str
    """Empty for a session."""
    rel: str
    weight: float
    hops: int
    via: str
    reason: str
    suggested: bool


def link(memory: Memory, wanted: Wanted, *, dry_run: bool = False) -> JobReport:
    """Link two notes; a link of that relation between them is replaced.

    Raises:
        NotFoundError: there is no such note.
        UsageError: the link cannot stand in either note.
    """
    if not 0 < wanted.weight <= 1:
        raise UsageError(f"A weight of {wanted.weight:g} says nothing. Give one above 0, up to 1.")
    rel = wanted.rel or LinkRel.RELATES_TO

    def steps(shelf: Shelf) -> list[Step]:
        card, other = _find_link_ends(shelf, wanted, rel)
        new = Link(other.id, rel, wanted.weight, wanted.reason)
        # The same link again is no job: nothing would change but a date.
        if new in card.links:
            return []
        kept = tuple(link for link in card.links if (link.to, link.rel) != (other.id, rel))
        changed = replace(card, links=(*kept, new), updated=memory.clock())
        return [Step(Op.LINK, changed, f"{rel} {other.id} by hand")]

    return _run_link_job(memory, wanted, steps, dry_run=dry_run)


def unlink(memory: Memory, wanted: Wanted, *, dry_run: bool = False) -> JobReport:
    """Remove the links from one note to another; a suggestion is remembered as rejected.

    Raises:
        NotFoundError: there is no such note.
        UsageError: no such link is stated.
    """

    def steps(shelf: Shelf) -> list[Step]:
        source, target = (_find_note(shelf, id) for id in (wanted.source, wanted.target))
        found = []
        # Both ends, because a mutual relation may stand in either card.
        for card, other in ((source, target), (target, source)):
            changed = _remove_links(card, other, wanted.rel, both=card is target)
            if isinstance(card, Card) and changed != card.links:
                new = replace(card, links=changed, updated=memory.clock())
                found.append(Step(Op.LINK, new, f"no link to {other.id} any more, by hand"))
        if not found:
            raise UsageError(
                f"{source.id} states no such link to {target.id}. "
                f"'kimi-memory get --related {source.id}' shows what it is linked with; links "
                "that are seen in texts, evidence and times are not stated."
            )
        return found

    return _run_link_job(memory, wanted, steps, dry_run=dry_run)


def related(memory: Memory, id: str, hops: int = 1) -> list[Neighbour]:
    """Return what a note is linked with, strongest first; each link of one pair by itself.

    Raises:
        NotFoundError: there is no such note.
    """
    shelf = Shelf(memory.store)
    filed = {one.note.id: one for one in shelf.notes()}
    graph, start = derive(list(filed.values())), shelf.find(id).id
    reached = graph.near(start, hops)
    # Beside the start each link of a pair is shown by itself; farther away the strongest one.
    every = [
        link
        for near in reached
        for link in (graph.between(start, near.id) if near.hops == 1 else [near])
    ]
    found = []
    for near in every:
        one = filed.get(near.id)
        title, path = (_note_title(one.note), one.path) if one else ("", "")
        about = (near.rel, near.weight, near.hops, near.via, near.reason, near.suggested)
        found.append(Neighbour(near.id, title, path, *about))
    return found


def suggested(memory: Memory) -> list[Edge]:
    """Return the links that wait to be confirmed, heaviest first."""
    graph = derive(list(Shelf(memory.store).notes()))
    waiting = [edge for edge in graph.edges.values() if edge.suggested]
    return sorted(waiting, key=lambda edge: (-edge.weight, edge.source, edge.target))


def check_links(memory: Memory) -> Iterator[Finding]:
    """Yield the links that lead nowhere, and those that lead to archived notes."""
    # A wikilink may name a page that is no note, such as README.md of a person.
    pages = [path for path in memory.store.files() if path.endswith(".md")]
    for one in missing(list(Shelf(memory.store).notes()), pages):
        where = f"{one.target}, which is archived" if one.archived else f"{one.target!r}: no note"
        message = f"{one.source} links to {where}"
        remedy = f"Run 'kimi-memory link --remove {one.source} {one.target}', or edit the page."
        yield Finding("links", Severity.WARNING, message, remedy, one.path)


def _run_link_job(
    memory: Memory, wanted: Wanted, steps: Callable[[Shelf], list[Step]], *, dry_run: bool
) -> JobReport:
    def plan(shelf: Shelf) -> Plan:
        seq, _ = memory.store.journal.head()
        decided = tuple(steps(shelf))
        # With the end of the journal: a link that is made, removed and made again is three jobs.
        marks = (str(seq), memory.clock().isoformat(), repr(wanted))
        return Plan(
            kind=KIND,
            subject=" ".join(step.note.id for step in decided),
            inputs=digest_of([KIND, *marks]),
            steps=decided,
            # A person asked for it by name, so the gates on how much may change do not count.
            asked=True,
        )

    return memory.run(OneJob(KIND, plan), dry_run=dry_run)


def _find_link_ends(shelf: Shelf, wanted: Wanted, rel: LinkRel) -> tuple[Card, Note]:
    """Return the card that states the link, and the note it leads to."""
    source, target = (_find_note(shelf, id) for id in (wanted.source, wanted.target))
    if source.id == target.id:
        raise UsageError(f"{source.id} cannot be linked to itself. Name two notes.")
    # A link between two scopes would show in one of them that the other has such a note.
    if getattr(source, "scope", SHARED) != getattr(target, "scope", SHARED):
        raise UsageError(f"{source.id} and {target.id} are not of one scope, so no link is seen.")
    stated = isinstance(target, Card) and any(
        (link.to, link.rel) == (source.id, rel) for link in target.links
    )
    # It reads the same from both ends, so it stays in the card that states it already.
    if rel in MUTUAL and isinstance(target, Card) and (stated or not isinstance(source, Card)):
        return target, source
    if isinstance(source, Card):
        return source, target
    raise UsageError(f"{source.id} is a {source.kind}; links stand in cards. Name a card first.")


def _remove_links(note: Note, other: Note, rel: LinkRel | None, *, both: bool) -> tuple[Link, ...]:
    """Return the links of a note without those to another.

    Args:
        note: whose links.
        other: where they lead.
        rel: only links of this relation.
        both: seen from the far end, where only mutual links count.
    """
    kept: list[Link] = []
    for link in note.links if isinstance(note, Card) else ():
        meant = link.to == other.id and rel in (None, link.rel) and link.weight > 0
        if not meant or (both and link.rel not in MUTUAL):
            kept.append(link)
        elif link.reason.startswith(SUGGESTED):
            # Kept as rejected, so that no job suggests it again.
            kept.append(replace(link, weight=0.0, reason=REJECTED))
    return tuple(kept)


def _find_note(shelf: Shelf, id: str) -> Note:
    return shelf.file(shelf.find(id).path).note


def _note_title(note: Note) -> str:
    return str(getattr(note, "title", "") or getattr(note, "name", "") or note.id)
