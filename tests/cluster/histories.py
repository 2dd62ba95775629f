"""The checker: what was answered, held against the log and every folder."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise

from kimi_memory import Memory
from kimi_memory.cluster import Cluster
from kimi_memory.cluster.checking import check_log, digest_tree
from tests.cluster.nodes import Node, opening_of


def read_history(nodes: Iterable[Node]) -> list[tuple[float, str, str]]:
    """All that was tried and answered, in order of time."""
    rows = []
    for node in nodes:
        for path in node.base.glob("history-*.jsonl"):
            for line in path.read_text(encoding="utf-8").splitlines():
                if line.endswith("]"):  # the last line may be cut by a kill
                    rows.append(tuple(json.loads(line)[:3]))
    return sorted(rows)


def turns_of(memory: Memory) -> list[str]:
    """The references of all stored turns, as they stand in the files."""
    found = []
    for path in memory.store.files():
        if path.endswith(".jsonl") and "session_" in path:
            for line in memory.store.read(path).splitlines():
                record = json.loads(line)
                if record.get("kind") == "turn":
                    found.append(record["ref"])
    return found


def check(cluster: Cluster, nodes: Iterable[Node]) -> Iterator[str]:
    """Yield what does not hold; A1 to A8 of the checker."""
    nodes = list(nodes)
    history = read_history(nodes)
    tried = {ref for _, kind, ref in history if kind == "try"}
    acknowledged = {ref for _, kind, ref in history if kind in ("ok", "kept")}
    memory = cluster.registry.find("shop")
    yield from (f"A6 {line}" for line in check_log(cluster.log, memory))
    digests = {}
    for node in nodes:
        with Memory.open(node.folder, opening_of(node.base)) as copy:
            assert copy.store.relay is not None
            copy.store.relay.follow()
            digests[node.name] = digest_tree(copy)
            counts = Counter(turns_of(copy))
            yield from _check_turns(node.name, counts, tried, acknowledged)
            yield from _check_order(node.name, copy)
    if len(set(digests.values())) > 1:
        yield f"A7 folders differ: {digests}"


def _check_turns(
    name: str, counts: Counter[str], tried: set[str], acknowledged: set[str]
) -> Iterator[str]:
    lost = acknowledged - counts.keys()
    if lost:
        yield f"A1 {name} lost {len(lost)} acknowledged, such as {min(lost)}"
    if phantom := counts.keys() - tried:
        yield f"A2 {name} has what nobody tried: {min(phantom)}"
    if twice := [ref for ref, count in counts.items() if count > 1]:
        yield f"A3 {name} has twice: {min(twice)}"


def _check_order(name: str, memory: Memory) -> Iterator[str]:
    for path in memory.store.files("short-term"):
        if "session_" not in path or not path.endswith(".jsonl"):
            continue
        lines = [json.loads(line) for line in memory.store.read(path).splitlines()]
        numbers = [line["n"] for line in lines if line.get("kind") == "turn"]
        if numbers != list(range(1, len(numbers) + 1)):
            yield f"A4 {name}: the turns of {path} are not in order"


def check_real_time(cluster: Cluster, history: list[tuple[float, str, str]]) -> Iterator[str]:
    """Yield what was answered before another was asked, and stands behind it; A5."""
    places: dict[str, int] = {}
    for seq, ref in _read_places(cluster):
        places.setdefault(ref, seq)  # An edit of a person brings a whole file once more.
    highest = 0
    done = {ref: at for at, kind, ref in history if kind == "ok"}
    asked = {ref: at for at, kind, ref in history if kind == "try"}
    events = [(at, "ok", ref) for ref, at in done.items()]
    events += [(asked[ref], "try", ref) for ref in done]
    for _, kind, ref in sorted(events):
        if kind == "ok":
            highest = max(highest, places[ref])
            continue
        if places[ref] < highest:
            yield f"A5 {ref} was asked after record {highest}, and is record {places[ref]}"


def _read_places(cluster: Cluster) -> Iterator[tuple[int, str]]:
    """Yield the number of the record that brought each turn."""
    memory, seq = cluster.registry.find("shop"), 0
    while found := cluster.log.read(memory, seq):
        for number, body in found:
            contents = (step.get("content", "") for step in json.loads(body).get("steps", ()))
            turns = (line for text in contents for line in text.splitlines() if '"ref":"' in line)
            yield from ((number, json.loads(line)["ref"]) for line in turns)
            seq = number


def find_edits(cluster: Cluster) -> Iterator[str]:
    """Yield the records of edits; where no person is, there are none."""
    memory, seq = cluster.registry.find("shop"), 0
    while found := cluster.log.read(memory, seq):
        for seq, body in found:
            record = json.loads(body)
            if record["kind"] == "edit":
                steps = [{k: str(v)[:80] for k, v in s.items()} for s in record["steps"]]
                yield f"A15 record {seq} of {record['node']} is an edit: {steps}"


def longest_gap(history: list[tuple[float, str, str]]) -> float:
    """The longest time in which nothing was acknowledged; A14."""
    times = [at for at, kind, _ in history if kind == "ok"]
    return max((b - a for a, b in pairwise(times)), default=0.0)
