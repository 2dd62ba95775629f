"""A memory on several machines: who leads, how far each is, what runs where, and handing over."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from datetime import UTC, datetime

from kimi_memory.api.memory import Memory
from kimi_memory.api.options import Opening
from kimi_memory.cluster import Cluster
from kimi_memory.cluster.registry import Registry
from kimi_memory.domain.agent_run import AgentRun, Needs, Task, Usage
from kimi_memory.domain.change_log import Unreachable
from kimi_memory.domain.ids import new_id
from kimi_memory.errors import DivergedError, ServerError, UsageError
from kimi_memory.runs import Runs
from kimi_memory.runs.metering import KEYS, list_usage, sum_usage
from kimi_memory.runs.profiles import place as place_task
from kimi_memory.runs.profiles import read_surroundings, status_of
from kimi_memory.server.principal import Caller
from kimi_memory.server.responses import ClusterNode, ClusterState, Deployed, Led, Placed, Refused
from kimi_memory.server.schema import Given
from kimi_memory.spaces.placing import PlacePolicies
from kimi_memory.store.relay import Relay


def state(memory: Memory, caller: Caller, given: Given) -> ClusterState:
    """Say who leads, and how far this node got."""
    relay = _find_relay(memory)
    why = ""
    with _open_cluster(memory) as cluster:
        try:
            relay.follow()
        except DivergedError as error:
            why = str(error)
        place = relay.position.place
        lease = cluster.state(place.memory)
        leader = lease.holder if lease.held else ""
        address = cluster.registry.address(place.memory, leader) if leader else ""
    return ClusterState(
        place.memory, place.node, leader, address, lease.epoch,
        round(max(0.0, lease.left_seconds), 2), place.seq, relay.position.lag_ms, place.may_lead,
        why,
    )  # fmt: skip


def nodes(memory: Memory, caller: Caller, given: Given) -> list[ClusterNode]:
    """List the machines of the cluster."""
    _find_relay(memory)
    names = [field.name for field in fields(ClusterNode)]
    with _open_cluster(memory) as cluster:
        found = read_surroundings(cluster).nodes
    ttl = memory.home.settings().cluster.ttl
    shown = ({name: getattr(one, name) for name in names} for one in found)
    states = (status_of(one, ttl) for one in found)
    return [ClusterNode(**one | {"status": now}) for one, now in zip(shown, states, strict=True)]


def deployments(memory: Memory, caller: Caller, given: Given) -> list[Deployed]:
    """List the machines that have this memory."""
    id = _find_relay(memory).position.place.memory
    names = [field.name for field in fields(Deployed) if field.name != "address"]
    with _open_cluster(memory) as cluster:
        return [
            Deployed(
                **{name: getattr(one, name) for name in names},
                address=cluster.registry.address(id, one.node),
            )
            for one in cluster.deployments(id)
        ]


def agents(memory: Memory, caller: Caller, given: Given) -> list[AgentRun]:
    """List the runs of agents, newest first: ended anywhere, or living here."""
    return Runs(memory).list_runs()[: -given["limit"] - 1 : -1]


def usage(memory: Memory, caller: Caller, given: Given) -> list[Usage]:
    """Add up what jobs, models and runs of this memory used."""
    by = given["by"] or ("model",)
    if wrong := [one for one in by if one not in KEYS]:
        raise UsageError(f"{wrong[0][:60]!r} is nothing to sum by. Use {', '.join(KEYS)}.")
    return sum_usage(list_usage(memory, given["since"]), by)


def place(memory: Memory, caller: Caller, given: Given) -> Placed:
    """Say where a task would run, and why."""
    id = _find_relay(memory).position.place.memory
    needed = ("cpu", "ram", "disk", "gpu", "permissions", "needs")
    needs = Needs(*(given[name] for name in needed))
    named = ("realtime", "security", "region", "expected_s")
    more = {name: given[name] for name in named}
    task = Task(new_id("task", datetime.now(UTC)), id, given["task"], needs=needs, **more)
    with _open_cluster(memory) as cluster:
        policies = PlacePolicies(memory.home, id, memory.root, "http")
        ttl = memory.home.settings().cluster.ttl
        found = place_task(cluster, task, ttl, policies.refuse)
    refused = tuple(Refused(one.node, one.why) for one in found.refused)
    return Placed(found.mode, found.reasoning, found.execution, found.score, found.why, refused)


def promote(memory: Memory, caller: Caller, given: Given) -> Led:
    """Have a machine take the writes; the one that leads finishes what it has begun."""
    id = _find_relay(memory).position.place.memory
    with _open_cluster(memory) as cluster:
        lease = cluster.promote(id, given["node"], given["wait_seconds"])
    return Led(lease.holder, lease.epoch)


def demote(memory: Memory, caller: Caller, given: Given) -> Led:
    """Have this machine take no writes any more, so that another can begin."""
    id = _find_relay(memory).position.place.memory
    with _open_cluster(memory) as cluster:
        cluster.demote(id)
        lease = cluster.state(id)
    return Led(lease.holder if lease.held else "", lease.epoch)


def find_address(memory: Memory, node: str) -> str:
    """Return where a node serves a memory; empty where that is not known."""
    relay = memory.store.relay
    if relay is None:
        return ""
    try:
        return Registry(relay.position.log).address(relay.position.place.memory, node)
    except (Unreachable, UsageError):
        return ""  # It would only have made the refusal more helpful.


def _find_relay(memory: Memory) -> Relay:
    if memory.store.relay is None:
        raise UsageError(
            "This memory is on one machine alone. Share it with 'kimi-memory deploy add'."
        )
    return memory.store.relay


@contextmanager
def _open_cluster(memory: Memory) -> Iterator[Cluster]:
    # A connection of its own: a memory that is read or written uses the other one meanwhile.
    opening = Opening(home=memory.home, host=memory.host, actor=memory.actor, background=False)
    try:
        with Cluster.open(opening=opening) as cluster:
            yield cluster
    except Unreachable as error:
        why = f"The change log does not answer: {error}. Ask again later."
        raise ServerError(why, status=503, code="no_log") from error
