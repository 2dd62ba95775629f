"""A log of either engine, and nodes over it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.nodes import Node
from tests.cluster.postgres import Server, find_programs

TTL = 2.0


@pytest.fixture
def server() -> Iterator[Server]:
    """A PostgreSQL of its own."""
    pytest.importorskip("psycopg", reason="needs kimi-memory[cluster]")
    if find_programs() is None:
        pytest.skip("needs the programs of a PostgreSQL server; 'make test-cluster' installs them")
    server = Server()
    yield server
    server.stop()


@pytest.fixture(params=["folder", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a log."""
    if request.param == "folder":
        return f"folder://{tmp_path}/log"
    return str(request.getfixturevalue("server").url)


@pytest.fixture
def nodes(url: str, tmp_path: Path) -> Iterator[list[Node]]:
    """Two nodes: ``a`` leads, ``b`` follows."""
    found = [Node(tmp_path, name, url, TTL) for name in "ab"]
    found[0].create()
    found[1].copy()
    yield found
    for node in found:
        node.kill()
