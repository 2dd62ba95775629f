"""Events over the wire."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from fakes.served import Served, run

from kimi_memory import Memory


def test_events_tell_what_happens_and_can_be_taken_up_again(served: Served) -> None:
    with served.client() as client, client.stream("GET", "/v1/events") as stream:
        lines = stream.iter_lines()
        first = next(line for line in lines if line.startswith("id: "))
        client.post("/append", json={"content": "An event of the evening."})
        line = next(line for line in lines if line.startswith("data: "))
        told = json.loads(line.removeprefix("data: "))
        assert told["kind"] == "capture"
        assert told["session"].startswith("diary-")
        with Memory.open(served.root) as memory:
            memory.remember("Another process remembers the gangway.", key="gangway")
        kinds = []
        while "job" not in kinds:
            line = next(line for line in lines if line.startswith("data: "))
            kinds.append(json.loads(line.removeprefix("data: "))["kind"])
    last = {"last-event-id": first.removeprefix("id: ")}
    with served.client() as client, client.stream("GET", "/v1/events", headers=last) as stream:
        line = next(line for line in stream.iter_lines() if line.startswith("data: "))
        assert json.loads(line.removeprefix("data: ")) == told


def test_a_stream_ends_with_its_token(serving: Callable[..., Served], tmp_path: Path) -> None:
    Memory.create(tmp_path / "memory").close()
    served = serving(tmp_path / "memory", tmp_path / "home")
    kept, taken = served.token("kept"), served.token("taken")
    with served.client(taken) as client:
        with client.stream("GET", "/v1/events") as stream:
            lines = stream.iter_lines()
            assert next(lines).startswith("id: ")
            run(served.home, served.root, "token", "remove", "taken")
            rest = list(lines)
            with served.client(kept) as other:
                other.post("/append", json={"content": "What the crane lifts."})
        assert not [line for line in rest if line.startswith("data: ")]
        assert client.get("/v1/events").status_code == 401
