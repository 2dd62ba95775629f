"""Which session a chat belongs to, however its requests come."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fakes.chats import Chats
from fakes.served import Served

from tests.proxy.chats import PATHS, assistant, body_of, kept, of_texts, user


def test_a_request_again_is_kept_once_and_a_new_chat_with_the_same_words_anew(
    proxied: Served, chats: Chats
) -> None:
    hello = "你好，开始一局新的围棋吧。"
    body = body_of("openai", [user(hello)])
    chats.status = 500
    with proxied.client() as client:
        client.post("/v1/chat/completions", json=body)
        chats.status = 200
        for n, reply in enumerate(("I take black.", "I take white.")):
            chats.reply = reply
            client.post("/v1/chat/completions", json=body)
            kept(proxied.root, reply)
            chats.reply = f"Move {n}."
            ask = [user(hello), assistant(reply), user(f"我走第 {n} 步。")]
            client.post("/v1/chat/completions", json=body_of("openai", ask))
            client.post("/v1/chat/completions", json=body_of("openai", ask))
    found = kept(proxied.root, "Move 0.", "Move 1.")
    games = [
        [turn.text for turn in turns]
        for turns in found.values()
        if any(turn.text == hello for turn in turns)
    ]
    assert sorted(games) == [
        [hello, "I take black.", "我走第 0 步。", "Move 0."],
        [hello, "I take white.", "我走第 1 步。", "Move 1."],
    ]


def test_a_chat_goes_on_in_its_session_after_a_restart_and_when_its_beginning_is_cut(
    serving: Callable[..., Served], folder: Path, chats: Chats
) -> None:
    begin = (folder / "记忆", folder / "home", "--upstream", chats.url)
    messages = [user("Let us plan the garden."), assistant("Gladly."), user("先种什么？")]
    first = serving(*begin, command="proxy")
    with first.client() as client:
        for upto, chats.reply in ((1, "Gladly."), (3, "先种番茄。")):
            client.post("/api/chat", json=body_of("ollama", messages[:upto], stream=False))
    kept(first.root, "先种番茄。")
    second = serving(*begin, command="proxy")
    messages += [assistant("先种番茄。"), user("And then?")]
    chats.reply = "Then beans."
    with second.client() as client:
        client.post("/api/chat", json=body_of("ollama", messages, stream=False))
        messages += [assistant("Then beans."), user("And at last?")]
        chats.reply = "At last the apple tree."
        client.post("/api/chat", json=body_of("ollama", messages[-3:], stream=False))
    found = kept(first.root, chats.reply)
    said = of_texts(found, "Let us plan the garden.")
    assert [text for _, text in said][-6:] == [
        *("先种什么？", "先种番茄。", "And then?", "Then beans.", "And at last?"),
        "At last the apple tree.",
    ]
    assert len(said) == 8


@pytest.mark.parametrize(
    "named",
    [
        ("openai", {"x-kimi-memory-session": "by-header"}, {}, "by-header"),
        ("openai", {}, {"metadata": {"session_id": "by-metadata"}}, "by-metadata"),
        ("responses", {}, {"conversation": {"id": "conv_by-server"}}, "conv_by-server"),
        (
            "anthropic",
            {},
            {"metadata": {"user_id": "user_1_account_2_session_0a1b2c3d-by-claude"}},
            "0a1b2c3d-by-claude",
        ),
    ],
)
def test_a_program_can_name_the_session(
    proxied: Served, chats: Chats, named: tuple[str, dict[str, str], dict[str, Any], str]
) -> None:
    dialect, headers, told, session = named
    asked = [f"First words of {session}.", f"Other words of {session}."]
    with proxied.client() as client:
        for text in asked:
            body = body_of(dialect, [user(text)], **told)
            client.post(PATHS[dialect], json=body, headers=headers)
    found = kept(proxied.root, *asked)
    assert set(asked) <= {turn.text for turn in found[session]}
    assert not [name for name in chats.asked[0].headers if name.startswith("x-kimi")]


def test_an_answer_held_by_the_server_continues_its_session(proxied: Served, chats: Chats) -> None:
    with proxied.client() as client:
        first = client.post("/v1/responses", json={"model": "m", "input": "第一句：船名是海燕。"})
        more = {"model": "m", "input": "And the second sentence?"}
        chats.reply = "The second."
        after = first.json()["id"]
        client.post("/v1/responses", json={**more, "previous_response_id": after})
    found = kept(proxied.root, "The second.")
    said = of_texts(found, "第一句：船名是海燕。")
    assert [text for _, text in said] == [
        "第一句：船名是海燕。", "Noted.", "And the second sentence?", "The second.",
    ]  # fmt: skip
    assert not [one for one in chats.asked[1].body["input"] if one["role"] == "developer"]
