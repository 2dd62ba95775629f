"""The pace of clients: each has its own, and it comes back with time."""

from __future__ import annotations

import pytest

from kimi_memory.errors import ServerError
from kimi_memory.server.rate_limit import Pace


def test_each_client_has_its_own_pace() -> None:
    now = [0.0]
    pace = Pace(2.0, lambda: now[0])
    for _ in range(4):
        pace.count_request("a")
    with pytest.raises(ServerError) as refused:
        pace.count_request("a")
    assert refused.value.status == 429
    pace.count_request("b")
    now[0] = 0.5
    pace.count_request("a")
    with pytest.raises(ServerError):
        pace.count_request("a")
    now[0] = 1000.0
    for _ in range(4):
        pace.count_request("a")


def test_no_limit_counts_nothing_and_many_clients_are_not_kept() -> None:
    free = Pace(0.0)
    for _ in range(1000):
        free.count_request("a")
    pace = Pace(1.0, lambda: 0.0)
    for n in range(10_001):
        pace.count_request(f"client {n}")
    pace.count_request("client 0")
