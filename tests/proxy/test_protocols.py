"""Dialects of chats: where each keeps its messages, its instructions and its words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from kimi_memory.proxy.protocols import (
    ANTHROPIC,
    OLLAMA,
    OPENAI,
    RESPONSES,
    Dialect,
    dialect_of,
    refusal_form,
    session_of,
)

UUID = "01234567-89ab-cdef-0123-456789abcdef"
SAID = [{"role": "system", "content": "Be terse."}, {"role": "user", "content": "部署？"}]


def heard(dialect: Dialect, *told: dict[str, Any]) -> str:
    return "".join(words for one in told for words in dialect.heard(one))


@pytest.mark.parametrize(
    ("body", "session"),
    [
        ({"metadata": {"thread_id": "t1", "user_id": "session_0123456789"}}, "t1"),
        ({"metadata": {"user_id": "user_1 session_0123456789"}}, "0123456789"),
        ({"conversation": {"id": "c1"}}, "c1"),
        ({"conversation": "c2", "metadata": "none"}, "c2"),
        ({"prompt_cache_key": UUID}, UUID),
        ({"prompt_cache_key": "my-program"}, ""),
        ({"metadata": {"session_id": 7}, "conversation": 7}, ""),
    ],
)
def test_a_request_names_its_conversation_in_many_ways(body: dict[str, Any], session: str) -> None:
    assert session_of(body) == session


def placed(
    dialect: Dialect, body: dict[str, Any], block: str, blocks: dict[int, str]
) -> Mapping[str, Any]:
    return dialect.stood(body, dialect.beside_messages(body, blocks), block)


def test_a_block_stands_behind_the_instructions_of_the_client() -> None:
    shown = placed(OPENAI, {"messages": SAID}, "block", {})["messages"]
    assert [one["content"] for one in shown] == ["Be terse.", "block", "部署？"]
    assert placed(OLLAMA, {"messages": SAID}, "", {}) == {"messages": SAID}
    assert placed(ANTHROPIC, {"messages": [], "system": "Be terse."}, "block", {})["system"] == [
        {"type": "text", "text": "Be terse."},
        {"type": "text", "text": "block"},
    ]
    assert placed(ANTHROPIC, {"messages": []}, "block", {})["system"] == "block"
    assert placed(ANTHROPIC, {"messages": []}, "", {}) == {"messages": []}


def test_a_text_alone_is_one_message_of_the_user() -> None:
    shown = placed(RESPONSES, {"input": "部署？"}, "block", {0: "known"})["input"]
    assert shown == [
        {"role": "developer", "content": "block"},
        {"role": "user", "content": "部署？\n\nknown"},
    ]


def test_a_request_that_goes_on_has_the_block_on_the_server() -> None:
    body = {"input": SAID, "previous_response_id": "r-1"}
    assert placed(RESPONSES, body, "block", {})["input"] == SAID


@pytest.mark.parametrize("dialect", [OPENAI, RESPONSES, ANTHROPIC])
def test_what_is_no_list_of_messages_holds_none(dialect: Dialect) -> None:
    assert list(dialect.listed({"messages": 7, "input": None})) == []


def test_a_part_beside_a_message_is_called_as_the_dialect_calls_it() -> None:
    parts = [{"role": "user", "content": [{"type": "input_text", "text": "部署？"}]}]
    shown = placed(RESPONSES, {"input": parts}, "", {0: "known"})["input"]
    assert shown[0]["content"][1] == {"type": "input_text", "text": "known"}


def test_words_are_heard_in_whole_answers_and_in_streams() -> None:
    delta = {"choices": [{"index": 0, "delta": {"content": "周五"}}, {"index": 1, "delta": {}}]}
    assert heard(OPENAI, delta, {"choices": [{"message": {"content": "不发"}}]}) == "周五不发"
    assert heard(OPENAI, {"choices": [{"delta": 7}]}, {"choices": 7}) == ""
    assert (
        heard(
            ANTHROPIC,
            {"content_block": {"type": "text", "text": "周"}},
            {"delta": {"type": "text_delta", "text": "五"}},
            {"type": "message", "content": [{"type": "text", "text": "!"}]},
        )
        == "\n周五!"
    )
    assert heard(OLLAMA, {"message": {"content": "周五"}}, {"message": 7}) == "周五"
    assert (
        heard(
            RESPONSES,
            {"type": "response.output_item.added"},
            {"type": "response.output_text.delta", "delta": "周五"},
            {"object": "response", "output": [{"type": "reasoning"}]},
            {"type": "response.created"},
        )
        == "\n周五"
    )


def test_a_chat_is_known_by_the_end_of_its_address() -> None:
    assert dialect_of("POST", "/any/v1/messages/") is ANTHROPIC
    assert dialect_of("POST", "/v1/models") is None
    assert dialect_of("GET", "/api/chat") is None


@pytest.mark.parametrize(
    ("path", "dialect"),
    [("/api/tags", OLLAMA), ("/v1/messages/count_tokens", ANTHROPIC), ("/v1/models", OPENAI)],
)
def test_a_refusal_has_the_form_of_the_client(path: str, dialect: Dialect) -> None:
    assert refusal_form(path) is dialect
    assert "too large" in str(dialect.refused("too-large", "It is too large."))
