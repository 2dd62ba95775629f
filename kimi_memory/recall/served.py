"""Who a block is for: the person and the project of the running session, and what is theirs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kimi_memory.domain.note import Origin, Role
from kimi_memory.domain.search_types import Query
from kimi_memory.domain.session import SHARED, owner
from kimi_memory.recall.evidence import NOTES, rests_on
from kimi_memory.recall.filters import restrict_to_caller

if TYPE_CHECKING:
    from kimi_memory.domain.search_types import Unit
    from kimi_memory.index.searcher import Bools, Searcher
    from kimi_memory.recall.request import Request


class _Names(NamedTuple):
    """Who said a turn."""

    speaker: str = ""
    user: str = ""
    """The account of its session."""
    scope: str = SHARED


_NOBODY = _Names()
_MOST = 2
"""No line names more people."""


class Served(NamedTuple):
    """The person and the project of a block; empty where they are not known."""

    people: frozenset[str] = frozenset()
    """Their names, folded."""
    project: str = ""
    running: bool = False
    """Whether the running session, or a project, is named."""
    several: bool = False
    """Whether more than one person speaks in what the caller may see."""

    def owns(self, searcher: Searcher, unit: Unit) -> bool | None:
        """Return whether an order is theirs or everybody's; None where nobody knows.

        Args:
            searcher: the memory.
            unit: a card or a turn.
        """
        if unit.project and unit.project != self.project:
            return False if self.running else None
        if not self.several:
            return True
        people = names_of(searcher, unit)
        if not people or people & self.people:
            return True
        return False if self.people else None


def served_by(searcher: Searcher, request: Request) -> Served:
    """Return who a block is for: by its scopes and project, else by the running session."""
    named = frozenset(owner(scope, "user") for scope in request.within or ()) - {""}
    project, running = request.project, request.session or request.beside
    if running:
        rows = searcher.alive & searcher.column("session").among({running})
        project = project or next(iter(searcher.column("project").tally(rows)), "")
        named = named or _names_in(searcher, rows)
    people = frozenset(map(str.casefold, named))
    several = are_several(searcher, request)
    return Served(people, project, bool(running or project), several)


def names_of(searcher: Searcher, unit: Unit) -> frozenset[str]:
    """Return the folded names of those who said something, or what a card rests on."""
    named = {unit.speaker, unit.user}
    if unit.kind != "turn" and not unit.user:
        for one in _yield_speakers(searcher, unit):
            named |= {one.speaker, one.user}
    return frozenset(map(str.casefold, named - {""}))


def notes_about(searcher: Searcher, rows: Sequence[int], names: Collection[str]) -> Bools:
    """Return which of some rows are notes that name a person, or rest on that person's words."""
    found, kinds = np.zeros(len(searcher), dtype=bool), searcher.column("kind")
    folded = frozenset(map(str.casefold, names))
    notes = [row for row in rows if kinds[row] in NOTES]
    for row, unit in searcher.units(notes, sure=False).items():
        said = f"{unit.title} {unit.text}".casefold()
        found[row] = any(name in said for name in folded) or bool(names_of(searcher, unit) & folded)
    return found


def person_of(searcher: Searcher, unit: Unit, request: Request) -> str:
    """Return the name to show with a person's words; empty where only one person speaks.

    Args:
        searcher: the memory.
        unit: what is shown.
        request: who asks; people of whom they may see nothing do not count.
    """
    return find_person(searcher, unit) if are_several(searcher, request) else ""


def find_person(searcher: Searcher, unit: Unit) -> str:
    """Return the name of the person whose words a unit shows; empty where nobody knows."""
    if unit.trust != Origin.HUMAN:
        return ""
    if unit.kind == "turn":
        return unit.speaker or unit.user
    said = _yield_speakers(searcher, unit)
    names = dict.fromkeys(name for one in said if (name := one.speaker or one.user))
    return " & ".join(islice(names, _MOST)) or unit.user


def _yield_speakers(searcher: Searcher, unit: Unit) -> Iterator[_Names]:
    """Yield who said the turns that a card or an event rests on."""
    for turn in rests_on(searcher, unit):
        one = _names_of_session(searcher, turn).get(turn, _NOBODY)
        # Who may see a shared card may not know of the private session that it rests on, too.
        if one.scope in (SHARED, unit.scope):
            yield one


def are_several(searcher: Searcher, request: Request) -> bool:
    """Whether more than one person speaks in what the caller may see."""
    # A name beside words of theirs would say that there are talks which are hidden from them.
    asked = request.narrowed(Query(text="", within=request.within))
    seen = restrict_to_caller(searcher, asked)

    def count() -> int:
        said = seen.alive & seen.column("role").among({Role.USER})
        # A name at a turn is the speaker's own; that of a session may be the name of an account.
        unnamed = said & seen.column("speaker").among({""})
        named = (*seen.column("speaker").tally(said), *seen.column("user").tally(unnamed))
        return len(frozenset(map(str.casefold, named)) - {""})

    return seen.once("people", count) > 1


def _names_in(searcher: Searcher, rows: Bools) -> frozenset[str]:
    """Return the names of the people who speak in some rows, and of their accounts."""
    said = rows & searcher.column("role").among({Role.USER})
    named = (*searcher.column("speaker").tally(said), *searcher.column("user").tally(said))
    return frozenset(named) - {""}


def _names_of_session(searcher: Searcher, turn: str) -> dict[str, _Names]:
    """Return whose each turn of the session is that a turn is of, by the ids of the turns."""
    known = searcher.once("people of sessions", dict[str, dict[str, _Names]])
    session = turn.removeprefix("session:").rpartition("#")[0]
    if session not in known:
        # A part that continues a session has its own id, and the session's in the column.
        of = {session, session.rpartition(".")[0]}
        rows = np.flatnonzero(searcher.alive & searcher.column("session").among(of)).tolist()
        columns = [searcher.column(name) for name in ("id", "speaker", "user", "scope")]
        found = ([column[row] for column in columns] for row in rows)
        known[session] = {id: _Names(*names) for id, *names in found}
    return known[session]
