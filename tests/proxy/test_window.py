"""Chats that outgrow their window, before a real upstream: what of them it is sent."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fakes.chats import Chats, fill
from fakes.served import Served

from kimi_memory import Memory
from kimi_memory.cli import run
from kimi_memory.domain.compaction import Limits
from kimi_memory.domain.pages import Event
from kimi_memory.proxy.chat import chat_of
from kimi_memory.proxy.window import Cut, make_cut
from kimi_memory.store.notes.notes import Shelf
from tests.proxy.chats import PATHS, assistant, body_of, kept, user

Messages = list[dict[str, Any]]
TALK = {
    "zh": (
        "我们决定用 PostgreSQL，因为 JSON 支持好。",
        "第 {n} 步的构建怎么样？",
        "第 {n} 步完成。",
    ),
    "en": ("We decided to use Redis as it is fast.", "How did step {n} go?", "Step {n} is done."),
}
SYSTEM = {"role": "system", "content": "Answer in one sentence."}


@pytest.fixture(scope="module")
def bounded(
    serving: Callable[..., Served], tmp_path_factory: pytest.TempPathFactory, upstream: Chats
) -> Served:
    """A proxy for a model with a small window."""
    base = tmp_path_factory.mktemp("bounded")
    Memory.create(base / "记忆").close()
    silent = ("--start-tokens", "0", "--prompt-tokens", "0")
    options = ("--upstream", upstream.url, "--window", "1200", *silent)
    return serving(base / "记忆", base / "home", *options, command="proxy")


def talk(language: str, name: str, first: int, last: int) -> Messages:
    decided, asked, answered = TALK[language]
    made: Messages = []
    for n in range(first, last):
        text = f"{decided} {name}" if n == 0 else asked.format(n=f"{name} {n}")
        made += [user(text), assistant(answered.format(n=f"{name} {n}"))]
    return made


@pytest.mark.parametrize("language", TALK)
@pytest.mark.parametrize("dialect", ["openai", "anthropic", "ollama"])
def test_a_long_chat_is_sent_on_with_a_summary_that_stays(
    bounded: Served, chats: Chats, dialect: str, language: str
) -> None:
    name = f"{dialect}-{language}"
    chat = [*talk(language, name, 0, 40), user(f"{name}?")]
    front = [] if dialect == "anthropic" else [SYSTEM]
    headers = {"x-kimi-memory-session": name}

    def say() -> Messages:
        more = {"system": SYSTEM["content"]} if dialect == "anthropic" else {}
        body = body_of(dialect, [*front, *chat], **more)
        chats.reply = f"Reply {len(chat)} of {name}."
        with bounded.client() as client:
            assert client.post(PATHS[dialect], json=body, headers=headers).status_code == 200
        sent = chats.asked[-1].body
        if dialect == "anthropic":
            assert "Answer in one sentence." in json.dumps(sent["system"])
        # So many were kept, so that the turn is known when the chat goes on.
        kept(bounded.root, chats.reply)
        chat.append(assistant(chats.reply))
        found: Messages = sent["messages"]
        return found

    first = say()
    assert first[: len(front)] == front
    summary = first[len(front)]
    assert summary["role"] == "user"
    assert TALK[language][0].split("，")[0].split(" as ")[0] in summary["content"]
    assert first[len(front) + 1 :] == chat[-6:-1]
    # It goes on, and the beginning stays as it is, byte for byte.
    chat.append(user(f"{name}, again?"))
    second = say()
    assert json.dumps(second).startswith(json.dumps(first)[:-1])
    assert second[len(first) :] == chat[-3:-1]
    # It outgrows the window again: more is dropped, and the earlier summary is carried on.
    chat += [*talk(language, name, 40, 80), user(f"{name}, and now?")]
    third = say()
    assert third[len(front)] != summary
    assert TALK[language][0].split("，")[0].split(" as ")[0] in third[len(front)]["content"]
    assert third[len(front) + 1 :] == chat[-6:-1]
    turns = kept(bounded.root, chat[-1]["content"])[name]
    assert sorted((str(t.role), t.text) for t in turns) == sorted(
        (message["role"], message["content"]) for message in chat
    )
    with Memory.open(bounded.root) as memory:
        events = [one.note for one in Shelf(memory.store).notes("event")]
    of_chat = [e for e in events if isinstance(e, Event) and e.sources[0].session == name]
    assert len(of_chat) == 2


def test_the_blocks_that_a_chat_was_shown_survive(
    serving: Callable[..., Served], tmp_path: Path, chats: Chats
) -> None:
    fill(tmp_path / "memory")
    options = ("--upstream", chats.url, "--window", "3000", "--start-tokens", "300")
    server = serving(tmp_path / "memory", tmp_path / "home", *options, command="proxy")
    chat = [*talk("en", "ports", 0, 120), user("On which port does the staging database listen?")]
    for more in ([], [assistant(chats.reply), user("ok")]):
        chat += more
        with server.client() as client:
            client.post(PATHS["openai"], json=body_of("openai", [SYSTEM, *chat]))
        kept(server.root, chats.reply, chat[-1]["content"])
    first, second = (asked.body["messages"] for asked in chats.asked)
    assert first[0] == SYSTEM
    assert (first[1]["role"], first[2]["role"]) == ("system", "user")
    assert "<kimi-memory" in first[1]["content"]
    assert "summary of earlier messages" in first[2]["content"]
    assert "6543" in first[-1]["content"]
    assert len(first) == 3 + 5
    assert second == [*first, *chat[-2:]]


def test_a_chat_that_fits_is_sent_on_as_it_came(bounded: Served, chats: Chats) -> None:
    raw = json.dumps(body_of("openai", [*talk("en", "short", 0, 4), user("And?")])).encode()
    with bounded.client() as client:
        client.post(PATHS["openai"], content=raw)
        client.post(PATHS["responses"], json=body_of("responses", talk("en", "long", 0, 60)))
    assert chats.asked[0].raw == raw
    assert len(chats.asked[1].body["input"]) == 120


def test_without_a_window_a_long_chat_is_sent_on_as_it_came(proxied: Served, chats: Chats) -> None:
    chat = [*talk("en", "whole", 0, 200), user("ok")]
    with proxied.client() as client:
        client.post(PATHS["openai"], json=body_of("openai", chat))
    assert [m for m in chats.asked[0].body["messages"] if m["role"] != "system"] == chat


def test_where_memory_fails_the_chat_goes_on_as_it_came(
    serving: Callable[..., Served], tmp_path: Path, chats: Chats
) -> None:
    Memory.create(tmp_path / "memory").close()
    config = tmp_path / "home/.config/kimi_memory/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('disabled = ["compaction"]\n', encoding="utf-8")
    options = ("--upstream", chats.url, "--window", "1200")
    server = serving(tmp_path / "memory", tmp_path / "home", *options, command="proxy")
    chat = [*talk("zh", "off", 0, 60), user("ok")]
    with server.client() as client:
        assert client.post(PATHS["openai"], json=body_of("openai", chat)).status_code == 200
    assert chats.asked[0].body["messages"] == chat


def cut_of(memory: Memory, messages: Messages, tokens: int = 600) -> Cut | None:
    asked = {"known": None, "limits": Limits(tokens), "place": ("c", {})}
    return make_cut(memory, chat_of(messages), messages, **asked)


def called(id: str) -> dict[str, Any]:
    calls = [{"id": id, "type": "function", "function": {"name": "ls", "arguments": "{}"}}]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def answered(id: str, text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": text}


def test_the_answer_of_a_tool_keeps_its_call(memory: Memory) -> None:
    tools = [called("t"), *(answered("t", f"file {n}") for n in range(5)), user("And now?")]
    messages = [SYSTEM, *talk("en", "tools", 0, 40), *tools]
    cut = cut_of(memory, messages)
    assert cut is not None
    sent = cut.put_into(chat_of(messages), messages)
    assert sent is not None
    assert [sent[0], *sent[2:]] == [SYSTEM, *tools]
    # Calls of tools and what they return are not kept.
    words = [turn["content"] for turn in memory.window("c")]
    assert not [word for word in words if "file" in word]


@pytest.mark.parametrize(
    "tail",
    [
        [called("t"), answered("t", "many words of a tool " * 200), *map(user, "abcd")],
        [{"role": "user", "content": [{"type": "tool_result", "content": "long " * 900}]}]
        + [user("x")] * 4,
    ],
    ids=["openai", "anthropic"],
)
def test_a_chat_that_cannot_be_cut_without_loss_is_left_alone(
    memory: Memory, tail: Messages
) -> None:
    assert cut_of(memory, [SYSTEM, *talk("en", "loss", 0, 40), *tail]) is None


def test_instructions_that_fill_the_window_are_not_dropped(memory: Memory) -> None:
    system = {"role": "developer", "content": "Never say that. " * 300}
    assert cut_of(memory, [system, *talk("en", "rules", 0, 40)]) is None


def test_a_summary_is_not_put_into_a_chat_that_began_otherwise(memory: Memory) -> None:
    messages = talk("zh", "edited", 0, 40)
    cut = cut_of(memory, messages)
    assert cut is not None
    edited = [user("其实用 MySQL。"), *messages[1:]]
    assert cut.put_into(chat_of(edited), edited) is None
    assert cut.put_into(chat_of(messages[:4]), messages[:4]) is None


def test_a_window_below_zero_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["proxy", "--upstream", "http://127.0.0.1:1", "--window", "-1"]) == 2
    assert "--window is out of range" in capsys.readouterr().err
