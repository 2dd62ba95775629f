"""The past over HTTP: what one copy knew, asked of a real server."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from fakes.served import Served

from kimi_memory import Memory
from kimi_memory.api.options import read_settings
from kimi_memory.operations.merge_copy import merge_copy
from kimi_memory.server.auth import Tokens
from kimi_memory.server.principal import Namespace, Scope


def test_a_request_asks_what_one_copy_knew(serving: Callable[..., Served], tmp_path: Path) -> None:
    root, home = tmp_path / "记忆", tmp_path / "home"
    with Memory.create(root) as memory:
        memory.remember("The deploy port is 8080.", key="deploy.port")
        memory.batch.flush()
        subprocess.run(["git", "clone", "-q", root, tmp_path / "laptop"], check=True)
        with Memory.open(tmp_path / "laptop") as laptop:
            laptop.remember("Bob likes coffee.", key="bob.drink")
            laptop.batch.flush()
            at = f"{laptop.copy_id}@{{now}}"
        merge_copy(memory, str(tmp_path / "laptop"))
        memory.remember("The deploy port is 8443 now.", key="deploy.port")
        memory.batch.flush()
    tokens = Tokens(Served(root, home).directories, root, read_settings(root).memory.id)
    now, read = datetime.now(UTC), [Scope.READ]
    _, whole = tokens.add("whole", read, Namespace(), now)
    _, bound = tokens.add("bound", read, Namespace("", "scout", shared=True), now)
    server = serving(root, home)
    with server.client(whole) as client:
        for path in ("/v1/recall", "/v1/context"):
            for point, there, gone in ((at, "8080", "8443"), ("here@{now}", "8443", "none")):
                said = client.post(path, json={"query": "deploy port", "as_of": point})
                assert said.status_code == 200, said.text
                assert there in json.dumps(said.json())
                assert gone not in json.dumps(said.json())
            said = client.post(path, json={"query": "deploy port", "as_of": "phone@{now}"})
            assert said.status_code == 404, said.text
        states = client.get("/v1/timeline/deploy.port", params={"until": at})
        assert "8443" not in states.text
        assert "8080" in states.text
    # Who is bound to a part must not try out which copies there are.
    with server.client(bound) as client:
        for point in (at, "here@{now}", "phone@{now}"):
            for path in ("/v1/recall", "/v1/context"):
                said = client.post(path, json={"query": "deploy port", "as_of": point})
                assert said.status_code == 403, said.text
