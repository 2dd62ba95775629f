"""The methods of an execution node as tools, for a client of the MCP library."""

from __future__ import annotations

import asyncio
import shutil
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from kimi_memory.api.options import Home
from kimi_memory.cli import run
from kimi_memory.domain.agent_run import Grant, Limits
from kimi_memory.runs.exec_node import METHODS, name_node
from kimi_memory.runs.grants import sign_grant
from tests.mcp.wire import user

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.skipif(not shutil.which("bwrap"), reason="needs bubblewrap"),
]
DIFF = "--- a/说明\n+++ b/说明\n@@ -1 +1 @@\n-one\n+一\n"


def test_tools_carry_out_what_the_grant_allows(tmp_path: Path) -> None:
    pytest.importorskip("mcp")
    from mcp.client.session import ClientSession
    from mcp.client.stdio import StdioServerParameters, stdio_client

    home, until = Home.of_user(), datetime.now(UTC) + timedelta(minutes=5)
    methods = tuple(one for one in METHODS if one != "fs.list")
    grant = Grant("grant-1", "run-1", "memory-1", 0, name_node(home), methods,
                  limits=Limits(wall_s=20), until=until)  # fmt: skip
    (tmp_path / "grant").write_text(sign_grant(grant, home.key()))
    words = ["-m", "kimi_memory", "exec", "serve", "--mcp", "--grant", str(tmp_path / "grant")]
    env = {**user(tmp_path), "XDG_CONFIG_HOME": str(home.config.parent),
           "XDG_STATE_HOME": str(home.state.parent)}  # fmt: skip
    server = StdioServerParameters(command=sys.executable, args=words, env=env)

    async def whole() -> tuple[set[str], dict[str, Any], str]:
        async with stdio_client(server) as (reads, writes), ClientSession(reads, writes) as one:
            await one.initialize()

            async def call(name: str, **given: Any) -> Any:
                found = await one.call_tool(name, given)
                failed = found.is_error if hasattr(found, "is_error") else found.isError
                if failed:
                    return found.content[0].text
                told = getattr(found, "structured_content", None)
                return told if told is not None else found.structuredContent

            names = {tool.name for tool in (await one.list_tools()).tools}
            said = {"run": await call("exec_run", argv=["tee", "说明"], stdin="one\n")}
            said["patch"] = await call("fs_patch", diff=DIFF)
            said["read"] = await call("fs_read", path="说明")
            started = await call("exec_start", argv=["cat", "说明"])
            said["poll"] = await call("exec_poll", call=started["call"], wait_ms=10_000)
            said["empty"] = await call("fs_write", path="empty", content="")
            said["killed"] = await call("exec_kill", call=started["call"])
            return names, said, await call("fs_list")

    names, said, refused = asyncio.run(whole())
    assert names == {one.replace(".", "_") for one in METHODS if one != "exec.outcome"}
    assert (said["run"]["exit"], said["run"]["changed"]) == (0, ["说明"])
    assert said["read"]["content"] == said["poll"]["stdout"] == "一\n"
    assert not said["killed"]["running"] and said["empty"]["content"] == ""
    assert refused.endswith("fs.list is not granted (-32004)")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--mcp"], "--grant"), (["--mcp", "--grant", "/no/such"], "cannot be read"),
        (["--listen", "127.0.0.1:1"], "--certificate"),
    ],
)  # fmt: skip
def test_what_is_missing_is_said(words: list[str], said: str, capsys) -> None:
    assert run(["exec", "serve", *words]) == 2
    assert said in capsys.readouterr().err
