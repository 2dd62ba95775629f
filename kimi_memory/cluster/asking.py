"""What one machine asks another to do: to copy a memory, or to make a fork of what it has.

The service of the other does it, in a folder that its own settings or its own copy name. Nothing
travels but the question, which is signed as all that machines say of a memory.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from kimi_memory.cluster.membership import Cluster
from kimi_memory.cluster.snapshots import check_part
from kimi_memory.domain.cluster import Role
from kimi_memory.domain.ids import new_id, utcnow
from kimi_memory.errors import KimiMemoryError, UsageError
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.basic.safe_text import slug
from kimi_memory.operations.new_copies import make_fork

_PAUSE_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Made:
    """A folder that another machine made."""

    id: str
    """Of the memory in it."""
    node: str
    folder: str
    """Where it lies there."""
    name: str
    records: int = 0
    """Of a copy: so many came after its snapshot."""


class OtherMachine:
    """Another machine of a cluster, which is asked to make something.

    Args:
        cluster: the cluster.
        node: the machine.
        wait_seconds: how long it is waited for.
        dry_run: only see that it can be asked.

    Raises:
        UsageError: there is no such machine, or it is this one.
    """

    def __init__(
        self, cluster: Cluster, node: str, *, wait_seconds: float = 60.0, dry_run: bool = False
    ) -> None:
        self._cluster, self._registry, self._node = cluster, cluster.registry, node
        self._wait_seconds, self._dry_run = wait_seconds, dry_run
        if node == cluster.node:
            raise UsageError(f"{node} is this machine. Leave --on out.")
        if not any(one.name == node for one in cluster.nodes()):
            raise UsageError(f"There is no machine {node}. See 'kimi-memory node list'.")

    def fork(self, memory: str, name: str, at: str = "HEAD") -> Made:
        """Have it make a memory of its own of what this machine knows, beside its copy.

        Args:
            memory: a name or id of a memory that both machines hold.
            name: what people call the new memory.
            at: a point in the history of the memory.

        Raises:
            UsageError: it does not hold all of that, cannot make it, or does not answer.
        """
        id = self._registry.find(memory)
        row = next(iter(self._registry.deployments(id, self._node)), None)
        if row is None or row.keep:
            raise UsageError(
                f"{self._node} does not hold all of {memory}. Copy it there with 'kimi-memory "
                "deploy add'."
            )
        with self._cluster.memory(id) as here:
            here.batch.flush("Before a copy")
            assert here.store.relay is not None
            here.store.relay.follow()
            commit, seq = here.points.find(at).commit, here.store.relay.position.place.seq
        if self._dry_run:
            return Made("", self._node, str(Path(row.folder).with_name(slug(name))), name)
        reply = self._ask(id, {"what": "fork", "name": name, "at": commit, "seq": seq})
        return Made(str(reply["id"]), self._node, str(reply["folder"]), name)

    def copy(self, memory: str, role: Role = "replica", keep: Sequence[str] = ()) -> Made:
        """Have it copy a deployed memory, into the folder that it has for that.

        Args:
            memory: its name or id.
            role: a replica takes over where the primary is lost, a cache never does.
            keep: tiers that a cache is to have, and no history; all of the memory if empty.

        Raises:
            UsageError: it has it, takes no copies, cannot read the log, or does not answer.
        """
        check_part(keep, role)
        id, node = self._registry.find(memory), self._node
        rows = self._registry.deployments(id)
        if any(one.node == node for one in rows):
            raise UsageError(f"{node} has {memory} already.")
        readers = self._cluster.log.sealing.nodes(id)
        if readers and node not in readers:
            raise UsageError(
                f"The log of {memory} is sealed, and {node} cannot read it. Run 'kimi-memory "
                f"deploy seal {memory} --to {node}' before."
            )
        if self._dry_run:
            return Made(id, node, "", rows[0].name)
        reply = self._ask(id, {"what": "add", "role": role, "keep": [*keep]})
        return Made(id, node, str(reply["folder"]), rows[0].name, int(reply["records"]))

    def _ask(self, memory: str, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return what it says that it made."""
        node, end = self._node, time.monotonic() + self._wait_seconds
        key = f"{memory}/{self._cluster.node}/{new_id('ask', utcnow())}"
        self._registry.ask(key, {"on": node, **asked})
        try:
            while not (reply := self._registry.reply(key, node)):
                if time.monotonic() > end:
                    raise UsageError(
                        f"{node} did not answer in {self._wait_seconds:g} s. See that 'kimi-memory "
                        "cluster run' runs there, then retry."
                    )
                time.sleep(_PAUSE_SECONDS)
        finally:
            # What was given up is not made later.
            self._registry.drop_question(key, node)
        if reply.get("why"):
            raise UsageError(f"{node} cannot make it: {reply['why']}")
        return reply


def answer_questions(cluster: Cluster, folder: str = "") -> Iterator[str]:
    """Do what others ask this machine to do; yield a line for each.

    Args:
        cluster: the cluster.
        folder: where copies are laid that others ask for; they get none if empty.

    Raises:
        Unreachable: the log does not answer.
    """
    for key, asked in cluster.registry.questions(cluster.node).items():
        if cluster.registry.reply(key, cluster.node):
            continue
        memory, asker, _ = key.split("/")
        reply: Mapping[str, Any]
        try:
            reply = _make(cluster, memory, asked, folder)
        except (KimiMemoryError, OSError, ValueError, KeyError, TypeError) as error:
            reply = {"why": str(error)}
        cluster.registry.put_reply(key, cluster.node, reply)
        done = reply.get("why") or f"made {reply['folder']}"
        yield f"{memory}: {asker} asks to {asked.get('what')}: {done}"


def _make(
    cluster: Cluster, memory: str, asked: Mapping[str, Any], folder: str
) -> Mapping[str, Any]:
    """Make a fork or a copy where this machine says: a question names no folder."""
    if asked["what"] == "add":
        if not Path(folder).is_absolute():
            raise UsageError(
                'it has no folder = "/…" for copies under [cluster] of its config.toml'
            )
        name = cluster.registry.deployments(memory)[0].name
        role, keep = cast("Role", str(asked["role"])), [str(one) for one in asked["keep"]]
        row, count = cluster.add(memory, Path(folder) / slug(name), role, keep=keep)
        return {"folder": row.folder, "records": count}
    name = str(asked["name"])
    with cluster.memory(memory, after=int(asked["seq"])) as here:
        place = here.root.with_name(slug(name))
        return {"folder": str(place), "id": make_fork(here, place, name, str(asked["at"]))}
