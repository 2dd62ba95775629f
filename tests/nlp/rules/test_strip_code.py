"""Spoken sentences among code, logs and lists."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.nlp.rules.strip_code import headline, is_prose, spoken_spans, without_thoughts

PAGE = """\
Here is what I found today.

```python
print("this is not a sentence at all")
```

    indented code is not a sentence either

- The list item is a sentence.
- [ ] A box to tick is none

> A quoted line is somebody else's.

| a table | is not prose |
2026-02-25 10:00:00 INFO this log line is no prose
+ this added line is no prose
<env>
A line in a tagged block is no prose.
</env>
数据库用 SQLite。跑得很快！
"""


def test_only_spoken_sentences_are_found() -> None:
    assert [PAGE[a:b] for a, b in spoken_spans(PAGE)] == [
        "Here is what I found today.",
        "The list item is a sentence.",
        "数据库用 SQLite。",
        "跑得很快！",
    ]


@pytest.mark.parametrize(
    "text",
    ["x = f(y)", "a/b/c/d.py", "foo->bar baz qux", "ok", "const a = b;", "x" * 400, "if (a) {"],
)
def test_code_is_no_prose(text: str) -> None:
    assert not is_prose(text)


def test_a_headline_is_short_and_whole_words() -> None:
    assert headline("We use tabs.") == "We use tabs"
    assert headline("word " * 30) == "word " * 11 + "word…"
    assert len(headline("很长的一句话，" * 20)) <= 33


@given(st.text(max_size=400))
def test_spans_are_in_order_and_inside(text: str) -> None:
    spans = spoken_spans(text)
    assert all(0 <= a < b <= len(text) for a, b in spans)
    assert all(one[1] <= two[0] for one, two in pairwise(spans))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<think>\nhm, the sail\n</think>\nThe sail is mended.", "The sail is mended."),
        ("hm, the sail\n</think>\nThe sail is mended.", "The sail is mended."),
        ("<thinking>hm</thinking>It holds.", "It holds."),
        ("<think>it never ends", ""),
        ("Write `<think>` before it.", "Write `<think>` before it."),
        ("It prints\n<think>\nand stops.", "It prints\n<think>\nand stops."),
        ("<think>帆破了</think>\n帆补好了。", "帆补好了。"),
        ("It prints\n```\n</think>\n```\nbelow.", "It prints\n```\n</think>\n```\nbelow."),
    ],
)
def test_what_a_model_thought_aloud_is_not_said(text: str, said: str) -> None:
    assert without_thoughts(text) == said
