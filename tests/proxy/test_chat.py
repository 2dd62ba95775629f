"""A chat as memory sees it: what is new in a request, and what is heard of an answer."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest

from kimi_memory.proxy.chat import MOST_BYTES, Reply, chat_of, is_aside, tail_of
from kimi_memory.proxy.protocols import OPENAI

EVENTS = "text/event-stream; charset=utf-8"


def user(text: Any) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def answer(text: str, **more: Any) -> bytes:
    return json.dumps({"choices": [{"message": {"content": text}}], **more}).encode()


def test_only_what_follows_the_last_answer_is_new() -> None:
    chat = chat_of([user("一"), assistant("二"), user("三"), user("四")])
    assert [one.text for one in chat.fresh] == ["三", "四"]
    assert (chat.opening, chat.tail) == ("一", tail_of("一", "二"))
    assert chat_of([user("一")]).tail == chat_of([]).opening == ""


def test_what_a_tool_gave_ends_what_is_new() -> None:
    assert chat_of([user("一"), {"role": "tool", "content": "2"}]).fresh == ()


def test_blanks_make_no_other_chat() -> None:
    one, other = chat_of([user("a  b")]), chat_of([user("a b\n")])
    assert one.chain == other.chain
    assert one.answered("c") == other.answered(" c")


@pytest.mark.parametrize(
    ("body", "aside"),
    [
        ({}, False),
        ({"max_tokens": 20}, True),
        ({"options": {"num_predict": 20}}, True),
        ({"max_tokens": 20, "tools": [{}]}, False),
        ({"max_tokens": 0}, False),
    ],
)
def test_who_asks_for_few_words_and_offers_no_tools_wants_a_title(
    body: dict[str, Any], aside: bool
) -> None:
    assert is_aside(body, chat_of([user("部署？")])) is aside


def test_a_request_about_a_chat_is_no_part_of_it() -> None:
    assert is_aside({}, chat_of([user("### Task: a title\n<chat_history>…")]))
    assert not is_aside({}, chat_of([user("### Task: a title")]))
    assert is_aside({}, chat_of([user([{"type": "image_url"}])]))


@pytest.mark.parametrize("encoding", ["", "gzip"])
def test_an_answer_is_heard_whole_in_any_pieces(encoding: str) -> None:
    content = answer("周五不发版。")
    content = gzip.compress(content) if encoding else content
    reply = Reply(OPENAI.heard, "application/json", encoding)
    for at in range(0, len(content), 7):
        reply.feed(content[at : at + 7])
    assert reply.text() == "周五不发版。"


def test_a_stream_is_heard_line_by_line() -> None:
    reply = Reply(OPENAI.heard, EVENTS)
    reply.feed(b"data: " + answer("周五") + b"\n\ndata: [DONE]\ndata: {broken}\n")
    reply.feed(b"data: " + answer("不发", object="response", id="r-1") + b"\n")
    assert (reply.text(), reply.id) == ("周五不发", "r-1")


@pytest.mark.parametrize("encoding", ["br", "gzip"])
def test_what_is_not_understood_is_not_heard(encoding: str) -> None:
    reply = Reply(OPENAI.heard, "application/json", encoding)
    reply.feed(answer("周五"))
    reply.feed(b"more")
    assert reply.text() == ""


def test_an_answer_without_an_end_is_not_held() -> None:
    reply = Reply(OPENAI.heard, "application/json")
    reply.feed(b"{" + b" " * MOST_BYTES)
    reply.feed(b"}")
    assert reply.text() == ""
