"""Routes of a memory on several machines.

What carries them out is loaded when it is first asked for: most memories are on one machine.
"""

from __future__ import annotations

from typing import Any

from kimi_memory.api.memory import Memory
from kimi_memory.domain.agent_run import SECURITIES, TASK_CLASSES, AgentRun, Usage
from kimi_memory.server.principal import Caller, Scope
from kimi_memory.server.responses import ClusterNode, ClusterState, Deployed, Led, Placed
from kimi_memory.server.schema import Deed, Field, Given, Route

MOST_RUNS = 1000
# Proxies in between end a request that is silent for longer.
MOST_WAIT_SECONDS = 60.0
# No machine has so much; without a bound, JSON would let infinity through.
_MOST = 1e9


def load_clustering() -> Any:
    """Return the module that carries out what is asked of a cluster."""
    from kimi_memory.server import clustering

    return clustering


def _find_deed(name: str) -> Deed:
    def deed(memory: Memory, caller: Caller, given: Given) -> Any:
        return getattr(load_clustering(), name)(memory, caller, given)

    return deed


CLUSTER = (
    Route(
        method="GET", path="/v1/cluster/status", name="cluster_status",
        summary="Say who leads this memory, and how far this node got.",
        gives=ClusterState, deed=_find_deed("state"), whole=True,
    ),
    Route(
        method="GET", path="/v1/cluster/nodes", name="cluster_nodes",
        summary="List the machines of the cluster.",
        gives=list[ClusterNode], deed=_find_deed("nodes"), whole=True,
    ),
    Route(
        method="GET", path="/v1/cluster/deployments", name="cluster_deployments",
        summary="List the machines that have this memory.",
        gives=list[Deployed], deed=_find_deed("deployments"), whole=True,
    ),
    Route(
        method="GET", path="/v1/cluster/agents", name="cluster_agents",
        summary="List the runs of agents, newest first.",
        gives=list[AgentRun], deed=_find_deed("agents"), whole=True,
        fields=(
            Field(
                name="limit", kind="int", help="Most runs", default=20, least=1, most=MOST_RUNS,
                place="query",
            ),
        ),
    ),
    Route(
        method="POST", path="/v1/cluster/usage", name="cluster_usage",
        summary="Add up what jobs, models and runs used.",
        gives=list[Usage], deed=_find_deed("usage"), whole=True,
        fields=(
            Field(name="by", kind="texts", help="Of memory, day, node, agent, user, job, model"),
            Field(name="since", kind="day", help="The first day; else all that is known"),
        ),
    ),
    Route(
        method="POST", path="/v1/cluster/place", name="cluster_place",
        summary="Say where a task would run, and why.",
        gives=Placed, deed=_find_deed("place"), whole=True,
        fields=(
            Field(name="task", help="Its kind", choices=TASK_CLASSES, default="batch"),
            Field(name="realtime", kind="flag", help="Somebody waits for each answer",
                  default=False),
            Field(name="expected_s", kind="float", help="So many seconds it should take", least=0,
                  most=_MOST),
            Field(name="security", help="How apart it has to be", choices=SECURITIES,
                  default="normal"),
            Field(name="region", help="Where it must run"),
            Field(name="needs", kind="texts", help="Runtimes and languages"),
            Field(name="permissions", kind="texts", help="Of sudo, filesystem, network, docker"),
            Field(name="cpu", kind="float", help="Processors", least=0, most=_MOST),
            Field(name="ram", kind="int", help="Memory in MB", least=0, most=_MOST),
            Field(name="disk", kind="int", help="Disk in MB", least=0, most=_MOST),
            Field(name="gpu", kind="flag", help="A GPU", default=False),
        ),
    ),
    Route(
        method="POST", path="/v1/cluster/promote", name="promote",
        summary="Have a machine take the writes.",
        gives=Led, deed=_find_deed("promote"), scope=Scope.ADMIN, writes=True, whole=True,
        anywhere=True,
        fields=(
            Field(name="node", help="Its name; this one if empty"),
            Field(
                name="wait_seconds", kind="float", help="Longest wait for that", default=30.0,
                least=0, most=MOST_WAIT_SECONDS,
            ),
        ),
    ),
    Route(
        method="POST", path="/v1/cluster/demote", name="demote",
        summary="Have this machine take no writes any more.",
        gives=Led, deed=_find_deed("demote"), scope=Scope.ADMIN, writes=True, whole=True,
        anywhere=True,
    ),
)  # fmt: skip
