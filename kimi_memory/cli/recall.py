"""``recall``: find the lines that answer a question."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING

from kimi_memory.cli.filter_options import (
    add_as_of,
    add_filters,
    keep_list,
    open_exactly,
    read_filters,
)
from kimi_memory.cli.shared import (
    count_columns,
    find_width,
    is_coloured,
    leave,
    open_memory,
    paint,
    say,
    show,
    show_json,
    translate,
    wrap,
)
from kimi_memory.cli.since_line import format_since
from kimi_memory.domain.note import Card, Origin
from kimi_memory.domain.search_types import Answer, Hit, Query, Related, Unit
from kimi_memory.errors import KimiMemoryError, UsageError
from kimi_memory.formats import codec
from kimi_memory.formats.frontmatter import decode
from kimi_memory.nlp.basic.safe_text import printable
from kimi_memory.nlp.basic.sentences import marks
from kimi_memory.past.labels import name_point
from kimi_memory.past.unmet import merge_unmet
from kimi_memory.recall.browse import ListQuery
from kimi_memory.recall.engine import SUMMANDS
from kimi_memory.recall.evidence import quoting
from kimi_memory.recall.filters import holding
from kimi_memory.recall.request import Request
from kimi_memory.recall.served import person_of

if TYPE_CHECKING:
    from kimi_memory.api.memory import Memory


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "query",
        nargs="*",
        help='a question or words, in any language; "a phrase", -without, begin*, field:value',
    )
    parser.add_argument("--limit", type=int, default=0, help="most hits")
    parser.add_argument("--min-score", type=float, default=0.0, help="drop hits below, 0 to 1")
    add_filters(parser)
    add_as_of(parser, exact=True)
    parser.add_argument(
        "--vector-weight", type=float, help="of the vector lane; its share, 0 to 1, with 70/30"
    )
    parser.add_argument(
        "--fusion", default="", choices=["", "score", "70/30", "rrf"], help="how lanes are joined"
    )
    parser.add_argument("--hops", type=int, choices=(0, 1, 2), help="links to follow, 0 to 2")
    parser.add_argument("--plain", action="store_true", help="take every word as it is")
    parser.add_argument("--explain", action="store_true", help="show the parts of each score")
    parser.add_argument("--exit-code", action="store_true", help="end with 1 if nothing is found")


def run(arguments: Namespace) -> int:
    """Search and print; finding nothing is no failure."""
    with open_memory(arguments, follow=True) as memory:
        query = _build_query(arguments, memory)
        # What stands beside a hit is asked for again and again.
        with memory.index.hold():
            found = _ask_exactly(memory, query) if arguments.exact else _ask(memory, query)
            leave(memory)
            if arguments.json:
                show_json(found.members(explain=arguments.explain))
            else:
                found.show(explain=arguments.explain)
    return 1 if arguments.exit_code and found.empty else 0


def _ask(memory: Memory, query: Query) -> _Found:
    # Who reads on a terminal looks around; programs that ask for an agent use what they get.
    answer = memory.recall(query, looking=sys.stdout.isatty())
    return _Found(query, answer, memory, _quoting_notes(memory, query, answer))


def _ask_exactly(memory: Memory, query: Query) -> _Found:
    with open_exactly(memory, query.as_of) as (point, past):
        asked = replace(query, as_of="")
        answer = past.recall(asked)
        quoting = _quoting_notes(past, asked, answer)
        unmet = merge_unmet(memory.history, point)
    return _Found(query, name_point(answer, point, unmet), memory, quoting)


def _build_query(arguments: Namespace, memory: Memory) -> Query:
    if arguments.limit < 0:
        raise UsageError("--limit is below zero. Give how many hits you want.")
    # `--plain` is for programs: a question of a user may hold quotes and colons that mean nothing.
    query, asks = read_filters(arguments, memory, plain=arguments.plain)
    # Everything is no answer; filters alone are one, such as all open tasks of a project.
    if not asks:
        raise UsageError("There is nothing to look for. Give a question, words or a filter.")
    return replace(
        query,
        limit=arguments.limit or memory.settings.recall.limit,
        min_score=arguments.min_score,
        hops=arguments.hops,
        vector_weight=arguments.vector_weight,
        fusion=arguments.fusion,
    )


def _quoting_notes(
    memory: Memory, query: Query, answer: Answer
) -> Mapping[str, tuple[Related, ...]]:
    """Return the notes that rest on each turn, those of the moment that was asked for."""
    # Notes of today beside hits of a year ago would tell what was not known yet.
    there = memory.at(query.as_of) if query.as_of else memory.index
    searcher, asked = there.searcher(), Query(text="", valid_at=query.valid_at)
    return quoting(searcher, answer.hits, holding(searcher, asked))


class _Found:
    """An answer with what surrounds it, as this command shows it."""

    def __init__(
        self,
        query: Query,
        answer: Answer,
        memory: Memory,
        quoting: Mapping[str, tuple[Related, ...]],
    ) -> None:
        self._answer, self._quoting_notes = answer, quoting
        self._words = memory.index.words.of_query(query, memory.now())
        self._memory, self._query = memory, query

    @property
    def empty(self) -> bool:
        """Whether nothing was found."""
        return not self._answer.hits

    def members(self, *, explain: bool) -> dict[str, object]:
        """Return what stands in JSON."""
        answer = self._answer
        members: dict[str, object] = {
            "hits": [self._hit_members(hit, explain=explain) for hit in answer.hits],
            "lanes": answer.lanes,
            "notes": answer.notes,
            "took_ms": answer.took_ms,
        }
        if explain:
            members |= {"words": self._words, "weights": answer.weights}
        return members

    def _hit_members(self, hit: Hit, *, explain: bool) -> dict[str, object]:
        members = {f.name: getattr(hit, f.name) for f in fields(hit)}
        members |= {"citation": hit.citation, "related": self._related_notes(hit)}
        members["sessions"] = _source_sessions(self._memory, hit.unit)
        if explain:
            members["summands"], members["factors"] = _split_score(hit)
        return members

    def show(self, *, explain: bool) -> None:
        """Print for people."""
        # First, as who reads through `head` closes the pipe early.
        if self._answer.hits:  # Else the numbers go on to mean what was listed before.
            keep_list(self._memory, [hit.unit.id for hit in self._answer.hits])
        if explain:
            self._print_lanes()
        point, notes = _split_point(self._answer.notes)
        if point:
            show(translate(point))
        for rank, hit in enumerate(self._answer.hits, 1):
            self._show_head(f"[{rank}] {hit.score:.2f}  {self._describe_hit(hit)}", hit.citation)
            self._show_hit(hit, explain=explain, past=bool(point))
        for note in notes:
            show(say("note: {said}", said=note))
        if not self._answer.hits:
            show(say("Nothing found."))
        elif not (self._query.text or self._query.as_of or point):
            self._show_total()

    def _show_total(self) -> None:
        """Print how many filters alone let through, where that is more than stands here."""
        listing = ListQuery(filters=replace(self._query, limit=1), limit=1, facets=())
        shown, total = len(self._answer.hits), self._memory.browse(listing).total
        if total > shown:
            show(say("{count} of {all}.", count=shown, all=total))
            show(say("With the same filters, 'kimi-memory list' shows them all."))

    @staticmethod
    def _show_head(head: str, citation: str) -> None:
        """Print the line of a hit; where it is too long, the file begins a line of its own."""
        if 0 < find_width() < count_columns(printable(f"{head}  {citation}")):
            show(head)
            show(f"    {citation}")
        else:
            show(f"{head}  {citation}")

    def _show_hit(self, hit: Hit, *, explain: bool, past: bool) -> None:
        """Print what a hit says, and what is known beside it."""
        width = find_width()
        for line in hit.snippet.splitlines():
            for part in wrap(f"    {line}", width):
                # Safe to print already; `show` would escape the bold.
                print(self._highlight_words(part))
        if past and (now := self._describe_present(hit)):
            show(f"    {say('now: {state}', state=now)}")
        if self._related_notes(hit):
            notes = ", ".join(map(_format_related, self._related_notes(hit)))
            show(f"    {say('related: {notes}', notes=notes)}")
        if explain:
            show(f"    {_format_score(hit)}  (lanes: {', '.join(hit.lanes) or 'filters'})")

    def _describe_hit(self, hit: Hit) -> str:
        """Return what a hit is: its kind, its key or who said it, and since when it says so."""
        unit = hit.unit
        # A card is as old as what it says, not as its file.
        day = unit.valid_from if unit.kind == Card.kind and unit.valid_from else unit.at
        said_by = "" if unit.kind == "turn" else self._find_person(unit)
        names = (unit.key or unit.speaker or unit.role, said_by)
        parts = [say(unit.kind), *names, f"{day:%Y-%m-%d}" if day else ""]
        if unit.status != "active":
            parts.append(say(unit.status))
        if unit.kind == "turn" and unit.trust == Origin.REMOTE:
            parts.append(say("not said here"))
        if hit.is_beside:
            parts.append(say("next to a match"))
        # What another system claimed must not look like what was heard here.
        parts += [
            f"imported {tag.replace('/', ' ')}" for tag in unit.tags if tag.startswith("from/")
        ]
        return " · ".join(part for part in parts if part)

    def _find_person(self, unit: Unit) -> str:
        """Return whose word a note is, by name; empty where only one person speaks."""
        there = self._memory.at(self._query.as_of) if self._query.as_of else self._memory.index
        request = Request("task", 0, "", within=self._query.within)
        with self._memory.index.guard:
            return person_of(there.searcher(), unit, request)

    def _related_notes(self, hit: Hit) -> tuple[Related, ...]:
        """Return the notes that rest on a turn, and those a note is linked with."""
        return (*self._quoting_notes.get(hit.unit.id, ()), *hit.related)

    def _describe_present(self, hit: Hit) -> str:
        """Return what became of a card since; empty where it stands as it was."""
        if hit.unit.kind != Card.kind:
            return ""
        try:
            # Most lie where they lay: its path and "@" with the commit stand in the hit.
            note = self._memory.get(hit.unit.id, hit.unit.path.rpartition("@")[0]).note
        except KimiMemoryError:
            return say("gone")
        if note.status == hit.unit.status:
            says = note.value if isinstance(note, Card) else ""
            return "" if says in hit.unit.text else f'"{says}"'
        now = self._memory.at(self._query.as_of).find_replacement(note)
        return say(note.status) if now is None else format_since(now)

    def _print_lanes(self) -> None:
        weights = self._answer.weights
        lanes = ", ".join(
            f"{lane} (weight {weights.get(lane, 0):.2f})" for lane in self._answer.lanes
        )
        show(f"lanes: {lanes or 'none'}; words: {' '.join(self._words) or 'none'}")

    def _highlight_words(self, text: str) -> str:
        """Return a text safe to print, its words in bold on a terminal."""
        if not is_coloured():
            return printable(text)
        shown, at = [], 0
        for first, last in marks(text, self._words):
            shown += [printable(text[at:first]), paint(printable(text[first:last]), "bold")]
            at = last
        return "".join([*shown, printable(text[at:])])


def _split_point(notes: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """Return what says as of which version an answer is, and the other notes."""
    said = notes[0] if notes and notes[0].startswith("as of ") else ""
    return said, notes[1:] if said else notes


def _source_sessions(memory: Memory, unit: Unit) -> list[str]:
    """Return the sessions that a hit rests on: its own, or those a note names as sources."""
    if unit.session:
        return [unit.session]
    try:
        note = codec.parse(decode(memory.store.read(unit.path), unit.path), unit.path)
    except KimiMemoryError:
        # What cannot be read as a note names no sources; the hit itself is shown all the same.
        return []  # a page of people, or a file that changed since
    return list(dict.fromkeys(source.session for source in note.sources if source.session))


def _split_score(hit: Hit) -> tuple[dict[str, float], dict[str, float]]:
    """Return the parts of a score that add up, and those that multiply."""
    # Shown apart, so that a reader can add and multiply them up to the score.
    summands = {name: value for name, value in hit.parts.items() if name in SUMMANDS}
    return summands, {n: value for n, value in hit.parts.items() if n not in SUMMANDS}


def _format_score(hit: Hit) -> str:
    summands, factors = _split_score(hit)
    added = " + ".join(f"{name} {value:.3f}" for name, value in summands.items())
    times = "".join(f" × {name} {value:.3f}" for name, value in factors.items())
    return f"({added}){times} = {hit.score:.3f}"


def _format_related(one: Related) -> str:
    title = f" “{one.title}”" if one.title else ""
    return f"{one.id}{title} ({say(one.rel.lower().replace('_', ' '))})"
