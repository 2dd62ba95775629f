"""A10: cards that are compared and swapped at once, and an order that explains the answers."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cluster.nodes import Node
from tests.cluster.swaps import Swap, is_explained, read_swaps
from tests.cluster.test_failover import leader, settle, wait_until

NEVER = math.inf
HISTORIES: dict[str, tuple[bool, str, list[Swap]]] = {
    "nothing was tried": (True, "", []),
    "one after the other": (True, "b", [Swap(0, 1, "", "a", "ok"), Swap(2, 3, "a", "b", "ok")]),
    "two from one content": (False, "b", [Swap(0, 3, "", "a", "ok"), Swap(0, 3, "", "b", "ok")]),
    "the second was refused": (
        True, "a", [Swap(0, 3, "", "a", "ok"), Swap(0, 3, "", "b", "changed")],
    ),
    "refused, and nobody had changed it": (False, "", [Swap(0, 1, "", "a", "changed")]),
    "refused before the other had begun": (
        False, "b", [Swap(0, 1, "", "a", "changed"), Swap(2, 3, "", "b", "ok")],
    ),
    "refused while the other was on its way": (
        True, "b", [Swap(0, 3, "", "a", "changed"), Swap(2, 4, "", "b", "ok")],
    ),
    "an order that time forbids": (
        False, "b", [Swap(0, 1, "a", "b", "ok"), Swap(2, 3, "", "a", "ok")],
    ),
    "acknowledged, and gone in the end": (False, "", [Swap(0, 1, "", "a", "ok")]),
    "unknown, and it came about": (True, "a", [Swap(0, NEVER, "", "a", "unknown")]),
    "unknown, and it never did": (True, "", [Swap(0, NEVER, "", "a", "unknown")]),
    "unknown, and another built on it": (
        True, "b", [Swap(0, NEVER, "", "a", "unknown"), Swap(5, 6, "a", "b", "ok")],
    ),
    "unknown, and it came about before it was asked": (
        False, "b", [Swap(0, 1, "a", "b", "ok"), Swap(2, NEVER, "", "a", "unknown")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HISTORIES)
def test_an_order_is_found_where_there_is_one(name: str) -> None:
    explained, last, swaps = HISTORIES[name]
    assert is_explained(swaps, last) is explained
    assert is_explained(swaps[::-1], last) is explained


@given(seed=st.integers(), count=st.integers(1, 12))
def test_what_one_card_did_is_always_explained(seed: int, count: int) -> None:
    """Attempts that overlap, each carried out at a moment between its begin and its end."""
    chance = random.Random(seed)
    times = [sorted(chance.uniform(0, 4) for _ in range(3)) for _ in range(count)]
    now, contents, made = "", [""], list[Swap]()
    for n, (began, _, ended) in sorted(enumerate(times), key=lambda one: one[1][1]):
        expected, fits = chance.choice(contents[-3:]), False
        fits = expected == now
        if fits:
            now = str(n)
            contents.append(now)
        known = chance.random() < 0.8
        outcome = ("ok" if fits else "changed") if known else "unknown"
        made.append(Swap(began, ended if known else NEVER, expected, str(n), outcome))
    chance.shuffle(made)
    assert is_explained(made, now)
    assert not is_explained(made, "another")


def has_died(node: Node, name: str) -> bool:
    return node.processes[name].poll() is not None


@pytest.mark.cluster
@pytest.mark.timeout(600)
def test_processes_that_swap_cards_at_once_do_it_one_by_one(nodes: list[Node]) -> None:
    def swapped(outcome: str) -> int:
        found = read_swaps(nodes).values()
        return sum(one.outcome == outcome for swaps in found for one in swaps)

    for node in nodes:
        node.serve()
        for n in range(2):
            node.swap(f"{node.name}{n}")
    wait_until(lambda: swapped("ok") >= 20 and swapped("changed") >= 5, 60)
    # A process dies between the log and the folder: another has to find what it put there.
    for number in range(4):
        before = swapped("ok")
        for node in nodes:
            node.swap(f"{node.name}0", f"place:{number}")
        wait_until(lambda: any(has_died(node, f"{node.name}0") for node in nodes))
        wait_until(lambda before=before: swapped("ok") >= before + 3, 60)
    wait_until(lambda: leader(nodes) is not None)
    lost, before = leader(nodes), swapped("ok")
    assert lost is not None
    lost.kill()
    wait_until(lambda: swapped("ok") >= before + 10, 60)
    settle(nodes)
