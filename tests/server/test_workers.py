"""Readers and writers of one memory, in turn."""

from __future__ import annotations

import httpx
import pytest
from fakes.served import Served

from kimi_memory import Memory


def test_readers_do_not_wait_for_a_long_write(served: Served) -> None:
    with (
        Memory.open(served.root) as memory,
        memory.store.lock("job"),
        served.client() as writer,
        served.client() as reader,
    ):
        with pytest.raises(httpx.ReadTimeout):
            writer.post("/v1/remember", json={"text": "Waits a while."}, timeout=0.5)
        assert reader.post("/search", json={"query": "mast"}).status_code == 200
