"""Recall over all memories of a space: permissions first, then each is asked, then one list."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import NamedTuple

from kimi_memory.api.memory import Memory
from kimi_memory.api.options import Opening
from kimi_memory.domain.search_types import Answer, Hit
from kimi_memory.errors import DeniedError, KimiMemoryError, NotFoundError
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.recall.query_parser import parse
from kimi_memory.server.guard import Guard, Request, Ruling
from kimi_memory.server.principal import Caller
from kimi_memory.spaces.space_files import read_registry
from kimi_memory.spaces.space_folder import SpaceFolder


@dataclass(frozen=True, slots=True)
class FoundIn:
    """A hit, and the memory that has it."""

    memory: str
    """Its name in the space."""
    hit: Hit
    score: float
    """That within its memory, times the share of the question's words that it says."""


@dataclass(frozen=True, slots=True)
class SpaceAnswer:
    """What the memories of a space found, and which of them were not asked."""

    hits: tuple[FoundIn, ...]
    refused: Mapping[str, str]
    """Why the policies refuse a memory, by its name."""
    failed: Mapping[str, str]
    """Why a memory could not be asked, by its name."""


class _Asking(NamedTuple):
    """Who asks, for how much, and through which door."""

    member: str
    limit: int
    via: str


class _Asked(NamedTuple):
    name: str
    guard: Guard
    ruling: Ruling
    request: Request
    answer: Answer
    found: tuple[FoundIn, ...]


def recall_space(
    space: SpaceFolder, words: str, *, member: str = "", limit: int = 10, via: str = "library"
) -> SpaceAnswer:
    """Ask all memories of a space that lie on this machine.

    Each is asked as at any other door: for a member the policies are asked before, what is private
    to others is left out before anything is ranked, and the log has a line for each memory.

    Args:
        space: the space.
        words: the question, with filters as in `Memory.recall`.
        member: who asks; who holds the folders if empty.
        limit: at most so many hits.
        via: the door, for the log.

    Raises:
        DiskError: the log takes no line, so nothing is answered.
    """
    places: Mapping[str, str] = read_registry(space.home)[space.name]["memories"]
    asked, refused, failed = list[_Asked](), dict[str, str](), dict[str, str]()
    for id, name in sorted(space.about.memories.items(), key=lambda one: one[1]):
        try:
            if id not in places:
                raise NotFoundError("folder", name)
            asked.append(_ask(space, (id, name, places[id]), words, _Asking(member, limit, via)))
        except DeniedError as error:
            refused[name] = str(error)
        except KimiMemoryError as error:
            failed[name] = str(error)
    found = [one for each in asked for one in each.found]
    found.sort(key=lambda one: (-one.score, one.memory, one.hit.citation))
    shown = tuple(found[:limit])
    for each in asked:
        hits = tuple(one.hit for one in shown if one.memory == each.name)
        each.guard.note(each.ruling, each.request, replace(each.answer, hits=hits))
    return SpaceAnswer(shown, refused, failed)


def _ask(space: SpaceFolder, place: tuple[str, str, str], words: str, asking: _Asking) -> _Asked:
    id, name, folder = place
    guard = Guard(space, id)
    caller = Caller(asking.member or "owner", member=asking.member, person=not asking.member)
    request = Request("recall", asking.via, given={"query": words})
    ruling = guard.rule(caller, request)
    opening = Opening(home=space.home, actor=caller.actor, background=False)
    with ExitStack() as opened:
        memory = opened.enter_context(Memory.open(folder, opening))
        seen = ruling.caller.space
        query = parse(words, memory.now(), limit=asking.limit)
        answer = memory.recall(seen.narrowed(query))
        hits = tuple(map(seen.shown, answer.hits))
        split = memory.engine.words.split
    found = tuple(FoundIn(name, hit, _weigh(hit, query.text, split)) for hit in hits)
    return _Asked(name, guard, ruling, request, answer, found)


def _weigh(hit: Hit, text: str, split: Callable[[str], Sequence[str]]) -> float:
    """Return what a hit weighs beside those of other memories.

    The best of a memory has the score 1 there, however little it says of what was asked for.
    """
    wanted = set(split(text))
    said = wanted & set(split(f"{hit.unit.title} {hit.unit.text}"))
    share = len(said) / len(wanted) if wanted else 1.0
    return round(hit.score * share, 4)
