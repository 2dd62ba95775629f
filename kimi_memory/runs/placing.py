"""Placement: where a task runs, as a pure function of what is known, with its reasons.

High security wants thinking and doing on two machines. What a person waits for wants them near:
where no pair of machines answers within 50 ms, one machine does both. The rest can be apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import product
from types import MappingProxyType
from typing import NamedTuple

from kimi_memory.domain.agent_run import Task
from kimi_memory.domain.placement_types import (
    Deployed,
    Latency,
    Mode,
    NodeProfile,
    Placement,
    Refusal,
)
from kimi_memory.errors import NoPlaceError

NEAR_MS = 50.0
"""From this latency on, one machine is better than two for what a person waits for."""
LONG_S = 3600.0
"""A task of so many seconds is not spread over two machines of which one is often offline."""
_FAR_MS = 200.0
_SANDBOXES = frozenset({"sandbox", "gvisor", "container"})
_NEARNESS: Mapping[str, float] = {"primary": 1.0, "replica": 0.8, "cache": 0.4}


class Surroundings(NamedTuple):
    """What is known of the cluster."""

    nodes: Sequence[NodeProfile]
    latencies: Sequence[Latency] = ()
    deployed: Deployed = MappingProxyType({})
    ttl: float = 6.0
    """Seconds; a machine that was silent three times as long is offline."""
    now: datetime | None = None
    """Against which deadlines are held; none is if not given."""
    forbidden: Mapping[str, str] = MappingProxyType({})
    """Machines on which policies let the task not run, with the reasons."""

    def find_latency(self, a: str, b: str) -> float | None:
        """Return the latency between two machines; None where nobody measured it."""
        if a == b:
            return 0.0
        found = (one.p50_ms for one in self.latencies if {one.a, one.b} == {a, b})
        return next(found, None)


Forbid = Callable[[Sequence[NodeProfile], Task], Mapping[str, str]]
"""Says on which machines policies let a task not run, and why."""


def forbid_nothing(nodes: Sequence[NodeProfile], task: Task) -> Mapping[str, str]:
    """Let a task run anywhere, as where no policies speak of its memory."""
    return {}


class _Wish(NamedTuple):
    """How a task is best placed, and why."""

    mode: Mode
    why: str
    forced: bool = False


def place_task(task: Task, around: Surroundings) -> Placement:
    """Return where a task runs, why, and why nowhere else.

    Raises:
        NoPlaceError: no machine can take it, and every refusal is named; or it cannot be done in
            time anywhere.
    """
    if around.now and (late := explain_late(task, around.now)):
        raise NoPlaceError(late, ["no machine could be in time"])
    thinking = {one.name: _refuse_thinking(one, task, around) for one in around.nodes}
    doing = {one.name: _refuse_doing(one, task, around) for one in around.nodes}
    pairs = _list_pairs(task, around, thinking, doing)
    wish = _choose_mode(task, around, pairs)
    other: Mode = "hybrid" if wish.mode == "separated" else "separated"
    for mode in (wish.mode,) if wish.forced else (wish.mode, other):
        fit = [one for one in pairs if _is_hybrid(one) == (mode == "hybrid")]
        if fit:
            best = min(fit, key=lambda one: (-_score(one, task, around), _names(one)))
            why = wish.why if mode == wish.mode else f"{wish.why}; no machine for {wish.mode}"
            refused = tuple(_explain(around.nodes, best, thinking, doing, task))
            return Placement(mode, *_names(best), _score(best, task, around), why, refused)
    refused = tuple(_explain(around.nodes, None, thinking, doing, task))
    raise NoPlaceError(wish.why, [f"{one.node}: {one.why}" for one in refused])


def explain_late(task: Task, now: datetime) -> str:
    """Return why a task that begins now cannot be done before its deadline; empty where it can."""
    if task.deadline is None:
        return ""
    left = (task.deadline - now).total_seconds()
    if left <= 0:
        return "its deadline is over"
    if task.expected_s <= left:
        return ""
    return f"it is expected to take {task.expected_s:g} s, and its deadline is in {left:.0f} s"


_Pair = tuple[NodeProfile, NodeProfile]


def _names(pair: _Pair) -> tuple[str, str]:
    return pair[0].name, pair[1].name


def _is_hybrid(pair: _Pair) -> bool:
    return pair[0].name == pair[1].name


def _list_pairs(
    task: Task, around: Surroundings, thinking: Mapping[str, str], doing: Mapping[str, str]
) -> list[_Pair]:
    able = [one for one in around.nodes if not thinking[one.name]]
    free = [one for one in around.nodes if not doing[one.name]]
    return [pair for pair in product(able, free) if _is_fit(pair, task)]


def _is_fit(pair: _Pair, task: Task) -> bool:
    a, b = pair
    if _is_hybrid(pair):
        # One machine for both must be meant for that, and keeps nothing apart.
        return a.kind == "hybrid" and task.security != "high"
    return not (_parts_for_long(a, task) or _parts_for_long(b, task))


def _parts_for_long(node: NodeProfile, task: Task) -> bool:
    """Whether a machine may leave another alone before a task is done."""
    return node.use_case == "offline" and task.expected_s >= LONG_S


def _choose_mode(task: Task, around: Surroundings, pairs: Sequence[_Pair]) -> _Wish:
    if task.security == "high":
        return _Wish("separated", "high security: the machine that thinks may do nothing", True)
    if not (task.realtime or task.class_ == "interactive"):
        return _Wish("separated", f"{task.class_}: nobody waits for each answer")
    known = [
        (latency, *_names(one))
        for one in pairs
        if not _is_hybrid(one) and (latency := around.find_latency(*_names(one))) is not None
    ]
    if not known:
        return _Wish("hybrid", "interactive; no pair of machines was measured")
    ms, a, b = min(known)
    if ms < NEAR_MS:
        return _Wish("separated", f"interactive; {a} → {b} takes {ms:g} ms, below {NEAR_MS:g}")
    return _Wish(
        "hybrid", f"interactive; the best pair {a} → {b} takes {ms:g} ms, {NEAR_MS:g} or more"
    )


def _score(pair: _Pair, task: Task, around: Surroundings) -> int:
    """Return how good a pair is, 0 to 100."""
    thinker, doer = pair
    latency = around.find_latency(*_names(pair))
    load = max(thinker.load, doer.load) / 100
    near = 0.0 if latency is None else max(0.0, 1 - latency / _FAR_MS)
    memory = _NEARNESS.get(around.deployed.get(thinker.name, ""), 0.0)
    region = task.region or thinker.region
    zone = 1.0 if thinker.zone == doer.zone else 0.6
    place = zone if doer.region == region else 0.0
    parts = 30 * (1 - load) + 25 * near + 20 * memory + 15 * place + 10 * _share(doer, task)
    return round(parts)


def _share(node: NodeProfile, task: Task) -> float:
    """Return which part of a machine is left beside the task."""
    needs, has = task.needs, node.resources
    pairs = ((needs.cpu, has.cpu), (needs.memory_mb, has.memory_mb), (needs.disk_mb, has.disk_mb))
    return 1 - max((need / own for need, own in pairs if own), default=0.0)


def _refuse_thinking(node: NodeProfile, task: Task, around: Surroundings) -> str:
    """Return why a machine cannot think for a task; empty where it can."""
    reasons = [*_refuse_any(node, task, around)]
    if node.kind == "execution":
        reasons.append("is for execution alone")
    if task.security == "high" and node.permissions.granted:
        reasons.append(f"has permissions ({', '.join(sorted(node.permissions.granted))})")
    return ", ".join(reasons)


def _refuse_doing(node: NodeProfile, task: Task, around: Surroundings) -> str:
    """Return why a machine cannot carry a task out; empty where it can."""
    needs, has, can = task.needs, node.resources, node.capabilities
    reasons = [*_refuse_any(node, task, around)]
    if node.kind == "reasoning":
        reasons.append("is for reasoning alone")
    lacking = sorted(set(needs.permissions) - node.permissions.granted)
    reasons += [f"lacks permission: {name}" for name in lacking]
    offered = {*can.runtimes, *can.languages}
    reasons += [f"offers no {name}" for name in needs.runtimes if name not in offered]
    for name, need, own in (
        # Only the load of processors is measured; memory and disk are taken as the node states
        # them.
        ("CPUs", needs.cpu, has.cpu * (1 - node.load / 100)),
        ("MB of memory", needs.memory_mb, has.memory_mb),
        ("MB of disk", needs.disk_mb, has.disk_mb),
    ):
        if need > own:
            reasons.append(f"has {own:g} of {need:g} {name}")
    if needs.gpu and not can.gpu:
        reasons.append("has no GPU")
    if task.security == "high" and not _SANDBOXES & set(can.runtimes):
        reasons.append("offers no sandbox")
    return ", ".join(reasons)


def _refuse_any(node: NodeProfile, task: Task, around: Surroundings) -> Iterator[str]:
    if node.seen_seconds >= 3 * around.ttl:
        yield f"offline for {node.seen_seconds:.0f} s"
    elif node.status != "online":
        yield {"maintenance": "in maintenance"}.get(node.status, node.status)
    if task.region and node.region != task.region:
        yield f"is in {node.region or 'no region'}, not {task.region}"
    if why := around.forbidden.get(node.name):
        yield why


def _explain(
    nodes: Sequence[NodeProfile], taken: _Pair | None, thinking: Mapping[str, str],
    doing: Mapping[str, str], task: Task,
) -> Iterator[Refusal]:  # fmt: skip
    """Yield why each machine that was not taken was not."""
    for node in nodes:
        if taken is not None and node.name in _names(taken):
            continue
        think, do = thinking[node.name], doing[node.name]
        if _parts_for_long(node, task) and not (think and do):
            long = f"and the task takes {task.expected_s:g} s"
            yield Refusal(node.name, f"is often offline, {long}: it fits alone, or not at all")
        elif not (think and do):
            yield Refusal(node.name, _explain_half(node, think, do, taken))
        else:
            yield Refusal(node.name, do if node.kind != "reasoning" else think)


def _explain_half(node: NodeProfile, think: str, do: str, taken: _Pair | None) -> str:
    if think and node.kind != "execution":
        return f"cannot think: {think}"
    if do and node.kind != "reasoning":
        return f"cannot carry it out: {do}"
    return "fits, with a lower score" if taken else "fits for one half; nothing fits for the other"
