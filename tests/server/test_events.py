"""Events over the wire."""

from __future__ import annotations

import json

from fakes.served import Served

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
