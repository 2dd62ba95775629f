"""The simple contract, /search, /get and /append: three calls for a script or another language.

A daily note, ``memory/2026-02-27.md``, is what the caller wrote down on that day: each
append is one turn of a session that the daily job distils when the day is over. What is
appended to MEMORY.md, USER.md or PROJECT.md is remembered, through the same gates as
everything else; on the latter two, which are a person's pages, it is also written as a line
that ends in the id of its card, so that it is trusted like the card and not like the page. No
other file takes text this way.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from datetime import date

from kimi_memory.api.memory import Memory
from kimi_memory.domain.job import Create, Op, Update, digest
from kimi_memory.domain.search_types import Hit, Query
from kimi_memory.errors import ChangedOnDiskError, NotFoundError, UsageError, WaitingError
from kimi_memory.formats.frontmatter import decode
from kimi_memory.nlp.basic.quotes import split_citation
from kimi_memory.recall.query_parser import KINDS, parse
from kimi_memory.server.principal import Caller, Namespace, denied
from kimi_memory.server.reading import text_of
from kimi_memory.server.responses import Kept, Piece, Place, Places
from kimi_memory.server.schema import Given
from kimi_memory.store.notes import sessions

PAGES = ("MEMORY.md", "USER.md", "PROJECT.md")
PEOPLES = ("USER.md", "PROJECT.md")
"""Pages that a person writes and no job rewrites."""
SOURCES = ("memory", "sessions")
# `memory/2026-02-27.md`, or only `2026-02-27.md`.
_DIARY = re.compile(r"(?:memory/)?(\d{4}-\d{2}-\d{2})\.md")


def search(memory: Memory, caller: Caller, given: Given) -> Places:
    """Return the lines that answer a question."""
    query: Query = parse(given["query"], memory.now(), limit=given["limit"])
    query = of_sources(replace(query, min_score=given["minScore"]), given["sources"])
    return Places(tuple(map(_build_place, memory.recall(caller.space.narrowed(query)).hits)))


def of_sources(query: Query, sources: tuple[str, ...]) -> Query:
    """Restrict a query to notes and pages (memory), to what was said (sessions), or to neither.

    Raises:
        UsageError: a source is called otherwise.
    """
    for name in set(sources) - set(SOURCES):
        raise UsageError(f"{name[:60]!r} is no source. Use memory, sessions, or both.")
    # Both of them are everything, and a kind that the query names is narrower.
    if len(set(sources)) != 1 or query.kind:
        return query
    kinds = ("turn",) if sources[0] == "sessions" else tuple(k for k in KINDS if k != "turn")
    return replace(query, kind=kinds)


def _build_place(hit: Hit) -> Place:
    unit = hit.unit
    score = round(hit.score, 4)
    return Place(
        unit.path, unit.first, unit.last, hit.snippet, score, unit.id, hit.citation,
        unit.status, unit.trust,
    )  # fmt: skip


def get(memory: Memory, caller: Caller, given: Given) -> Piece:
    """Return a file, or some lines of it."""
    path, cited, until = split_citation(caller.space.cite_turn(memory, given["path"]))
    day = _parse_diary_day(path)
    text = _read_diary(memory, caller.space, day, path) if day else text_of(memory, caller, path)[1]
    lines = text.splitlines()
    first = max(given["startLine"], cited)
    last = given["endLine"] or until or len(lines)
    if last < first - 1:
        raise UsageError("'endLine' is before 'startLine'. Give one that follows it.")
    shown = lines[first - 1 : last]
    return Piece(path, first, first + len(shown) - 1, "\n".join(shown))


def append(memory: Memory, caller: Caller, given: Given) -> Kept:
    """Keep some text: as a note of a day, or as something to remember."""
    path, content = given["path"] or f"{memory.now().date()}.md", given["content"]
    day = _parse_diary_day(path)
    if day:
        return _note_down(memory, caller.space, day, given)
    if path not in PAGES:
        raise UsageError(
            f"{path[:200]!r} takes no text. Append to memory/2026-02-27.md, a day of yours, "
            f"or to {', '.join(PAGES)}."
        )
    space = caller.space
    if path in PEOPLES and space:
        raise denied(f"{path} is everybody's, and this token is bound. Append to a day.")
    before = _read_page(memory, path)
    if before and (why := memory.store.served(path).why):
        raise WaitingError(path, why)
    report = memory.remember(
        content, area=space.area(memory, ""), session=space.session, **space.whose
    )
    # What was new comes first: a statement that contradicts a card names that card, too.
    done = sorted(report.operations, key=lambda operation: operation.op is not Op.ADD)
    id = done[0].target if done else ""
    if path in PEOPLES and id:
        _write_line(memory, path, before, id)
    return Kept(path, id, stored=True)


def _read_page(memory: Memory, path: str) -> str:
    """Return the text of a page, empty where there is none; what cannot be read is refused."""
    return decode(memory.store.read(path), path) if memory.store.exists(path) else ""


def _write_line(memory: Memory, path: str, before: str, id: str) -> None:
    """Add the line of a card to a person's page; an editor that saves meanwhile is waited for."""
    value = memory.get(id).note.value  # type: ignore[attr-defined]  # what is remembered is a card
    line = f"- {' '.join(value.split())} ^{id}"
    # A person may save the page at this very moment: tried three times, then they see the error.
    for last in (False, False, True):
        # An earlier try, or the person, wrote it meanwhile.
        if f"^{id}" in before:
            return
        # A page from Windows keeps its kind of line break.
        ending = "\r\n" if "\r\n" in before else "\n"
        gap = "" if not before or before.endswith("\n") else ending
        content = f"{before}{gap}{line}{ending}".encode()
        base = digest(before.encode())
        change = Update(path, base, content) if before else Create(path, content)
        try:
            memory.store.apply([change], memory.actor, subject=f"append to {path}")
        except ChangedOnDiskError:
            if last:
                raise
            before = _read_page(memory, path)
    memory.written()


