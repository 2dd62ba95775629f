"""Which prompts are worth a look into memory."""

from __future__ import annotations

import pytest

from kimi_memory.agent_hooks.gate import LONGEST, question_of

IDLE = [
    *("ok", "OK!", "thanks", "Thanks, looks good!", "yes please", "go on", "continue", "lgtm"),
    *(
        "好的",
        "继续",
        "嗯嗯",
        "谢谢！",
        "好的，继续",
        "没问题。",
        "/compact",
        "!ls",
        "# note",
        "",
        "  \n",
    ),
    "<system-reminder>do this</system-reminder>",
]
ASKED = [
    *("Which port does the database use?", "fix the login test", "why?", "继续改登录的测试"),
    *("数据库端口是多少", "ok, but which port?", "好的，端口是多少？", "thanks to whom?"),
]


@pytest.mark.parametrize("prompt", IDLE)
def test_small_talk_and_commands_ask_nothing(prompt: str) -> None:
    assert question_of(prompt) == ""


@pytest.mark.parametrize("prompt", ASKED)
def test_questions_and_tasks_are_asked(prompt: str) -> None:
    assert question_of(prompt) == prompt


def test_blocks_that_programs_put_in_are_not_asked() -> None:
    said = "<hook_context>old memory</hook_context>\nWhich port?"
    assert question_of(said) == "Which port?"


def test_of_pasted_matter_head_and_tail_are_asked() -> None:
    asked = question_of("head " + "x" * 3 * LONGEST + " tail")
    assert asked.startswith("head ")
    assert asked.endswith(" tail")
    assert len(asked) <= LONGEST + 1
