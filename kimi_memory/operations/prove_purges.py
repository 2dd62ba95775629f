"""What can be proven of the purges made here: this folder, other copies, remotes. Only looks."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple

from kimi_memory.api.memory import Memory
from kimi_memory.errors import UsageError
from kimi_memory.operations.health_checks import find_purged_heads
from kimi_memory.operations.purge_everywhere import (
    SECONDS,
    Reached,
    judge_objects,
    look_at_copy,
    read_proofs,
    try_place,
)
from kimi_memory.operations.remotes import open_remotes
from kimi_memory.operations.usage_records import read_records
from kimi_memory.past.copies import list_descendants
from kimi_memory.store.copy import read_copies
from kimi_memory.store.git.drops import list_others, list_tips
from kimi_memory.store.git.network import Deadline
from kimi_memory.store.git.remotes import Remote

_HERE = "here"


class _Purges(NamedTuple):
    """The purges that the records here tell of."""

    own: frozenset[str]
    """Ids of those that followed no other."""
    done: dict[str, set[str]]
    """By a copy's id, earlier ones among them, the purges that it has carried out."""


def prove_purges(memory: Memory) -> list[Reached]:
    """Return what is proven now of each place that is known here; nothing is changed anywhere.

    Args:
        memory: an open memory.

    Raises:
        UsageError: nothing was purged here.
    """
    heads = find_purged_heads(memory)
    if not heads:
        raise UsageError("Nothing was purged here before: there is nothing to prove.")
    found = [_prove_here(memory, set(heads))]
    for place in memory.other_copies():
        left = Reached(place, "left", "a copy on this machine: purge --everywhere --yes reaches it")
        found.append(try_place(place, partial(look_at_copy, memory, left)))
    for remote in open_remotes(memory).read():
        look = _look_at_drop if remote.drop else _look_at_remote
        found.append(try_place(remote.name, partial(look, memory, remote)))
    return [*found, *read_proofs(memory), *_find_silent(memory)]


def _prove_here(memory: Memory, heads: set[str]) -> Reached:
    merger = memory.history.merger()
    if any(merger.knows(one) for one in heads if one != "none"):
        why = "the history from before lies here again: run the purge once more"
        return Reached(_HERE, "left", why)
    return Reached(_HERE, "proven", "the history from before is not here")


def _look_at_drop(memory: Memory, remote: Remote) -> Reached:
    folder, id = Path(remote.url), memory.settings.memory.id
    merger = memory.history.merger()
    if list_others(folder, id, memory.copy_id):
        return Reached(remote.name, "left", "bundles of other copies lie there, see --follow")
    if not all(map(merger.has, list_tips(folder, id, memory.copy_id))):
        why = "bundles of this copy from before lie there: the next sync makes them anew"
        return Reached(remote.name, "left", why)
    return Reached(remote.name, "proven", "it holds nothing from before")


def _look_at_remote(memory: Memory, remote: Remote) -> Reached:
    merger = memory.history.merger()
    with memory.store.lock("sync"), merger.reach(remote, Deadline(SECONDS)) as there:
        if why := there.find_old_history():
            return Reached(remote.name, "left", why)
        return judge_objects(remote.name, there.count_foreign(clear=False))


def _read_purges(memory: Memory) -> _Purges:
    own, done = set[str](), dict[str, set[str]]()
    for record in read_records(memory, "purge"):
        try:
            follows = [str(one) for one in record.get("follows", ())]
            copies = [*record.get("copies", ()), record.get("proof", {}).get("copy", "")]
        except (AttributeError, TypeError):
            continue  # Somebody wrote it by hand: it tells of no purge.
        own |= set() if follows else {str(record.get("id"))}
        for copy in map(str, copies):
            done.setdefault(copy, set()).update(follows or [str(record.get("id"))])
    return _Purges(frozenset(own), done)


def _find_silent(memory: Memory) -> Iterator[Reached]:
    """Yield the copies elsewhere of which nothing says that they carried a purge out."""
    graph, copies = memory.points.graph(), memory.points.copies
    purges = _read_purges(memory)
    jobs = {one.trailers.get("Job", ""): one.hash for one in memory.history.since()}
    # Who has a commit that descends from a purge has the history from after it.
    after = {id: list_descendants(graph, jobs[id]) for id in purges.own if id in jobs}
    known = read_copies(memory.home.state, memory.settings.memory.id)
    here = {copies.own, *(known[place] for place in memory.other_copies())}
    for one in copies.list_known(graph):
        last = one.places[-1]
        done = purges.done.get(one.copy, set())
        if one.copy in here or all(id in done or last in after.get(id, ()) for id in purges.own):
            continue
        at = datetime.fromtimestamp(graph.known[last], UTC).date().isoformat()
        why = f"nothing came from it since {at}: it may still hold it, see --follow"
        yield Reached(f"copy {one.copy}", "left", why)
