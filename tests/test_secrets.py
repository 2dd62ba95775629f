"""Secrets at every door: each writer, each field, and then every byte of the memory."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fakes.served import Served, serving

from kimi_memory import Memory, Opening, cli
from kimi_memory.errors import UsageError
from kimi_memory.server.routes import ROUTES
from kimi_memory.store.git.command import Git
from kimi_memory.store.wipe_caches import scan
from tests.mcp.wire import user

TOKEN = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
WORD = "Tr0ub4" + "dor&3x"
ADDRESSES = frozenset({"id", "what", "job", "note", "session", "old", "new"})
"""Fields that name something that is there; nothing of them is stored."""


def leaks(root: Path) -> list[str]:
    """Return where a secret stands: any file of the folder, any object of its history."""
    secrets = (TOKEN.encode(), WORD.encode())
    found = [
        path
        for path, content in scan(root)
        if any(secret in content or secret.decode() in path for secret in secrets)
    ]
    objects = Git(root, root / ".git").run("cat-file", "--batch-all-objects", "--batch")
    return found + ["git"] * any(secret in objects for secret in secrets)


# Command line -----------------------------------------------------------------------


def lines(card: str, other: str, transcript: Path) -> list[list[str]]:
    """Return command lines in which every free text holds a secret."""
    state = json.dumps({"token": TOKEN, "deep": {"password": WORD, "all": [f"pw: {WORD}"]}})
    header = [f"--{name}={TOKEN}" for name in ("agent", "user", "project", "title")]
    return [
        ["session", "start", f"s-{TOKEN}", *header],
        ["session", "start", "s1", *header],
        ["session", "turn", "s1", f"my pass is {WORD}", f"--speaker={TOKEN}", f"--ref={TOKEN}"],
        ["session", "turn", f"s-{TOKEN}", "We decided to use PostgreSQL."],
        ["session", "state", "s1", f"--task={state}", f"--variables={state}"],
        ["session", "end", f"s-{TOKEN}"],
        ["session", "end", "s1"],
        ["remember", f"The key is {TOKEN}", f"--key={TOKEN}", f"--project={TOKEN}"],
        ["remember", "Tea at nine.", f"--agent={TOKEN}", f"--user={TOKEN}"],
        ["ingest", str(transcript)],
        ["recall", f"is {TOKEN} known?"],
        ["context", "--for", "live", TOKEN],
        ["link", card, other, "--rel=relates-to", f"--reason=because of {TOKEN}"],
        ["consolidate", "daily"],
        ["forget", card, f"--why=it held {TOKEN}"],
        ["forget", f"--query={TOKEN}", f"--why={TOKEN}", "--yes"],
        ["forget", f"--key={TOKEN}", "--yes"],
        ["forget", f"--session=s-{TOKEN}", "--yes"],
        ["import", str(transcript.with_name(f"{TOKEN}.md")), f"--name={TOKEN}"],
        ["name", TOKEN],
        ["consolidate", "weekly"],
    ]


def transcript(path: Path) -> Path:
    turn = {"role": "user", "content": "Berths are free.", "timestamp": "2026-02-01T10:00:00Z"}
    session = {
        **{"id": f"t-{TOKEN}", "timestamp": "2026-02-01T10:00:00Z", "title": TOKEN},
        **{"channel": TOKEN, "agent": TOKEN, "user": TOKEN, "project": TOKEN, "turns": [turn]},
        **{"current_task": {"name": TOKEN}, "temp_vars": {"password": WORD}},
    }
    path.write_text(json.dumps(session), encoding="utf-8")
    memo = f"---\ntitle: {TOKEN}\ncreated: 2026-01-05\n---\nThe printer has pw: {WORD}.\n"
    path.with_name(f"{TOKEN}.md").write_text(memo, encoding="utf-8")
    return path


def test_no_option_of_the_command_line_lets_a_secret_in(
    tmp_path: Path, memory: Memory, capsys: pytest.CaptureFixture[str]
) -> None:
    cards = [memory.remember(f"Harbour {n} has berths.", key=f"harbour.{n}") for n in (1, 2)]
    ids = [report.operations[0].target for report in cards]
    memory.close()
    for words in lines(*ids, transcript(tmp_path / f"session-{TOKEN}.json")):
        code = cli.run([*words, "--memory", str(memory.root)])
        missing = words[0] == "forget" and words[1].startswith(("--key", "--session"))
        refused = words[0] == "name"  # A name is part of a file's path, where no mask can stand.
        assert (code == 0) is not refused or missing, (words, capsys.readouterr().err)
    assert leaks(memory.root) == []
    capsys.readouterr()
    cli.run(["context", "--for", "live", "berths", "--memory", str(memory.root)])
    assert TOKEN not in capsys.readouterr().out


@pytest.mark.parametrize("asked", ["What is the password of the router?", "路由器的密码是多少？"])
def test_a_bare_answer_to_a_question_for_a_secret_is_masked_by_the_command_line(
    memory: Memory, asked: str
) -> None:
    memory.close()
    for role, said in (("assistant", asked), ("user", WORD)):
        words = ["session", "turn", "s1", said, "--role", role, "--memory", str(memory.root)]
        assert cli.run(words) == 0
    assert cli.run(["session", "end", "s1", "--memory", str(memory.root)]) == 0
    assert leaks(memory.root) == []


WRITERS = frozenset({"session", "remember", "link", "forget", "import", "name"})
"""Commands that store what is typed; the others store files and what those made, or nothing."""
PLAIN = frozenset({"memory", "area", "rel", "role", "at", "type", "weight", "since", "until"}) | {
    *("path", "file", "folder", "identity", "point")
}
"""Options that take one of a few words, a number, a date or what is there."""


def test_every_free_text_of_the_command_line_is_walked(tmp_path: Path) -> None:
    walked = lines("card-1", "card-2", tmp_path)
    for name in sorted(WRITERS):
        top = cli.parser(name)
        for parser in _steps(top):
            for action in parser._actions:
                free = action.nargs != 0 and not isinstance(action, argparse._SubParsersAction)
                if not free or action.dest in PLAIN or action.choices:
                    continue
                asked = [vars(top.parse_args(words)) for words in walked if words[0] == name]
                said = [str(given.get(action.dest)) for given in asked]
                names_note = name in ("link", "forget") and not action.option_strings
                assert names_note or any(TOKEN in one or WORD in one for one in said), (
                    f"{parser.prog}: {action.dest} is not walked with a secret"
                )


def _steps(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield from _steps(below)


# HTTP ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    base = tmp_path_factory.mktemp("served")
    with Memory.create(base / "memory") as memory:
        memory.session("s1").turn("user", "Berths are free.")
    with serving(base) as start:
        yield start(base / "memory", base / "home")


def _body(route: Any, **fixed: Any) -> dict[str, Any]:
    body: dict[str, Any] = {}
    for field in route.fields:
        if field.place != "body" or field.choices:
            continue
        if field.kind == "text" and field.name not in ADDRESSES:
            body[field.name] = f"{TOKEN} and pw: {WORD}"
        elif field.kind == "object":
            body[field.name] = {"token": TOKEN, "deep": [{"password": WORD}]}
    return {**body, **fixed}


def test_no_field_of_any_route_lets_a_secret_in(served: Served) -> None:
    pytest.importorskip("uvicorn", reason="needs the libraries of kimi-memory[http]")
    answered = 0
    with served.client() as client:
        started = client.post("/v1/sessions", json=_body(_route("start"), id=f"s-{TOKEN}"))
        assert started.status_code == 200 and TOKEN not in started.text
        for route in ROUTES:
            if route.method == "POST" and route.name != "end":
                fixed = {"area": "", "path": ""} if route.name == "append" else {"area": ""}
                names = {field.name for field in route.fields}
                body = _body(route, **{k: v for k, v in fixed.items() if k in names})
                # An address is what it is: a path that is none is refused, a key may be new.
                done = client.post(route.path.replace("{id}", "s1"), json=body)
                answered += done.status_code == 200
        client.post("/v1/sessions/s1/end", json={})
        client.post("/v1/consolidate", json={"period": "daily"})
    assert answered >= 6
    assert leaks(served.root) == []


@pytest.mark.parametrize("asked", ["What is the password of the router?", "路由器的密码是多少？"])
def test_a_bare_answer_to_a_question_for_a_secret_is_masked_over_http(
    served: Served, asked: str
) -> None:
    pytest.importorskip("uvicorn", reason="needs the libraries of kimi-memory[http]")
    path = _route("turn").path.replace("{id}", "s2")
    with served.client() as client:
        client.post("/v1/sessions", json={"id": "s2"})
        for role, said in (("assistant", asked), ("user", WORD)):
            done = client.post(path, json={"role": role, "text": said})
            assert done.status_code == 200 and WORD not in done.text
    assert leaks(served.root) == []


def _route(name: str) -> Any:
    return next(route for route in ROUTES if route.name == name)


# MCP ----------------------------------------------------------------------------------


def test_no_tool_lets_a_secret_in(tmp_path: Path, opening: Opening) -> None:
    mcp = pytest.importorskip("mcp", reason="needs the library mcp")
    with Memory.create(tmp_path / "memory", opening=opening) as memory:
        memory.remember("Berths are free.", key="berths")
    root = tmp_path / "memory"

    async def walk(session: Any) -> int:
        answered = 0
        for tool in (await session.list_tools()).tools:
            schema = getattr(tool, "input_schema", None) or tool.inputSchema
            given = {
                name: f"{TOKEN} and pw: {WORD}"
                for name, about in schema["properties"].items()
                if "string" in json.dumps(about)
                and "enum" not in about
                and name not in ADDRESSES
                and name in {*schema.get("required", ()), "why", "project", "key", "query", "text"}
            }
            result = await session.call_tool(tool.name, given)
            failed = getattr(result, "is_error", None) or getattr(result, "isError", False)
            answered += not failed
        return answered

    assert _talk(mcp, root, walk) >= 3
    assert leaks(root) == []


def _talk(mcp: Any, root: Path, steps: Callable[[Any], Any]) -> Any:
    async def whole() -> Any:
        from mcp.client.stdio import stdio_client

        home = root.parent / "home"
        home.mkdir(exist_ok=True)
        args = ["-m", "kimi_memory", "mcp", "--memory", str(root)]
        server = mcp.StdioServerParameters(command=sys.executable, args=args, env=user(home))
        async with (
            stdio_client(server) as (reads, writes),
            mcp.ClientSession(reads, writes) as session,
        ):
            await session.initialize()
            return await steps(session)

    return asyncio.run(asyncio.wait_for(whole(), 90))


# Library ------------------------------------------------------------------------------


def test_a_session_of_a_secret_name_goes_on_and_ends(memory: Memory) -> None:
    memory.session(f"chat {TOKEN}").turn("user", "Berths are free.")
    handle = memory.session(f"chat {TOKEN}")
    handle.turn("user", "We decided to use PostgreSQL.", ref=TOKEN)
    assert handle.turn("user", "Said again by the host.", ref=TOKEN) is None
    assert len(handle.log.transcript.turns) == 2
    assert memory.end(f"chat {TOKEN}").id
    assert leaks(memory.root) == []


def test_what_is_nested_without_end_is_refused(memory: Memory) -> None:
    deep: Any = "x"
    for _ in range(200):
        deep = [deep]
    with pytest.raises(UsageError, match="too deep"):
        memory.session("s").state(variables={"deep": deep})


def test_the_name_of_a_memory_holds_no_secret(tmp_path: Path, opening: Opening) -> None:
    with Memory.create(tmp_path / "m", name=f"of {TOKEN}", opening=opening) as made:
        assert leaks(made.root) == []


def test_a_persons_own_address_stays_where_they_wrote_it(memory: Memory) -> None:
    memory.remember("Harbour 1 has berths.", key="harbour.berths")
    [path] = [p for p in memory.store.files("semantic") if "berths" in p]
    page = memory.root / path
    page.write_text(f"{page.read_text(encoding='utf-8')}\nAsk ann@harbour-one.org.\n", "utf-8")
    memory.consolidate("daily")
    moved = "".join(memory.store.read(p).decode() for p in memory.store.files("semantic"))
    assert "ann@harbour-one.org" in moved
