"""The pace of clients: each has its own, and it comes back with time."""

from __future__ import annotations

import pytest

from kimi_memory.errors import ServerError
from kimi_memory.server.rate_limit import Lines, Pace


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


def test_no_limit_counts_nothing() -> None:
    free = Pace(0.0)
    for _ in range(1000):
        free.count_request("a")


def test_of_very_many_clients_none_is_kept() -> None:
    pace = Pace(1.0, lambda: 0.0)
    for n in range(10_001):
        pace.count_request(f"client {n}")
    # Had it been kept, it would have one request left of its two, and not both.
    for _ in range(2):
        pace.count_request("client 0")
    with pytest.raises(ServerError):
        pace.count_request("client 0")
    # Of the last one it is known that it asked, as it came after the rest was given up.
    pace.count_request("client 10000")
    with pytest.raises(ServerError):
        pace.count_request("client 10000")


def test_one_address_leaves_connections_for_the_others() -> None:
    lines = Lines(each=2, every=4)
    one, two = lines.open_line("a"), lines.open_line("a")
    assert one is not None
    assert two is not None
    assert lines.open_line("a") is None
    assert lines.open_line("b") is not None
    one.leave()
    assert lines.open_line("a") is not None
    assert lines.open_line("c") is not None
    # The limit of four connections for all addresses together is reached.
    assert lines.open_line("d") is None
