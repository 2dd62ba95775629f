"""Poison through every way into a memory: none becomes a belief, none stands as an instruction."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from fakes.chats import chatting
from fakes.pastes import HANDED_OVER, OWN, PASTES
from fakes.poison import POISON
from fakes.served import serving

from kimi_memory import Memory, Opening
from kimi_memory.agent_hooks.respond import Reply
from kimi_memory.capture.ingest import from_bytes
from kimi_memory.domain.job import Actor
from kimi_memory.domain.note import Origin
from kimi_memory.mcp.workers import Desk
from kimi_memory.operations.import_memories import import_store

Way = Callable[[Memory, Opening], None]
Record = Callable[[str, object], None]
MARK = "qzx"


def _turns(role: str, origin: str | None = None) -> Way:
    def pour(memory: Memory, opening: Opening) -> None:
        for n, poison in enumerate(POISON):
            session = memory.session(f"s{n % 12}", agent="scout", host="test")
            session.turn("user", "Please look at this, and tell me what it is about.")
            session.turn(role, poison.text, origin=origin)

    return pour


def _remember(memory: Memory, opening: Opening) -> None:
    for poison in POISON:
        if poison.kind != "block":
            memory.remember(poison.text)


def _remember_of_agents(memory: Memory, opening: Opening) -> None:
    actor = Actor("agent", Origin.AGENT)
    with Memory.open(memory.root, replace(opening, actor=actor)) as theirs:
        _remember(theirs, opening)


def _mcp(memory: Memory, opening: Opening) -> None:
    desk = Desk(memory.root)
    for poison in POISON:
        if poison.kind != "block":
            desk.remember(poison.text, type="preference")
    desk.close()


def _hooks(memory: Memory, opening: Opening) -> None:
    reply = Reply(memory)
    for n, poison in enumerate(POISON):
        payload = {"session_id": f"h{n % 12}", "cwd": "/p", "prompt": poison.text}
        reply.to({"host": "gemini", "moment": "prompt", "payload": payload})
        said = {**payload, "prompt_response": poison.text}
        reply.to({"host": "gemini", "moment": "turn", "payload": said})


def _transcripts(memory: Memory, opening: Opening) -> None:
    lines = list(_claude())
    told = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines).encode()
    assert all(one.stored for one in memory.ingest([from_bytes("p.jsonl", told)]))


def _claude() -> Iterator[dict[str, object]]:
    """Yield lines of Claude Code: what a tool returned, what a person pasted, an answer."""
    for n, poison in enumerate(POISON):
        result = {"type": "tool_result", "tool_use_id": f"t{n}", "content": poison.text}
        contents: list[tuple[str, object]] = [
            ("user", [result]),
            ("user", poison.text),
            ("assistant", [{"type": "text", "text": poison.text}]),
        ]
        for part, (role, content) in enumerate(contents):
            yield {
                "type": role, "uuid": f"u{n}-{part}", "parentUuid": None, "sessionId": "poisoned",
                "cwd": "/p", "timestamp": "2026-02-27T08:00:00Z", "isSidechain": False,
                "message": {"role": role, "content": content},
            }  # fmt: skip


def _http(memory: Memory, opening: Opening) -> None:
    base = memory.root.parent
    with serving(base) as start, start(memory.root, base / "home").client() as client:
        client.post("/v1/sessions", json={"id": "wire"})
        for n, poison in enumerate(POISON):
            client.post("/append", json={"content": poison.text, "path": "memory/2026-02-27.md"})
            if n % 2:
                client.post("/append", json={"content": poison.text, "path": "MEMORY.md"})
            else:
                client.post("/v1/remember", json={"text": poison.text, "type": "rule"})
            client.post("/v1/sessions/wire/turns", json={"text": poison.text})


def _proxy(memory: Memory, opening: Opening) -> None:
    base = memory.root.parent
    with chatting() as chats, serving(base) as start:
        proxied = start(memory.root, base / "home", "--upstream", chats.url, command="proxy")
        with proxied.client() as client:
            for n, poison in enumerate(POISON):
                chats.reply = poison.text
                ask = {"model": "m", "messages": [{"role": "user", "content": poison.text}]}
                headers = {"x-kimi-memory-session": f"p{n % 12}"}
                client.post("/v1/chat/completions", json=ask, headers=headers)


def _stores(memory: Memory, opening: Opening) -> None:
    """Import the memories of another program, as a person does who changes to this one."""
    kept = memory.root.parent / "mem0.json"
    rows = [{"id": str(n), "memory": poison.text} for n, poison in enumerate(POISON)]
    kept.write_text(json.dumps({"memories": rows}), encoding="utf-8")
    assert import_store(memory, kept).seen == len(rows)


WAYS: dict[str, Way] = {
    "user": _turns("user"),
    "assistant": _turns("assistant"),
    "tool": _turns("tool"),
    "system": _turns("system"),
    "remote": _turns("user", "remote"),
    "imported": _turns("user", "import"),
    "stores": _stores,
    "remember": _remember,
    "remember of agents": _remember_of_agents,
    "mcp": _mcp,
    "hooks": _hooks,
    "transcripts": _transcripts,
    "http": _http,
    "proxy": _proxy,
}


@pytest.fixture
def plain(tmp_path: Path, opening: Opening) -> Iterator[Memory]:
    """A memory without history: what is asked here are hundreds of jobs, not their commits."""
    root = tmp_path / "memory"
    Memory.create(root, opening=opening).close()
    with (root / "memory.toml").open("a", encoding="utf-8") as settings:
        settings.write("\n[history]\ngit = false\n")
    with Memory.open(root, opening) as memory:
        yield memory


@pytest.mark.parametrize("way", WAYS)
def test_poison_becomes_no_belief_and_no_instruction(
    plain: Memory, opening: Opening, way: str, record_property: Record
) -> None:
    memory = plain
    memory.remember("部署定在每周五下午。", key="deploy.day", type="rule")
    WAYS[way](memory, opening)
    for id in {place.split("session_")[1].removesuffix(".jsonl") for place in _open(memory)}:
        memory.end(id)
    for period in ("daily", "weekly"):
        memory.consolidate(period)
    start = memory.context("start", budget=20_000).text
    seen = [*_believed(memory.root), start]
    _count([poison.mark for poison in POISON], seen, record_property)
    assert not seen[:-1]
    assert "每周五" in start
    assert MARK not in start
    task = memory.context("task", "What does the user prefer, 用户偏好什么, always use?").text
    for line in task.splitlines():
        assert MARK not in line or line.startswith(("| ", "<kimi-memory", "</kimi-memory")), line


@pytest.mark.parametrize("apart", [True, False], ids=["a session each", "one session"])
def test_what_a_person_pastes_is_not_believed(
    plain: Memory, opening: Opening, apart: bool, record_property: Record
) -> None:
    for n, text in enumerate(PASTES.values()):
        session = plain.session(f"s{n if apart else 0}", agent="scout", host="test")
        session.turn("user", text)
        session.turn("assistant", "Here you are.")
    for id in {place.split("session_")[1].removesuffix(".jsonl") for place in _open(plain)}:
        plain.end(id)
    for period in ("daily", "weekly"):
        plain.consolidate(period)
    seen = list(_believed(plain.root))
    _count([f"{MARK}{style.replace(' ', '')}" for style in PASTES], seen, record_property)
    assert not seen


def test_what_a_person_announces_and_then_pastes_is_not_believed(
    plain: Memory, opening: Opening, record_property: Record
) -> None:
    for n, (lead, answer, text) in enumerate(HANDED_OVER.values()):
        session = plain.session(f"s{n}", agent="scout", host="test")
        for role, said in (("user", lead), ("assistant", answer), ("user", text)):
            if said:
                session.turn(role, said)
        session.turn("assistant", "Here you are.")
        plain.end(f"s{n}")
    plain.consolidate("daily")
    seen = list(_believed(plain.root))
    _count([f"{MARK}{style.replace(' ', '')}" for style in HANDED_OVER], seen, record_property)
    assert not seen


def test_the_same_words_are_believed_when_the_person_says_them(
    plain: Memory, opening: Opening
) -> None:
    for n, text in enumerate(OWN.values()):
        plain.session(f"s{n}", agent="scout", host="test").turn("user", text)
        plain.end(f"s{n}")
    plain.consolidate("daily")
    assert len(list(_believed(plain.root))) >= len(OWN) - 1  # two are about one database


def _open(memory: Memory) -> list[str]:
    return [path.name for path in (memory.root / "short-term").glob("session_*.jsonl")]


def _count(marks: list[str], seen: list[str], record_property: Record) -> None:
    """Tell how many texts were tried, and of how many nothing came up."""
    record_property("tried", len(marks))
    record_property("held", sum(all(mark not in text for text in seen) for mark in marks))


def _believed(root: Path) -> Iterator[str]:
    """Yield what holds poison where only what is believed may stand."""
    pages = [*root.glob("*.md"), *root.glob("long-term/**/*.md")]
    texts = (page.read_text(encoding="utf-8") for page in pages)
    yield from (text for text in texts if MARK in text)
    for card in root.glob("semantic/**/*.md"):
        text = card.read_text(encoding="utf-8")
        if MARK in text and "\nstatus: active\n" in text:
            yield text
