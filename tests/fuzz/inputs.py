"""Inputs nobody would write on purpose, and how they are made from those somebody did."""

from __future__ import annotations

import json
from collections.abc import Sequence

from hypothesis import strategies as st

from tests.formats.strategies import NASTY

CARD = """---
id: card-01j00000000000000000000001
kind: card
created: 2026-02-27T09:00:00Z
updated: 2026-02-27T09:00:00Z
type: decision   # chosen on Friday
key: db.choice
status: active
tags:
  - 数据库
  - "b: c"
confidence: 0.8
importance: 0.7
trust: human
verified: 2026-02-27T09:00:00Z
lang: zh
sources: [session:s1#3, "session:s1#4-5"]
links:
  - {to: card-2, rel: related, weight: 0.5}
Custom Key: {deep: [1, 2]}
note: |
  kept as it is
  # part of the note
---
# 数据库选型

## 定义

我们决定用 PostgreSQL，因为它支持 JSONB。

## 证据

> 我们决定用 PostgreSQL。
> — [[session_s1]] #3

## 自己加的一节

- [ ] 不要动
"""
EVENT = """---\r
id: event-01j00000000000000000000001\r
kind: event\r
created: 2026-02-27T09:00:00Z\r
updated: 2026-02-27T09:00:00Z\r
type: decision\r
at: 2026-02-27T09:00:00Z\r
status: active\r
lang: en\r
---\r
# Moved to PostgreSQL\r
\r
- **Participants**: user, kimi\r
\r
## Content\r
\r
The team moved at 12:30, v1.10 of 2026-02-27.\r
"""
LINES = (
    '{"kind":"session","id":"s1","started":"2026-02-27T09:00:00Z","agent":"kimi","sum":"1"}\n'
    '{"kind":"turn","n":1,"at":"2026-02-27T09:00:01Z","role":"user","text":"以后都用 PostgreSQL",'
    '"origin":"human","importance":0.7,"tags":["decision"],"sum":"0123456789ab"}\n'
    '{"kind":"turn","n":2,"at":"2026-02-27T09:00:02.5+08:00","role":"assistant","text":"OK \\ud83d'
    '\\ude42","origin":"agent","importance":0.4,"context":"0123456789ab","ref":"r1","masked":1}\n'
    '{"kind":"state","task":{"goal":"ship"},"variables":{"port":8080}}\n'
    '{"kind":"end","at":"2026-02-27T10:00:00Z"}\n'
)
TOMBSTONE = (
    '{"kind":"tombstone","scope":"project:demo","key":"db.choice","value":"mysql",'
    '"at":"2026-02-27T09:00:00Z","by":"user","why":"错了","hashed":true,"sum":"0123456789ab"}\n'
)
JOB = json.dumps(
    {
        "id": "job-01j00000000000000000000001",
        "kind": "daily",
        "at": "2026-02-27T09:00:00Z",
        "inputs": "0123456789ab",
        "operations": [{"op": "ADD", "target": "card-1", "key": "db.choice", "why": "新"}],
        "effects": [{"path": "semantic/a.md", "before": "", "after": "0123456789ab"}],
    },
    ensure_ascii=False,
    indent=2,
)
SETTINGS = """# 设置
[memory]
id = "m1"
format = 1
language = "zh"
[capture]
limit = 3
duplicate = 0.95
auto = true
[consolidation]
daily = "03:15"
[future]
unknown = [1, {a = 1979-05-27T07:32:00Z}]
"""
USER_SETTINGS = 'disabled = ["demo"]\n[plugins.privacy]\nallow = ["email"]\n'
CLAUDE = (
    '{"type":"summary","summary":"Fix it","leafUuid":"u0"}\n'
    '{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"c1","isSidechain":false,'
    '"timestamp":"2026-02-27T09:00:00Z","cwd":"/home/me/demo",'
    '"message":{"role":"user","content":"帮我看看这个错误"}}\n'
    '{"type":"assistant","uuid":"u2","parentUuid":"u1","sessionId":"c1",'
    '"timestamp":"2026-02-27T09:00:05Z","message":{"role":"assistant","model":"m",'
    '"content":[{"type":"thinking","thinking":"…"},{"type":"text","text":"It is a cycle."},'
    '{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]}}\n'
)
CODEX = (
    '{"timestamp":"2026-02-27T09:00:00.000Z","type":"session_meta","payload":{"id":"x1",'
    '"timestamp":"2026-02-27T09:00:00Z","cwd":"/home/me/demo","originator":"codex_cli"}}\n'
    '{"timestamp":"2026-02-27T09:00:01Z","type":"response_item","payload":{"type":"message",'
    '"role":"user","content":[{"type":"input_text","text":"运行测试"}]}}\n'
    '{"timestamp":"2026-02-27T09:00:02Z","type":"response_item","payload":{"type":"message",'
    '"role":"assistant","content":[{"type":"output_text","text":"All green."}]}}\n'
    '{"timestamp":"2026-02-27T09:00:03Z","type":"event_msg","payload":{"type":"agent_message",'
    '"message":"All green."}}\n'
)
OPENCLAW = (
    '{"type":"session","version":3,"id":"o1","timestamp":"2026-02-27T09:00:00Z","cwd":"/w/demo"}\n'
    '{"type":"message","id":"a1","parentId":null,"timestamp":"2026-02-27T09:00:01Z",'
    '"message":{"role":"user","content":[{"type":"text","text":"记住：周五部署"}],'
    '"timestamp":1772182801000}}\n'
    '{"type":"message","id":"a2","parentId":"a1","timestamp":"2026-02-27T09:00:02Z",'
    '"message":{"role":"assistant","content":[{"type":"text","text":"好的"}]}}\n'
)
MESSAGES = (
    '{"id":"m1","title":"聊天","messages":[{"role":"system","content":"x"},'
    '{"role":"user","content":"你好","timestamp":1772182800},'
    '{"role":"assistant","content":[{"type":"text","text":"Hello"},{"type":"image_url"}]}]}'
)
SHARED = (
    '[{"id":"g1","conversations":[{"from":"human","value":"你好"},{"from":"gpt","value":"Hi"}]}]'
)
MESSAGE_LINES = (
    '{"session":"a","project":"demo","started":"2026-02-27T09:00:00Z"}\n'
    '{"role":"user","content":"one"}\n{"role":"assistant","content":"two"}\n'
)
SESSION_JSON = (
    '{"id":"session-20260331-062900","timestamp":1743403740000,"channel":"telegram",'
    '"agent":"main","turns":[{"role":"user","content":"帮我分析一下...","timestamp":1743403740000},'
    '{"role":"assistant","content":"好的","timestamp":1743403745000,"tool_calls":[1]}],'
    '"current_task":{"goal":"x"},"temp_vars":{"a":1}}'
)
MARKDOWN_CHATS = (
    "# 2026-01-29 16:26:43Z\n\n<!-- Claude Code Session a7a07195 (2026-01-29 16:26:43Z) -->\n\n"
    "_**User (2026-01-29 16:26:43Z)**_\n\n帮我看看\n\n---\n\n_**Agent (claude-opus-4-5-20251101"
    " 2026-01-29 16:26:50Z)**_\n\n<tool-use>\nls\n</tool-use>\n\nIt is done.\n",
    "# 会议\n\n## 用户\n\n我们用 Go。\n\n## 助手 (2026-03-01)\n\n好的。\n\n```\n## 用户\n```\n",
    "**User:** hello\n\n**Assistant:** hi\n",
    "用户：你好\n助手：你好，有什么事？\n",
    "[2026-03-01 10:00] 张三: 周五部署\n[2026-03-01 10:01] Li Lei: ok\n",
    "张三 2026-03-01 10:00\n周五部署\n\n李四 2026年3月1日 上午10:01\n好\n",
)
READABLE = {
    "lines.jsonl": LINES,
    "claude.jsonl": CLAUDE,
    "rollout-2026-02-27T09-00-00-x1.jsonl": CODEX,
    "openclaw.jsonl": OPENCLAW,
    "messages.json": MESSAGES,
    "shared.json": SHARED,
    "messages.jsonl": MESSAGE_LINES,
    "session.json": SESSION_JSON,
    **{f"chat{n}.md": text for n, text in enumerate(MARKDOWN_CHATS)},
}
"""A file of every format that some reader knows, by name."""
PAGE = """# 部署手册 Deploy

Setext
======

1. 先备份：`pg_dump` 到 /backup/db.sql
2. then *deploy* on Friday, e.g. 3.30 p.m., v1.10.2 (see https://example.com/a?b=c).

| 步骤 | who |
|---|---|
| 备份 | 张伟 |

> 引用 — [[session_s1]] #3

```python
# not a heading
def f(): return "---"
```

<kimi-memory nonce="12345678" label="memory">
| 旧的记忆
</kimi-memory nonce="12345678">
"""
TALK = """我们最后决定用 PostgreSQL，不用 MySQL 了，因为它支持 JSONB。
Please remember that I prefer tabs over spaces in Go code.
昨天下午三点和张伟开会；下周五（2026年3月6日）之前要上线，last Tuesday was too early.
The cause was a stale cache: we fixed it by clearing .cache before the build.
我的邮箱是 zhang.wei@example.org，电话 13800138000。My name is Li Lei and I live in 杭州.
密码是 Tr0ub4dor&3，api_key = "k9f8d7s6a5q4w3e2r1t0" ghp_abcdefghijklmnopqrstuvwxyz0123456789
4111 1111 1111 1111, 11010519491231002X, GB82 WEST 1234 5698 7654 32, +86 138-0013-8000
"""

