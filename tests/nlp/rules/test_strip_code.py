"""Spoken sentences among code, logs and lists, and what programs printed."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.nlp.rules.documents import split_lines
from kimi_memory.nlp.rules.pasted import own_sentences
from kimi_memory.nlp.rules.strip_code import (
    headline,
    indented_code,
    is_prose,
    printed,
    spoken_spans,
    without_thoughts,
)

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


def shown(text: str) -> list[str]:
    lines = split_lines(text)
    return [
        text[lines[n][0] : lines[n][1]]
        for first, last in printed(text, lines)
        for n in range(first, last + 1)
    ]


OUTPUT = {
    "merge": "<<<<<<< Updated upstream\nthe one side",
    "prompt": "➜  shop git:(main) ✗ npm test\nall suites are run in watch mode",
    "prompt of an environment": "(base) ➜ shop git:(main) git push\nTo the shop of loaves",
    "prompt with host": "(env) mia@desk:~/shop$ make\nnothing to be done for all",
    "windows prompt": "PS C:\\work> dotnet build\nBuild succeeded with a few warnings",
    "browser": "This site can’t be reached\nTry:\nERR_CONNECTION_REFUSED",
    "browser zh": "无法访问此网站\nlocalhost 拒绝了我们的连接请求。",
    "prompt of git for windows": "mia@DESK MINGW64 ~/shop (main)\nto bake is to wait",
    "layers": "deleted: sha256:0a1b2c3d4e5f60718293a4b5\nuntagged as well",
    "branch": "Switched to a new branch 'rye'\nthe tree is as it was",
    "first sight of a host": "The authenticity of host 'oven' can't be established.\nIt is new.",
    "table": '"2026/02/27","Rye","3","0"\n"2026/02/28","Oat","2","1"',
    "escaped data": '\\{"schema":"2.0","oven":1\nand so on',
    "sql": "CREATE TABLE loaves (\n  id INT PRIMARY KEY\n);",
    "java object": "Loaf{rye=Grain@1f2e3d4c, size=2}",
    "page of an error": "Next.js (14.2.30) is outdated (learn more)\nUnhandled Runtime Error",
    "page of a run": "Triggered via push 4 minutes ago\nStatus Success\nTotal duration 1m 0s",
    "npm": "npm error code ERESOLVE\nnpm error unable to resolve the tree",
    "build tool": "web:lint: cache miss, executing 2f45\nThere was a problem with your setup",
    "python": 'Traceback (most recent call last):\n  File "a.py", line 3\nValueError: bad thing',
    "node": "[Error: Cannot find module 'x'] {\n  code: 'MODULE_NOT_FOUND',\n}",
    "class of an error": "TypeError: x is not a function\n    at run (/srv/a.js:3:4)",
    "rust": "error[E0502]: cannot borrow it\n --> src/main.rs:4:5",
    "git": "fatal: not a git repository\nUse --git-dir to say where it is",
    "log": "2026-01-02 10:00:01 starting the worker\nListening for connections",
    "short clock": "10:22 WARN from now on retry\n10:23 INFO we use the mirror",
    "clock": "[21:27:36.028] Running build in Oregon\nYou can learn more by visiting it",
    "docker": "#12 [build 3/6] RUN npm ci\n==> Building the image",
    "http": "GET /api/v1/files?limit=20 200 in 568ms\nwaiting for more",
    "diff": "@@ -1,3 +1,4 @@\n-old line of text\n+new line of text",
    "code": "const a = load({\n  name: 'x',\n  kind: 'y',\n});",
    "settings": "  with:\n    path: tap\n    clean: true\n    lfs: false",
    "progress": "Syncing the files..........\nDone with everything",
    "a comment": "// keep the oven warm\nwith the door closed",
    "a block of comments": "/* from now on\n   bake twice */",
    "a tool": "  ⎿  Read 30 lines\nof the recipe",
    "a job": "Restore cache failed: no file\nSupported pattern: go.sum",
}


@pytest.mark.parametrize("style", OUTPUT)
def test_output_is_found_to_its_end(style: str) -> None:
    assert "\n".join(shown(OUTPUT[style])) == OUTPUT[style]


@pytest.mark.parametrize("style", OUTPUT)
@pytest.mark.parametrize(
    "said",
    [
        "I get this when I build the shop.",
        "We never deploy on Fridays.",
        "我在构建的时候看到这个错误。",
    ],
)
def test_who_pastes_is_heard_before_and_after(style: str, said: str) -> None:
    text = f"{said}\n{OUTPUT[style]}\n{said}"
    assert [text[a:b] for a, b in own_sentences(text)] == [said, said]


TALK = [
    "The site refused my card twice, so I paid in cash.",
    "他拒绝了我的请求",
    "Error handling matters to me: never swallow an exception.",
    "From now on (always) use tabs.",
    "Warning: my mother is coming on Sunday.",
    "note: I moved to Lisbon",
    "My plan: run at 7, eat at 8, work at 9.",
    "let me know what you think :)",
    "We pay 300 a month; the rest is saved;\nthe car is paid off;\nthe house is not;",
    "Shopping:\n- milk\n- eggs\n- 2 kg of flour",
    "1. Sum insured: 600,000;\n2. Term: 20 years;\n3. Start: May;",
    "周五 10:30 开会，别忘了带合同。\n下周一去上海。",
    "提醒：需要准备一份申请材料。",
    "At 10:00 I meet Ann: bring the keys.",
]


@pytest.mark.parametrize("text", TALK)
def test_talk_is_no_output(text: str) -> None:
    assert shown(text) == []


@given(st.text(max_size=200))
def test_blocks_are_in_order_and_apart(text: str) -> None:
    lines = split_lines(text)
    found = list(printed(text, lines))
    assert all(0 <= first <= last < len(lines) for first, last in found)
    assert all(one[1] < other[0] for one, other in pairwise(found))


@pytest.mark.parametrize(
    "code",
    [
        "    - name: build the docs\n      run: make docs",
        "    total = price * count",
        "\tstop();",
        "    // the first row is a header\n    rows = rows.slice(1)",
        "    port: 8080",
    ],
)
def test_code_may_only_be_set_in(code: str) -> None:
    text = f"why is this here?\n\n{code}\n\nplease move it"
    lines = split_lines(text)
    ((first, last),) = indented_code(text, lines)
    assert text[lines[first][0] : lines[last][1]].strip() == code.strip()
    said = [text[a:b].strip() for a, b in own_sentences(text)]
    assert said[-1] == "please move it"
    assert not [one for one in said if one in code]


@pytest.mark.parametrize(
    "text",
    [
        "my list:\n    - milk and eggs\n    - a new bulb",
        "we need two things\n\n    a longer ladder\n    a second bucket",
        "port: 8080\n\nis the port",
        "step one\n    total = price * count",
    ],
)
def test_what_is_set_in_is_not_always_code(text: str) -> None:
    assert not list(indented_code(text, split_lines(text)))
