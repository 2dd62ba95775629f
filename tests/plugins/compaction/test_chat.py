"""A chat as messages: what it costs, where it is cut, what is a summary."""

from __future__ import annotations

from kimi_memory.plugins.compaction.chat import (
    LABEL,
    Reach,
    cost_of,
    cut,
    find_reach,
    is_gist,
    session_of,
    text_of,
)

from kimi_memory.domain.compaction import Limits, Message
from kimi_memory.nlp.basic.safe_text import fence


def unmasked(text: str) -> tuple[str, int]:
    return text, 0


def said(*texts: str, role: str = "user") -> list[Message]:
    return [{"role": role, "content": text} for text in texts]


def test_parts_and_calls_cost_too() -> None:
    plain = cost_of(said("你好"))
    parts: Message = {"role": "user", "content": [{"type": "text", "text": "你好"}]}
    call: Message = {"role": "assistant", "content": "你好", "tool_calls": [{"id": "c1"}]}
    assert cost_of([]) == 0
    assert cost_of([parts]) > plain
    assert cost_of([call]) > plain


def test_words_of_parts_are_joined() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "tool_result", "content": "b"}, {"type": "x"}]
    assert text_of({"role": "user", "content": [*parts, "loose"]}) == "a\nb"
    assert text_of({"role": "user"}) == ""


def test_system_messages_in_front_stay_if_they_fit() -> None:
    chat = [*said("be kind", role="system"), *said(*"abcdefgh")]
    head, middle, tail = cut(chat, Limits(1000))
    assert [text_of(m) for m in (*head, *tail)] == ["be kind", *"defgh"]
    assert len(middle) == 3
    huge = [*said("rule " * 900, role="system"), *said(*"abcdefgh")]
    assert cut(huge, Limits(1000))[0] == []


def test_an_answer_of_a_tool_keeps_its_call() -> None:
    call: Message = {"role": "assistant", "content": "", "tool_calls": [{"id": "c"}]}
    answer = said("42", role="tool")
    chat = [*said("a", "b"), call, *answer, *said(*"cdef")]
    assert cut(chat, Limits(1000))[2][0] is call
    result: Message = {"role": "user", "content": [{"type": "tool_result", "content": "4"}]}
    chat = [*said("a", "b"), call, result, *said(*"cdef")]
    assert cut(chat, Limits(1000))[2][0] is call
    assert cut(chat, Limits(80, keep=5))[2][0] is result


def test_only_our_own_block_is_a_summary() -> None:
    made = fence(["Decisions:", "- x"], "0123456789abcdef", LABEL)
    recalled = fence(["- x"], "0123456789abcdef")
    assert is_gist({"role": "user", "content": made})
    assert not is_gist({"role": "user", "content": recalled})
    assert not is_gist({"role": "user", "content": f"see {made}"})


def test_a_summary_says_how_far_it_reaches() -> None:
    heading = "Summary of 9 earlier messages; kept whole in session:{}#2-10."
    made = fence([heading.format("chat-0123456789ab.2"), "- session:s#1-99"], "0" * 16, LABEL)
    chat = [*said("be kind", role="system"), *said(made, "go on")]
    reach = find_reach(chat)
    assert reach == Reach(1, "chat-0123456789ab.2", 10)
    assert reach.within("chat-0123456789ab") == reach
    assert reach.within("other") == find_reach(said(made, role="tool")) == Reach()
    assert session_of(chat, unmasked) == "chat-0123456789ab"
    # An id that a host gave is given by it again, and a text may not choose one.
    named = fence([heading.format("diary-2026")], "0" * 16, LABEL)
    assert session_of(said(named, "go on"), unmasked) == session_of(said("go on"), unmasked)
    assert find_reach(said(fence(["- x"], "0" * 16, LABEL))) == Reach()
