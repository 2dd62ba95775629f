"""The MCP server as a client sees it: the real library, the real program, real pipes."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from kimi_memory import Memory, Opening, __version__
from tests.mcp.wire import HELLO, Wire, ours, over_http, user

mcp = pytest.importorskip("mcp", reason="needs the library mcp")

TOOLS = {
    *("memory_search", "memory_get", "memory_remember", "memory_forget"),
    *("memory_timeline", "memory_blame"),
    *("memory_compact", "memory_flush"),
    *("memory_trace", "memory_context", "memory_status", "memory_review"),
}


@pytest.fixture
def root(tmp_path: Path, opening: Opening) -> Path:
    with Memory.create(tmp_path / "记忆", opening=opening) as memory:
        memory.remember("The staging database listens on port 6543.", key="staging.port")
        memory.remember("部署定在每周五下午。", key="deploy.day")
    return tmp_path / "记忆"


def talk(root: Path, steps: Callable[[Any], Awaitable[Any]]) -> Any:
    """Run some steps of a client against the command, over standard input and output."""

    async def whole() -> Any:
        from mcp.client.stdio import stdio_client

        home = root.parent / "home"
        home.mkdir(exist_ok=True)
        server = mcp.StdioServerParameters(
            command=sys.executable,
            args=["-m", "kimi_memory", "mcp", "--memory", str(root)],
            env=user(home),
        )
        async with (
            stdio_client(server) as (reads, writes),
            mcp.ClientSession(reads, writes) as session,
        ):
            await session.initialize()
            return await steps(session)

    return asyncio.run(asyncio.wait_for(whole(), 90))


def structured(result: Any) -> Any:
    found = getattr(result, "structured_content", None)
    return found if found is not None else result.structuredContent


def is_error(result: Any) -> bool:
    return bool(getattr(result, "is_error", False) or getattr(result, "isError", False))


def test_the_tools_say_what_they_take_give_and_do(root: Path) -> None:
    async def steps(session: Any) -> Any:
        return (await session.list_tools()).tools

    tools = {tool.name: tool.model_dump(by_alias=True) for tool in talk(root, steps)}
    assert set(tools) == TOOLS
    for tool in tools.values():
        assert tool["description"]
        assert tool["outputSchema"]["properties"]
        assert tool["annotations"]["openWorldHint"] is False
    assert tools["memory_search"]["annotations"]["readOnlyHint"] is True
    assert tools["memory_forget"]["annotations"]["destructiveHint"] is True
    assert tools["memory_search"]["inputSchema"]["required"] == ["query"]


def test_a_fact_is_found_traced_and_forgotten(root: Path) -> None:
    async def steps(session: Any) -> list[Any]:
        async def call(name: str, **given: Any) -> Any:
            return structured(await session.call_tool(name, given))

        found = await call("memory_search", query="哪天部署？")
        traced = await call("memory_trace", id=_card(await call("memory_search", query="部署")))
        kept = await call("memory_remember", text="测试环境用 Ubuntu 24.04。", key="test.os")
        again = await call("memory_search", query="测试环境用什么系统")
        shown = await call("memory_forget", key="staging.port")
        gone = await call("memory_forget", key="staging.port", dry_run=False)
        after = await call("memory_search", query="type:fact staging port 6543")
        return [found, traced, kept, again, shown, gone, after]

    found, traced, kept, again, shown, gone, after = talk(root, steps)
    assert "每周五" in found["results"][0]["snippet"]
    assert found["results"][0]["citation"].partition("#L")[0]
    assert [proof["verified"] for proof in traced["evidence"]] == [True]
    assert kept["job"]
    assert any("Ubuntu" in line["snippet"] for line in again["results"])
    assert shown["diff"]
    assert gone["job"]
    assert not [line for line in after["results"] if line["status"] == "active"]


def test_the_arguments_of_the_contract_hold(root: Path) -> None:
    async def steps(session: Any) -> dict[str, Any]:
        async def call(name: str, **given: Any) -> Any:
            return structured(await session.call_tool(name, given))

        found = await call("memory_search", query="哪天部署？")
        best = found["results"][0]
        lines = {name: best[name] for name in ("path", "startLine", "endLine")}
        return {
            "all": found["results"],
            "best": (
                await call("memory_search", query="哪天部署？", minScore=best["score"] - 0.001)
            ),
            "said": (await call("memory_search", query="部署", sources=["sessions"]))["results"],
            "noted": (await call("memory_search", query="部署", sources=["memory"]))["results"],
            "both": (await call("memory_search", query="部署", sources=["memory", "sessions"])),
            "read": await call("memory_get", **lines),
            "cited": await call("memory_get", path=best["citation"]),
            "page": await call("memory_get", path="USER.md", startLine=2, endLine=3),
        }

    got = talk(root, steps)
    assert 0 < len(got["best"]["results"]) < len(got["all"])
    assert {line["kind"] for line in got["said"]} == {"turn"}
    assert got["noted"] and not {line["kind"] for line in got["noted"]} & {"turn"}
    assert {"turn", "card"} <= {line["kind"] for line in got["both"]["results"]}
    assert "每周五" in got["read"]["text"]
    assert got["cited"] == got["read"]
    page = (root / "USER.md").read_text("utf-8").splitlines()
    assert got["page"]["text"].splitlines() == page[1:3]
    assert (got["page"]["startLine"], got["page"]["endLine"]) == (2, 3)


def _card(found: Any) -> str:
    return next(line["id"] for line in found["results"] if line["kind"] == "card")


def test_context_is_fenced_and_within_its_budget(root: Path) -> None:
    async def steps(session: Any) -> Any:
        given = {"purpose": "task", "query": "staging port", "budget": 300}
        return structured(await session.call_tool("memory_context", given))

    block = talk(root, steps)
    assert "6543" in block["text"]
    assert "data, not instructions" in block["text"]
    assert 0 < block["tokens"] <= 300


MISTAKES = (
    ("memory_search", {"query": " "}, "nothing to look for"),
    ("memory_get", {"path": "card-none"}, "card-none"),
    ("memory_get", {"path": "../../etc/passwd"}, "etc/passwd"),
    ("memory_get", {"path": ".git/config"}, ".git/config"),
    ("memory_get", {"path": ".kimi/owner"}, "No note '.kimi/owner'"),
    ("memory_get", {"path": "USER.md", "startLine": 3, "endLine": 2}, "'endLine' 2 is before"),
    ("memory_search", {"query": "x", "sources": ["wiki"]}, "'sources.0' should be 'memory' or 's"),
    (
        "memory_search",
        {"query": "x", "minScore": 2},
        "'minScore' should be less than or equal",
    ),
    ("memory_search", {"limit": "many"}, "'query' is missing; 'limit' should be a valid integer"),
    ("memory_flush", {"messages": ["a\nb"]}, "'messages.0' should be a valid dictionary"),
    ("memory_trace", {"id": "card-none"}, "card-none"),
    ("memory_forget", {}, "what to forget"),
    ("memory_search", {"query": "x", "limit": 9999}, "50"),
    ("memory_search", {"query": "x", "limt": 3}, "'limt' is no argument. Did you mean 'limit'?"),
    ("memory_remember", {"text": "x y", "trust": "human"}, "'trust' is no argument. It takes text"),
    ("memory_status", {"a\nb": 1}, "'a b' is no argument. It takes none."),
)


def test_a_mistake_is_told_in_words(root: Path) -> None:
    async def steps(session: Any) -> Any:
        return [await session.call_tool(tool, given) for tool, given, _ in MISTAKES]

    for result, (tool, _, told) in zip(talk(root, steps), MISTAKES, strict=True):
        assert is_error(result), tool
        text = result.content[0].text
        assert told in text
        assert "\n" not in text


def test_pages_are_resources_and_a_question_is_a_prompt(root: Path) -> None:
    async def steps(session: Any) -> list[Any]:
        listed = await session.list_resources()
        page = await session.read_resource("memory://USER.md")
        asked = await session.get_prompt("recall", {"question": "Which port is staging on?"})
        return [listed, page, asked]

    listed, page, asked = talk(root, steps)
    assert {str(one.uri) for one in listed.resources} >= {"memory://USER.md", "memory://MEMORY.md"}
    assert page.contents[0].text.rstrip() == (root / "USER.md").read_text("utf-8").rstrip()
    assert "6543" in asked.messages[0].content.text


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"name": "recal"}, "'recal' is no prompt. It has recall."),
        ({"name": "x\ny"}, "is no prompt. It has recall."),
        ({"name": "recall"}, "Missing required arguments: question."),
    ],
)
def test_a_mistake_in_a_prompt_is_one_line_and_no_trace(
    root: Path, tmp_path: Path, asked: dict[str, str], said: str
) -> None:
    with (tmp_path / "log").open("w+", encoding="utf-8") as log:
        with Wire(ours(root), user(tmp_path), log) as client:
            with pytest.raises(AssertionError, match=said):
                client.ask("prompts/get", asked)
            assert client.ask("ping") == {}
        log.seek(0)
        assert "Traceback" not in log.read()


def test_what_waits_and_what_there_is_can_be_asked(root: Path) -> None:
    async def steps(session: Any) -> list[Any]:
        return [
            structured(await session.call_tool(name, {}))
            for name in ("memory_status", "memory_review")
        ]

    state, waits = talk(root, steps)
    assert state["turns"] == 2
    assert state["notes"]["card"]
    assert waits["items"] == []


@pytest.fixture
def web(root: Path) -> Iterator[str]:
    with over_http(root) as url:
        yield url


def ask(url: str, method: str, *, session: str = "", **headers: str) -> httpx.Response:
    """Send one request over HTTP."""
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {}}
    if method == "initialize":
        body["params"] = HELLO
    accepts = {"Accept": "application/json, text/event-stream", **headers}
    if session:
        accepts |= {"Mcp-Session-Id": session, "MCP-Protocol-Version": HELLO["protocolVersion"]}
    return httpx.post(url, json=body, headers=accepts, timeout=60)


def result(response: httpx.Response) -> Any:
    assert response.status_code == 200, response.text
    (line,) = [one for one in response.text.splitlines() if one.startswith(("data: {", "{"))]
    return json.loads(line.removeprefix("data: "))["result"]


def test_over_http_it_greets_and_lists_what_it_has(web: str) -> None:
    greeting = ask(web, "initialize")
    session = greeting.headers["mcp-session-id"]
    told = result(greeting)
    assert told["serverInfo"]["name"] == "kimi-memory"
    assert told["serverInfo"]["version"] == __version__
    assert "never an instruction" in told["instructions"]
    assert told["protocolVersion"] == HELLO["protocolVersion"]
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    headers = {"Mcp-Session-Id": session, "Accept": "application/json, text/event-stream"}
    assert httpx.post(web, json=ready, headers=headers, timeout=60).status_code == 202
    assert result(ask(web, "ping", session=session)) == {}
    tools = result(ask(web, "tools/list", session=session))["tools"]
    assert {tool["name"] for tool in tools} == TOOLS
    assert result(ask(web, "resources/list", session=session))["resources"]
    assert result(ask(web, "prompts/list", session=session))["prompts"]


def test_over_http_a_page_of_another_site_is_refused(web: str) -> None:
    assert ask(web, "initialize", Host="evil.example").status_code in (403, 421)
    assert ask(web, "initialize", Origin="http://evil.example").status_code == 403
    own = web.removesuffix("/mcp")
    assert ask(web, "initialize", Origin=own).status_code == 200
