"""Events over the wire."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from fakes.served import Served, run

from kimi_memory import Memory
from kimi_memory.spaces.space_folder import SpaceFolder


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


def test_a_stream_ends_with_the_rights_of_its_member(
    serving: Callable[..., Served], tmp_path: Path
) -> None:
    pytest.importorskip("cedarpy", reason="needs the library of kimi-memory[team]")
    with Memory.create(tmp_path / "memory") as memory:
        id = memory.settings.memory.id
    served = serving(tmp_path / "memory", tmp_path / "home")
    with served.client() as anybody:
        assert anybody.get("/v1/status").status_code == 200
    # The server that runs learns that its memory was shared.
    space = SpaceFolder.create(served.directories, "shop")
    space.share(id, "tea", tmp_path / "memory")
    space.add("lin", ["reader"])
    space.add("wen", ["writer"])
    with served.client() as anybody:
        assert anybody.get("/v1/status").status_code == 403
    lin, wen = (served.token(sub, "--member", sub) for sub in ("lin", "wen"))
    with served.client(lin) as client:
        with client.stream("GET", "/v1/events") as stream:
            lines = stream.iter_lines()
            assert next(lines).startswith("id: ")
            space.remove("lin")
            rest = list(lines)
            with served.client(wen) as other:
                kept = other.post("/append", json={"content": "What the crane lifts."})
            assert kept.status_code == 200
        assert not [line for line in rest if line.startswith("data: ")]
        assert client.get("/v1/get", params={"what": "MEMORY.md"}).status_code == 403
