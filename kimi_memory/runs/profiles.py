"""What the machines of a cluster offer, kept beside its registry."""

from __future__ import annotations

import json
import os
import platform
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

from kimi_memory.api.memory import Memory
from kimi_memory.api.options import Opening
from kimi_memory.cluster import Cluster
from kimi_memory.domain.agent_run import AgentRun, Task
from kimi_memory.domain.change_log import Unreachable
from kimi_memory.domain.ids import utcnow
from kimi_memory.domain.placement_types import (
    Capabilities,
    Latency,
    NodeProfile,
    Permissions,
    Placement,
    Resources,
)
from kimi_memory.errors import NoPlaceError, UsageError
from kimi_memory.runs.exec_line import ExecLine
from kimi_memory.runs.placing import Forbid, Surroundings, forbid_nothing, place_task
from kimi_memory.store.guarded_log import find_guard

SSH = "ssh:"
"""Before the name of a machine, in an endpoint and in a runtime."""
_PROFILES, _LATENCIES = "profiles", "latencies"


class Offer(NamedTuple):
    """What a machine says of itself."""

    use_case: str = ""
    capabilities: Capabilities = Capabilities()
    resources: Resources = Resources()
    permissions: Permissions = Permissions()
    status: str = "online"
    load: int = 0
    """At least so busy it is taken for, 0 to 100; else as busy as it was measured."""
    endpoint: str = ""
    """How others reach its execution node: ``ssh:HOST``, or ``https://HOST:PORT``."""
    labels: Mapping[str, str] = MappingProxyType({})
    """What its owner says of it, for people and programs of their own."""


def publish_offer(cluster: Cluster, offer: Offer, *, dry_run: bool = False) -> None:
    """Say what this machine offers; the last word counts. With `dry_run`, only look.

    Raises:
        UsageError: it has not joined.
    """
    if cluster.node not in {one.name for one in cluster.nodes()}:
        raise UsageError(f"{cluster.node} has not joined. Run 'kimi-memory node join' first.")
    body = {
        name: value._asdict() if hasattr(value, "_asdict") else value
        for name, value in offer._asdict().items()
    }
    if not dry_run:
        text = json.dumps(body, sort_keys=True, default=dict)
        cluster.log.put_row(_PROFILES, cluster.node, text.encode())


def measure_resources() -> Resources:
    """Return what this machine has: processors, memory, and free disk where runs work."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    free = shutil.disk_usage(tempfile.gettempdir()).free
    return Resources(float(os.cpu_count() or 1), memory // 2**20, free // 2**20)


def publish_latency(cluster: Cluster, one: Latency) -> None:
    """Keep how long the way to another machine and back takes."""
    body = json.dumps(one._asdict(), sort_keys=True).encode()
    cluster.log.put_row(_LATENCIES, f"{one.a}/{one.b}", body)


def measure_latency(cluster: Cluster, node: str) -> Latency:
    """Measure how long the way from this machine to another and back takes, and keep it.

    Raises:
        UsageError: nobody said how it is reached, or not by ssh.
        ServerError: it does not answer.
    """
    with ExecLine.over_ssh(_find_host(read_surroundings(cluster), node)) as line:
        found = line.measure(cluster.node, node)
    publish_latency(cluster, found)
    return found


def read_surroundings(cluster: Cluster, memory: str = "", ttl: float = 6.0) -> Surroundings:
    """Return what is known of the machines, and where a memory lies.

    Args:
        cluster: opened.
        memory: its name or id; none if empty.
        ttl: of the cluster.
    """
    offers = {row.key: json.loads(row.body) for row in cluster.log.rows(_PROFILES)}
    nodes = [
        _build_profile(
            NodeProfile(
                one.name, one.kind, region=one.region, zone=one.zone, since=one.since,
                version=one.version, seen_seconds=one.seen_seconds, key=one.key, load=one.load,
            ),
            offers.get(one.name, {}),
        )
        for one in cluster.nodes()
    ]  # fmt: skip
    latencies = [
        Latency(**_pick(Latency._fields, json.loads(row.body)))
        for row in cluster.log.rows(_LATENCIES)
    ]
    deployed = {one.node: one.role for one in cluster.deployments(memory)} if memory else {}
    return Surroundings(nodes, latencies, deployed, ttl)


def _build_profile(node: NodeProfile, offer: dict[str, Any]) -> NodeProfile:
    kinds: dict[str, Any] = {
        "capabilities": Capabilities, "resources": Resources, "permissions": Permissions
    }  # fmt: skip
    made: dict[str, Any] = {
        name: kind(**_pick(kind._fields, offer.get(name, {}))) for name, kind in kinds.items()
    }
    plain = ("use_case", "status", "endpoint", "labels")
    made |= {name: offer[name] for name in plain if name in offer}
    # What a person says of a machine counts where it is more than was measured.
    return node._replace(load=max(node.load, offer.get("load", 0)), **made)


def status_of(node: NodeProfile, ttl: float) -> str:
    """Return what a machine is now: offline where nobody heard of it for three times `ttl`."""
    return "offline" if node.seen_seconds >= 3 * ttl else node.status


def check_room(cluster: Cluster) -> None:
    """Refuse a memory more than this machine offers to keep.

    Raises:
        UsageError: it keeps so many already.
    """
    here = next((one for one in read_surroundings(cluster).nodes if one.name == cluster.node), None)
    most = here.capabilities.max_memories if here else 0
    if most and len(cluster.registry.deployments(node=cluster.node)) >= most:
        raise UsageError(
            f"{cluster.node} keeps at most {most} memories, and has as many. Say another number "
            "there with 'kimi-memory place --offer --most N'."
        )


def _pick(fields: Sequence[str], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of known names; JSON has lists where we have tuples.

    A newer node may write others.
    """
    return {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in values.items()
        if name in fields
    }


