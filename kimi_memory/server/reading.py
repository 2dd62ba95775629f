"""What can be read: hits, blocks, notes, their origins, history, state."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from typing import Any

from kimi_memory import __version__
from kimi_memory.api.memory import Memory
from kimi_memory.domain.note import Card
from kimi_memory.domain.operation_types import Commit, Waiting
from kimi_memory.domain.past import BlameLine, TimelineEntry
from kimi_memory.domain.search_types import Answer, Context, Query
from kimi_memory.errors import NotFoundError, ReadOnlyError, UsageError
from kimi_memory.jobs.resolve_conflict import conflicts as disputed
from kimi_memory.nlp.basic.quotes import split_commit
from kimi_memory.operations.memory_state import status as count
from kimi_memory.operations.review_queue import review as waiting
from kimi_memory.recall.query_parser import parse
from kimi_memory.server.looking_back import blame_of, timeline_of
from kimi_memory.server.principal import Caller
from kimi_memory.server.responses import (
    Difference,
    Health,
    Origins,
    Proof,
    Quarrel,
    Sessions,
    Side,
    State,
    Text,
)
from kimi_memory.server.schema import Given
from kimi_memory.store.files.paths import is_truth
from kimi_memory.store.notes import sessions

_NO_FILTERS = ("text", "limit", "hops", "min_relevance", "vector_weight", "fusion")
FILTERS = tuple(f.name for f in fields(Query) if f.name not in _NO_FILTERS)
# No dash at the beginning: git would take it for an option.
_REVISION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/~^-]{0,200}|")
# Notes and sessions: journals, settings and keys are nothing to read from outside.
_READABLE = re.compile(r".+\.md|(?:.+/)?session_[^/]+\.jsonl")


def health(memory: Memory, caller: Caller, given: Given) -> Health:
    """Answer while the memory takes reads and writes."""
    if memory.store.read_only:
        raise ReadOnlyError(memory.store.read_only)
    return Health("ok", __version__)


def recall(memory: Memory, caller: Caller, given: Given) -> Answer:
    """Find lines; see `Memory.recall`."""
    query = query_of(memory, given)
    caller.space.check_points(memory, query.as_of)
    answer = memory.recall(caller.space.narrowed(query))
    return replace(answer, hits=tuple(map(caller.space.shown, answer.hits)))


def query_of(memory: Memory, given: Given) -> Query:
    """Return the query of a request: a line, or plain words, and filters beside it."""
    limit = given["limit"] or memory.settings.recall.limit
    if given["query"]:
        query = parse(given["query"], memory.now(), limit=limit)
    else:
        query = Query(text=given["text"], limit=limit)
    query = replace(query, **{name: given[name] for name in FILTERS if given[name]})
    # JSON clients leave numbers out; -1 stands for that, as 0 is a choice.
    query = query if given["hops"] < 0 else replace(query, hops=given["hops"])
    if query == Query(text="", limit=limit):
        raise UsageError("There is nothing to look for. Give a query, a text, or filters.")
    weight = given["vector_weight"]
    return replace(query, fusion=given["fusion"], vector_weight=None if weight < 0 else weight)


def context(memory: Memory, caller: Caller, given: Given) -> Context:
    """Return a block for a prompt; see `Memory.context`."""
    names = ("purpose", "query", "budget", "session", "project", "as_of", "valid_at")
    asked = {name: given[name] for name in names}
    return caller.space.context(memory, {**asked, "within": given["within"] or None})


def get(memory: Memory, caller: Caller, given: Given) -> Text:
    """Return a note by its id, or a file by its path."""
    path, text = text_of(memory, caller, given["what"])
    lines = text.splitlines()[given["first"] - 1 :]
    return Text(path, given["first"], "\n".join(lines[: given["lines"] or None]))


def text_of(memory: Memory, caller: Caller, what: str) -> tuple[str, str]:
    """Return path and text of a note or a file that the caller may see.

    Raises:
        NotFoundError: there is none, or it lies outside of the caller's namespace.
    """
    path = what.split("#", 1)[0]
    was, commit = split_commit(path)
    # The past has no namespaces: who may see a file today may not have been meant then.
    if commit and not caller.space:
        return memory.at(commit).get(was)
    try:
        # A path that leaves the folder is refused below, as such.
        held = is_truth(path) or ".." in path.split("/")
        if not (held and _READABLE.fullmatch(path)):
            raise NotFoundError("note or file", what)
        caller.space.check_path(memory, path, what)
        text = memory.store.text(path)
    except NotFoundError:
        filed = caller.space.filed(memory, what)
        path, text = filed.path, filed.text
    return path, text


def trace(memory: Memory, caller: Caller, given: Given) -> Origins:
    """Return where a note comes from; see `Memory.trace`."""
    found = memory.trace(caller.space.filed(memory, given["id"]).note.id)
    proofs = tuple(
        Proof(
            one.quote,
            one.verified,
            one.path,
            one.line,
            tuple(f"{turn.speaker or turn.role}: {turn.text}" for turn in one.turns),
        )
        for one in found.evidence
        if not one.path or caller.space.holds_path(memory, one.path)
    )
    # A commit names files and subjects of everybody.
    note, commits = found.note, () if caller.space else found.commits
    return Origins(note.id, note.kind, found.path, str(note.status), proofs, commits)


def timeline(memory: Memory, caller: Caller, given: Given) -> list[TimelineEntry]:
    """Return the states of a note or a key; see `Memory.timeline`."""
    return timeline_of(memory, caller.space, given["key"], given["since"], given["until"])


def blame(memory: Memory, caller: Caller, given: Given) -> list[BlameLine]:
    """Return since when a note says what it says; see `Memory.blame`."""
    return blame_of(memory, caller.space, given["id"], given["field"])


def log(memory: Memory, caller: Caller, given: Given) -> list[Commit]:
    """Return commits, newest first."""
    return memory.history.log(limit=given["limit"], path=given["path"])


def diff(memory: Memory, caller: Caller, given: Given) -> Difference:
    """Return what differs between two commits, or one and the files."""
    for name in ("old", "new"):
        if not _REVISION.fullmatch(given[name]):
            raise UsageError(f"{name!r} is no commit. Give a hash as log shows it.")
    return Difference(memory.history.diff(given["old"], given["new"], given["path"]))


def review(memory: Memory, caller: Caller, given: Given) -> list[Waiting]:
    """Return what waits for a person's word; it is given on their own machine."""
    return waiting(memory)


def conflicts(memory: Memory, caller: Caller, given: Given) -> list[Quarrel]:
    """Return what contradicts what."""
    found = disputed(memory)
    return [Quarrel(one.key, one.path, tuple(map(_side_of, one.sides))) for one in found]


def _side_of(card: Card) -> Side:
    since, quotes = card.valid_from or card.created, tuple(quote.text for quote in card.quotes)
    return Side(card.id, card.value, card.confidence, str(card.trust), since, quotes)


def status(memory: Memory, caller: Caller, given: Given) -> State:
    """Return counts, without any place on this machine."""
    found = count(memory)
    members: dict[str, Any] = {f.name: getattr(found, f.name) for f in fields(State)}
    return State(**members)


def open_sessions(memory: Memory, caller: Caller, given: Given) -> Sessions:
    """Return the open sessions of the caller's namespace."""
    found = [place for place in sessions.places(memory.store) if place.open]
    seen = [one.id for one in found if caller.space.holds_path(memory, one.path)]
    return Sessions(tuple(seen))
