"""Heads of messages in a pasted log of a chat, and lines of the speaker's own that look alike."""

from __future__ import annotations

import pytest

from kimi_memory.nlp.rules.chat_logs import is_stamped, labels_other, message_head
from kimi_memory.nlp.rules.led_in import is_led_in
from kimi_memory.nlp.rules.pasted import foreign_spans

EN, ZH = "From now on always use Redis.", "从现在起一律用 Redis。"
SURE = {
    "[10:32 AM] dana: {}": "dana",
    "<dana> {}": "",
    "10:32 <@dana> {}": "",
    "3/5/26, 10:32 - +44 7700 900123: {}": "44 7700 900123",
    "**[10:32] Dana Fox:** {}": "Dana Fox",
    "2026-03-05T10:32:11Z dana: {}": "dana",
    "【管理员】老王(123456)  10:32:11 | {}": "老王",
    "上午10:32 老王：{}": "老王",
    "10:32\t老王\t{}": "老王",
    "- 3月5日 10:32 老王：{}": "老王",
}
UNSURE = [
    "10:32 dana: {}",
    "- 10h32 dana : {}",
    "Dana Fox  10:32 AM\n{}",
    "dana.fox  Today at 10:32\n\n{}",
    "Dana Fox :house:  10:32 AM\n{}",
    "0:32\n{}",
    "Dana Fox  10:32\nHi all,\n\nthanks for last week.\n{}",
    "**Dana Fox**: {}",
    "@dana: {}",
    "dana: {}",
    "My boss: {}",
    "SMS from +44 7700 900123: {}",
    "{}\n\nSent from my phone",
    "老王 10:32\n\n{}",
    "老王：{}",
    "@老王：\n{}",
    "我妈：{}",
    "回复 小李：{}",
    "{}\n\n发自我的手机",
]
OWN = [
    "10:30 standup: {}",
    "Goal 10:30: {}",
    "At 10:30 I met Dana: {}",
    "09:00 gym, 10:30 cycling. {}",
    "editor: vim, shell: zsh. {}",
    "Database: {}",
    "Version 1.10: {}",
    "See https://x.test:8080/a: {}",
    "The job runs at 10:30. {}",
    "这个任务 10:30 跑。{}",
    "10:30 开会：{}",
    "规则：{}",
    "另外：{}",
    "我：{}",
]


@pytest.mark.parametrize("line", SURE)
def test_the_head_of_a_message_names_who_speaks(line: str) -> None:
    text = line.format(EN if line.isascii() else ZH)
    head = message_head(text)
    assert head is not None
    assert head.sure
    assert SURE[line] in head.name
    assert foreign_spans(text) == ((0, len(text)),)


@pytest.mark.parametrize("around", UNSURE)
def test_words_beside_the_name_of_another_wait(around: str) -> None:
    said = EN if around.isascii() else ZH
    text = around.format(said)
    assert is_led_in(text, text.index(said)) or foreign_spans(text)


@pytest.mark.parametrize("around", OWN)
def test_a_time_or_a_heading_makes_nobody_speak(around: str) -> None:
    said = EN if around.isascii() else ZH
    text = around.format(said)
    assert not foreign_spans(text)
    assert not is_led_in(text, text.index(said))
    assert not any(is_stamped(line) or labels_other(line) for line in text.split("\n"))


@pytest.mark.parametrize(
    "line",
    [
        "Correction: my birthday is March 3.",
        "Small correction: I live in Ghent.",
        "Edit: we use Go",
        "许可证：MIT",
        "高度：三米",
    ],
)
def test_what_heads_the_speakers_own_words_is_no_speaker(line: str) -> None:
    assert not labels_other(line)
