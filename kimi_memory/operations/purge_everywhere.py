"""Purges carried to other copies on this machine and to remotes, and what is proven of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from kimi_memory.api.memory import Memory
from kimi_memory.errors import KimiMemoryError, UsageError
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.operations.drop_folders import drop_news
from kimi_memory.operations.follow_purge import follow_purges
from kimi_memory.operations.forget import Doomed, PurgeReport, purge
from kimi_memory.operations.health_checks import find_purged_heads
from kimi_memory.operations.new_folders import beside
from kimi_memory.operations.remotes import open_remotes
from kimi_memory.operations.sync_remotes import sync_memory
from kimi_memory.operations.usage_records import read_records
from kimi_memory.store.git.drops import list_others
from kimi_memory.store.git.network import Deadline
from kimi_memory.store.git.remotes import Remote

# A remote that does not answer must not hold up the others.
SECONDS = 300.0
SAME = "it has purged the same"


@dataclass(frozen=True, slots=True)
class Reached:
    """What became of a purge in another place."""

    name: str
    """A folder, a remote, or the id of a copy."""
    state: str
    """``proven``, ``rewritten`` but not proven, or ``left``: it still holds the text."""
    why: str
    """What was counted, or what is to be done."""


@dataclass(frozen=True, slots=True)
class Everywhere:
    """A purge here and in every other place that is known here."""

    report: PurgeReport | None
    """Of this copy; None where nothing was named, and earlier purges are carried on."""
    reached: tuple[Reached, ...]


def purge_everywhere(memory: Memory, doomed: Doomed, *, yes: bool = False) -> Everywhere:
    """Purge here, then in all copies on this machine, then at the remotes.

    Args:
        memory: opened for writing.
        doomed: what is to go; nothing to carry on what was purged here before.
        yes: do it; else only report what would be destroyed, and where.

    Raises:
        UsageError: nothing is named, and nothing was purged here.
        HistoryError: the repository cannot be rewritten; nothing was changed.
        StoreError: the proof found a place that still holds a text; it is named.
    """
    named = bool(doomed.texts or doomed.sessions)
    if not named and not find_purged_heads(memory):
        raise UsageError("Say what to purge: a text or a session. Nothing was purged here before.")
    if named and yes and open_remotes(memory).read():
        # What others sent is here, then: a history that is replaced there takes nothing along.
        sync_memory(memory)
    report = purge(memory, doomed, yes=yes) if named else None
    if not yes:
        return Everywhere(report, tuple(_list_places(memory, named=named)))
    reached = [try_place(one, partial(_reach_copy, memory, one)) for one in memory.other_copies()]
    remotes = open_remotes(memory).read()
    reached += [try_place(one.name, partial(_reach_remote, memory, one)) for one in remotes]
    return Everywhere(report, (*reached, *read_proofs(memory)))


def _list_places(memory: Memory, *, named: bool) -> Iterator[Reached]:
    for place in memory.other_copies():
        # What is only to be purged lies in all of them, for all that is known.
        there = Reached(place, "left", "a copy on this machine: --yes purges there, too")
        yield there if named else try_place(place, partial(look_at_copy, memory, there))
    for one in open_remotes(memory).read():
        yield Reached(one.name, "left", f"{one.url}: --yes replaces its history")
    yield from read_proofs(memory)


def read_proofs(memory: Memory) -> Iterator[Reached]:
    """Yield the copies that followed a purge and whose proof has come here."""
    for record in read_records(memory, "purge"):
        try:
            proof, follows = record["proof"], ", ".join(map(str, record["follows"]))
            counted = f"{proof['objects']} objects, {proof['hits']} hits"
            yield Reached(f"copy {proof['copy']}", "proven", f"{follows}: {counted}, {proof['at']}")
        except (KeyError, TypeError):
            continue  # A purge that began in its own copy.


def try_place(name: str, reach: Callable[[], Reached]) -> Reached:
    """Return what became of a purge in a place; why not, where it cannot be reached."""
    try:
        return reach()
    except KimiMemoryError as error:  # One place keeps no other from being purged.
        return Reached(name, "left", str(error))


def look_at_copy(memory: Memory, there: Reached) -> Reached:
    """Return whether a copy on this machine has purged the same; `there` where it has not."""
    with Memory.open(Path(there.name), beside(memory)) as other:
        followed = follow_purges(other, str(memory.root))
    return there if followed.report else Reached(there.name, "proven", SAME)


def _reach_copy(memory: Memory, place: str) -> Reached:
    with Memory.open(Path(place), beside(memory)) as other:
        followed = follow_purges(other, str(memory.root), yes=True)
    if followed.report is None:
        return Reached(place, "proven", SAME)
    return Reached(place, "proven", f"{followed.report.objects} objects destroyed, 0 hits left")


def _reach_drop(memory: Memory, remote: Remote) -> Reached:
    folder = Path(remote.url)
    drop_news(memory, folder)
    if list_others(folder, memory.settings.memory.id, memory.copy_id):
        why = "bundles of other copies hold it until each of them purges; see --follow"
        return Reached(remote.name, "left", why)
    return Reached(remote.name, "proven", "it holds bundles of this copy alone, made anew")


def _reach_remote(memory: Memory, remote: Remote) -> Reached:
    if remote.drop:
        return _reach_drop(memory, remote)
    merger = memory.history.merger()
    with memory.store.lock("sync"), merger.reach(remote, Deadline(SECONDS)) as there:
        left = there.replace_history(memory.copy_id)
        merger.note_seen(remote.name, merger.ours)
        if left:
            return Reached(remote.name, "left", left)
        return judge_objects(remote.name, there.count_foreign())


def judge_objects(name: str, foreign: int | None) -> Reached:
    """Return what is proven of a remote; `foreign` counts its objects that are not of this history.

    None means that nobody can count them.
    """
    if foreign is None:
        why = "objects may stay reachable by id there: ask the host to collect garbage"
        return Reached(name, "rewritten", why)
    if foreign:
        return Reached(name, "left", f"{foreign} objects there are not of this history")
    return Reached(name, "proven", "every object there is one of this copy, 0 hits")