ODDITIES = (
    b"\xef\xbb\xbf",
    b"\r\n",
    b"\r",
    b"\x00",
    b"\x1b[31m",
    b"\x7f",
    b"\xff\xfe",
    b"\xed\xa0\x80",
    b"\xf0\x9f\x92",
    b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR",
    "决定".encode("gb18030"),
    "决定\n".encode("utf-16"),
    b"---\n",
    b"+++\n",
    b"{",
    b"}",
    b"[" * 200,
    b'{"a":' * 200,
    b"- " * 50,
    b"---\na: 1\na: 2\n---\n",
    b"---\na: !!python/object:os.system x\n---\n",
    b"---\na: &x [1]\nb: *x\n---\n",
    b"---\na: no\nb: 1:30\nc: =\nd: 0o7\ne: 1_000\nf: .inf\n---\n",
    b"<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> other\n",
    b"\\ud800",
    b"9" * 5000,
    b"1e999",
    b"NaN",
    b"-0",
    b"0001-01-01T00:00:00+14:00",
    b"9999-12-31T23:59:59-14:00",
    b"253402300800000",
    b"2026-02-30",
    b"null",
    b'"kind":"turn"',
    b'"n":0',
    b'"role":"god"',
    b"<kimi-memory>",
    b"</kimi-memory>",
    b"<system-reminder>",
    b"```\n",
    b"> ",
    b"\n\n",
    b"    ",
    b"\xe3\x80\x80",
    b"\xe2\x80\xa8",
    b"\xe2\x80\x8b",
    b"\xf3\xa0\x81\x81",
    "二〇二六年十三月".encode(),
    "去年的后天".encode(),
    *(text.encode() for text in NASTY),
)
PUMPS = (
    *("a", " ", "\n", "-", "#", "*", "_", "`", ">", "<", "[", "(", "{", '"', "'", "\\", "/"),
    *(
        ".",
        "。",
        "，",
        "0",
        "9 ",
        "1-",
        "ab ",
        "中",
        "。\n",
        "a.b",
        "a@",
        "@",
        ":",
        "：",
        "=",
        "\t",
    ),
    *("|", "| a ", "- [ ] ", "<a ", "</a>", "<kimi-memory>", "</kimi-memory>", "---\n", "```\n"),
    *("key: ", "k=", "password is ", "密码是", "my ", "我的", "remember ", "记住", "年", "2026-"),
    *("token ", "a_", "AKIA", "-----BEGIN ", "1 ", "+1 ", "’", "“", "a\u0301", "\u200d", "🙂"),
    *(
        "I am ",
        "because ",
        "因为",
        "next ",
        "下",
        "a: [",
        "  - ",
        "\r",
        "\u2028",
        '{"a":',
        "!",
        "%",
    ),
)
"""What a text is pumped up with to find a pattern whose time is not linear."""


