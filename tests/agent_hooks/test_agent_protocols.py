"""What agent programs send, and the form in which they take an answer."""

from __future__ import annotations

import json

import pytest

from kimi_memory.agent_hooks import agent_protocols

MOMENTS = [
    ("claude", {"hook_event_name": "SessionStart", "source": "compact"}, "start"),
    ("claude", {"hook_event_name": "UserPromptSubmit", "prompt": "x"}, "prompt"),
    ("claude", {"hook_event_name": "Stop", "stop_hook_active": True}, "turn"),
    ("claude", {"hook_event_name": "SubagentStop", "agent_type": ""}, ""),
    ("claude", {"hook_event_name": "UserPromptSubmit", "agent_id": "a1"}, ""),
    ("claude", {"hook_event_name": "PreToolUse"}, ""),
    ("claude", {}, ""),
    ("codex", {"hook_event_name": "PreCompact"}, "compact"),
    ("gemini", {"hook_event_name": "BeforeAgent"}, "prompt"),
    ("gemini", {"hook_event_name": "UserPromptSubmit"}, ""),
    ("copilot", {"hookEventName": "userPromptSubmitted"}, "prompt"),
    ("openclaw", {"event": "end"}, "end"),
]


@pytest.mark.parametrize(("host", "payload", "moment"), MOMENTS)
def test_an_event_is_a_moment(host: str, payload: dict, moment: str) -> None:
    assert agent_protocols.moment_of(host, payload) == moment


@pytest.mark.parametrize(
    ("payload", "said"),
    [
        ({"prompt": "端口是多少？"}, "端口是多少？"),
        ({"prompt": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}, 3]}, "a\nb"),
        ({"prompt": ""}, ""),
        ({}, ""),
    ],
)
def test_a_prompt_is_text_or_parts(payload: dict, said: str) -> None:
    assert agent_protocols.prompt_of(payload) == said


@pytest.mark.parametrize("name", ["last_assistant_message", "prompt_response", "response"])
def test_a_reply_stands_under_the_name_its_program_gives_it(name: str) -> None:
    assert agent_protocols.reply_of({name: "好"}) == "好"
    assert agent_protocols.reply_of({}) == ""


@pytest.mark.parametrize("host", ["claude", "codex", "qwen", "gemini"])
def test_most_programs_take_claudes_form_and_no_key_more(host: str) -> None:
    said = agent_protocols.answer(host, {"hook_event_name": "SessionStart"}, "记住")
    assert json.loads(said) == {
        "hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "记住"}
    }


def test_others_have_forms_of_their_own() -> None:
    assert agent_protocols.answer("kimi", {}, "text") == "text"
    assert json.loads(agent_protocols.answer("copilot", {}, "x")) == {"additionalContext": "x"}
    assert json.loads(agent_protocols.answer("hermes", {}, "x")) == {"context": "x"}


@pytest.mark.parametrize("host", sorted(agent_protocols.EVENTS))
def test_nothing_to_say_is_no_output(host: str) -> None:
    assert agent_protocols.answer(host, {"hook_event_name": "SessionStart"}, "") == ""


def test_codex_counts_bytes_and_claude_characters() -> None:
    assert agent_protocols.fits("claude", "记" * 9_500)
    assert not agent_protocols.fits("claude", "a" * 9_501)
    assert agent_protocols.fits("codex", "记" * 3_300)
    assert not agent_protocols.fits("codex", "记" * 3_301)