def place(
    cluster: Cluster, task: Task, ttl: float = 6.0, forbid: Forbid = forbid_nothing
) -> Placement:
    """Return where a task runs, and why.

    Args:
        cluster: opened.
        task: what is to run.
        ttl: of the cluster.
        forbid: the policies that have a say in it.

    Raises:
        NoPlaceError: no machine can take it.
    """
    return place_task(task, _look_around(cluster, task, ttl, forbid))


def _look_around(cluster: Cluster, task: Task, ttl: float, forbid: Forbid) -> Surroundings:
    around = read_surroundings(cluster, task.memory, ttl)
    return around._replace(now=utcnow(), forbidden=forbid(around.nodes, task))


def choose_place(
    cluster: Cluster, task: Task, ttl: float = 6.0, forbid: Forbid = forbid_nothing
) -> tuple[Placement, str]:
    """Return where a task runs, and the runtime that has it carried out there; empty for here.

    Args:
        cluster: opened.
        task: what is to run.
        ttl: of the cluster.
        forbid: the policies that have a say in it.

    Raises:
        NoPlaceError: no machine can take it.
        UsageError: nobody said how ssh reaches the machine.
    """
    around = _look_around(cluster, task, ttl, forbid)
    found = place_task(task, around)
    if found.execution == cluster.node:
        return found, ""
    return found, f"{SSH}{_find_host(around, found.execution)}"


def _find_host(around: Surroundings, node: str) -> str:
    endpoint = next((one.endpoint for one in around.nodes if one.name == node), "")
    if not endpoint.startswith(SSH):
        raise UsageError(
            f"Nobody said how ssh reaches {node}. Say so there, with 'kimi-memory place --offer "
            "--endpoint ssh:HOST'."
        )
    return endpoint.removeprefix(SSH)


def note_placement(memory: Memory, run: AgentRun, task: Task) -> AgentRun:
    """Return a run on this machine that says where it runs, and what placement says of that."""
    table, relay = memory.home.settings().cluster, memory.store.relay
    node = table.node or platform.node()
    here = replace(run, reasoning_node=node, execution_node=node)
    if relay is None:
        return replace(here, placement="this machine alone has the memory")
    log, opening = relay.position.log, Opening(home=memory.home, host=memory.host)
    try:
        around = read_surroundings(Cluster(find_guard(log), node, opening), run.memory, table.ttl)
        found = place_task(task, around)
    except (NoPlaceError, Unreachable, UsageError) as error:
        return replace(here, placement=f"started here; no placement: {error}")
    fits = node in (found.reasoning, found.execution)
    better = "" if fits else f"started here; {found.execution} has the best score: "
    return replace(here, placement=f"{better}{found.mode}, {found.why}")