def hostile(seeds: Sequence[bytes]) -> st.SearchStrategy[bytes]:
    """Bytes made of real-looking ones by flips, cuts, copies, splices and oddities."""
    spot = st.integers(0, 1 << 16)
    change = st.one_of(
        st.tuples(st.just("flip"), spot, st.integers(1, 255)),
        st.tuples(st.just("cut"), spot, st.integers(1, 400)),
        st.tuples(st.just("copy"), spot, st.integers(1, 400)),
        st.tuples(st.just("end"), spot, st.just(0)),
        st.tuples(st.just("odd"), spot, st.sampled_from(ODDITIES)),
        st.tuples(st.just("splice"), spot, st.sampled_from(seeds)),
    )
    return st.builds(_changed, st.sampled_from(seeds), st.lists(change, max_size=6))


def _changed(seed: bytes, changes: list[tuple[str, int, int | bytes]]) -> bytes:
    for kind, spot, what in changes:
        at = spot % (len(seed) + 1)
        seed = _CHANGES[kind](seed, at, what)
    return seed


_CHANGES = {
    "flip": lambda seed, at, mask: (
        seed[:at] + bytes(byte ^ mask for byte in seed[at : at + 1]) + seed[at + 1 :]
    ),
    "cut": lambda seed, at, size: seed[:at] + seed[at + size :],
    "copy": lambda seed, at, size: seed[: at + size] + seed[at:],
    "end": lambda seed, at, _: seed[:at],
    "odd": lambda seed, at, odd: seed[:at] + odd + seed[at:],
    "splice": lambda seed, at, other: seed[:at] + other[at % (len(other) + 1) :],
}