def _note_down(memory: Memory, space: Namespace, day: date, given: Given) -> Kept:
    id = _diary_session_id(memory, space, day)
    # A line for a past day, as an import sends it, ends no diary that is still written.
    if day >= memory.now().date():
        _end_earlier(memory, space, day)
    handle = memory.session(id, host="http", title=f"{day}", **space.whose)
    turn = handle.turn("assistant", given["content"], ref=given["ref"])
    path = f"memory/{day}.md"
    if turn is None:
        return Kept(path, "", stored=False)
    id = f"session:{handle.id}#{turn.n}"
    return Kept(path, id, stored=True, masked=turn.masked, stripped=turn.stripped)


def _end_earlier(memory: Memory, space: Namespace, day: date) -> None:
    """End the notes of days that are over, so that the daily job distils them."""
    past = _diary_session_id(memory, space, day)
    for place in list(sessions.places(memory.store)):
        # `diary-2026-02-27` has 16 characters; what follows says whose it is.
        whose = place.root.startswith("diary-") and place.root[16:] == past[16:]
        if place.open and whose and place.root < past:
            memory.mark_ended(place.id)


def _read_diary(memory: Memory, space: Namespace, day: date, asked: str) -> str:
    parts = sessions.parts(memory.store, _diary_session_id(memory, space, day))
    if not parts:
        raise NotFoundError("note or file", asked)
    read = [sessions.read(memory.store, part.path) for part in parts]
    return "\n\n".join(turn.text for part in read for turn in part.turns)


def _parse_diary_day(path: str) -> date | None:
    found = _DIARY.fullmatch(path)
    if found is None:
        return None
    try:
        return date.fromisoformat(found[1])
    except ValueError:
        raise UsageError(f"{found[1]!r} is no day of the calendar.") from None


def _diary_session_id(memory: Memory, space: Namespace, day: date) -> str:
    if space.session:
        raise denied("A token that is bound to a session keeps no diary. Store turns in it.")
    # Screened before they are hashed: who sees the id could try all secrets on it.
    project, agent, user = map(memory.screen.pass_name, (space.project, space.agent, space.user))
    # Zero bytes between the names: `a` and `bc` must not be `ab` and `c`.
    whose = f"{project}\0{agent}" + (f"\0{user}" if user else "")
    return f"diary-{day}" + (f"-{hashlib.sha256(whose.encode()).hexdigest()[:10]}" if space else "")
