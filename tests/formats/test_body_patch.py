"""Pages that people wrote take any new value and keep their own words."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.formats import codec
from tests.formats.strategies import KINDS, examples

HEAD = (
    "---\nid: x-1\nkind: {}\ncreated: 2026-02-27\ntype: {}\nkey: k\n"
    "date: 2026-02-27\ntarget: t\nsession: s\n---\n"
)
PAGES = {
    "event": (
        "KEEP before\n\n# 标题\nKEEP 随笔\n\n* 教训：小心\n- Mine: KEEP\n\n## Other\n\nKEEP\n\n"
        "## 证据\n\n> 一\n> 二\n\n— [[session_a]] #1\n\nKEEP remark\n\n"
        "> three\n— [[session_b]] #2\n\n## End\nKEEP"
    ),
    "digest": (
        "KEEP\n\n# Session digest: t\n\n## Told\n\n* **Ann**: a b #3\n- my own note\n\n"
        "## KEEP\n\n## 还没完\n1. c #4-5\n"
    ),
    "card": "- Caveats: none\n\nKEEP\n\n## Evidence\n\nKEEP\n\n## KEEP\n",
    "project": (
        "# P\n## 待办\n- [ ] 一\n\n段落\n\n* 二\n## 决策\n\n## KEEP\n- KEEP\n\n## Progress\n\ntext"
    ),
    "agent": "# Agent: A\n\n## Skills\n+ one\n+ two\n\n## KEEP\n\n## Persona\n\nKind.\n\n\\## x\n",
    "identity": "KEEP\n\n## 我的使命\n## 我是谁\n我\n## KEEP\n",
    "day": "",
    "proposal": "# Proposal: a\n\nKEEP\n\n## Proposed text\n\nold\n",
}


@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("kind", PAGES)
def test_any_new_value_is_taken_and_words_of_a_person_stay(kind, newline):
    head = HEAD.format(kind, "decision")
    text = (head + PAGES[kind]).replace("\n", newline)
    old = codec.parse(text, "x.md")

    @examples(6)
    @given(KINDS[kind], st.sampled_from([{}, {"tags": ("a",)}]))
    def law(new, more):
        new = codec.clean_note(replace(new, id=old.id, **more))
        result = codec.patch(text, old, new, "x.md")
        assert codec.parse(result, "x.md") == new
        assert result.count("KEEP") >= text.count("KEEP")
        if newline == "\r\n":
            assert result.count("\n") == result.count("\r\n")
        back = codec.patch(result, new, old, "x.md")
        assert codec.parse(back, "x.md") == old
        assert back.count("KEEP") >= text.count("KEEP")

    law()
