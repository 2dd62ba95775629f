"""A fork that is made on another machine: one asks, and the service of the other makes it.

It is made of what that machine has, beside its own copy: nothing travels but the question, which is
signed as all that machines say of a memory.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

from kimi_memory.cluster.membership import Cluster
from kimi_memory.domain.ids import new_id, utcnow
from kimi_memory.errors import KimiMemoryError, UsageError
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.basic.safe_text import slug
from kimi_memory.operations.new_copies import make_fork

_PAUSE_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Forked:
    """A memory that was made on another machine."""

    id: str
    node: str
    folder: str
    """Where it lies there."""
    name: str


def fork_on(
    cluster: Cluster, memory: str, node: str, name: str, at: str = "HEAD",
    *, wait_seconds: float = 60.0,
) -> Forked:  # fmt: skip
    """Have another machine make a memory of its own of what it knows.

    Args:
        cluster: the cluster.
        memory: a name or id of a memory that both machines hold.
        node: the machine.
        name: what people call the new memory.
        at: a point in the history of the memory.
        wait_seconds: how long it is waited for.

    Raises:
        UsageError: that machine does not hold all of it, cannot make it, or does not answer.
    """
    id = cluster.registry.find(memory)
    _check_copy(cluster, id, node)
    with cluster.memory(id) as here:
        here.batch.flush("Before a copy")
        assert here.store.relay is not None
        here.store.relay.follow()
        commit, seq = here.points.find(at).commit, here.store.relay.position.place.seq
    key = f"{id}/{cluster.node}/{new_id('fork', utcnow())}"
    cluster.registry.ask_fork(key, {"on": node, "name": name, "at": commit, "seq": seq})
    try:
        answer = _await_answer(cluster, key, node, wait_seconds)
    finally:
        # What was given up is not made later.
        cluster.registry.drop_fork(key, node)
    if answer.get("why"):
        raise UsageError(f"{node} cannot make it: {answer['why']}")
    return Forked(str(answer["id"]), node, str(answer["folder"]), name)


def _check_copy(cluster: Cluster, memory: str, node: str) -> None:
    if node == cluster.node:
        raise UsageError(f"{node} is this machine. Name a folder instead of --on.")
    row = next(iter(cluster.registry.deployments(memory, node)), None)
    if row is None or row.keep:
        raise UsageError(
            f"{node} does not hold all of {memory}. Run there: kimi-memory deploy add {memory} "
            "--folder PATH"
        )


def _await_answer(cluster: Cluster, key: str, node: str, wait_seconds: float) -> Mapping[str, Any]:
    end = time.monotonic() + wait_seconds
    while not (answer := cluster.registry.fork_answer(key, node)):
        if time.monotonic() > end:
            raise UsageError(
                f"{node} did not answer in {wait_seconds:g} s. See that 'kimi-memory cluster run' "
                "runs there, then retry."
            )
        time.sleep(_PAUSE_SECONDS)
    return answer


def make_asked(cluster: Cluster) -> Iterator[str]:
    """Make the forks that others ask this machine for; yield a line for each.

    Raises:
        Unreachable: the log does not answer.
    """
    for key, asked in cluster.registry.asked_forks(cluster.node).items():
        if cluster.registry.fork_answer(key, cluster.node):
            continue
        memory, asker, _ = key.split("/")
        try:
            answer = _make(cluster, memory, asked)
            done = f"{answer['id']} in {answer['folder']}"
        except (KimiMemoryError, OSError, ValueError, KeyError, TypeError) as error:
            done = str(error)
            answer = {"why": done}
        cluster.registry.answer_fork(key, cluster.node, answer)
        yield f"{memory}: a fork for {asker}: {done}"


def _make(cluster: Cluster, memory: str, asked: Mapping[str, Any]) -> dict[str, str]:
    name = str(asked["name"])
    with cluster.memory(memory, after=int(asked["seq"])) as here:
        # Beside its copy, whatever is asked for.
        folder = here.root.with_name(slug(name))
        id = make_fork(here, folder, name, str(asked["at"]))
    return {"id": id, "folder": str(folder)}
