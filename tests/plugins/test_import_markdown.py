"""Statements of plain Markdown: items, paragraphs, sources, and what is none."""

from __future__ import annotations

import io

from kimi_memory.plugins import import_markdown

from kimi_memory.domain.foreign_note import Memo
from kimi_memory.domain.screen import TranscriptFile


def read(text: str, name: str = "MEMORY.md", system: str = "") -> list[Memo] | None:
    content = text.encode()
    file = TranscriptFile(name, content[:65536], lambda: io.BytesIO(content))
    found = import_markdown.read_memories(file, system)
    return None if found is None else list(found)


def test_items_and_paragraphs_are_statements(doc: str) -> None:
    """
    ---
    updated: 2026-01-01
    ---
    # 记忆

    ## 偏好

    - 喜欢绿茶（来源: 2026-01-03 的聊天）
      而且要热的
    * [x] 2025-12-31 shipped 1.0 ^block-1
    1. uses https://example.org/x

    A paragraph
    over two lines.

    ```sh
    - no item
    ```

    | a | table |
    > a quotation
    - [Tabs](tabs.md) — only a pointer
    - ok
    """
    found = read(doc)
    assert [(m.line, m.text) for m in found] == [
        (8, "喜欢绿茶（来源: 2026-01-03 的聊天） 而且要热的"),
        (10, "2025-12-31 shipped 1.0"),
        (11, "uses https://example.org/x"),
        (13, "A paragraph over two lines."),
    ]
    assert {m.title for m in found} == {"偏好"}
    assert [bool(m.sources) for m in found] == [True, False, True, False]
    assert found[1].created.day == 31


def test_the_same_words_twice_are_two_statements() -> None:
    one, two = read("- 我喜欢茶。\n- 我喜欢茶。\n")
    assert two.id == f"{one.id}.2"


def test_a_broken_head_is_read_as_text() -> None:
    assert read("---\na: [\n---\n- a statement\n")[-1].text == "a statement"


def test_other_files_are_passed_on() -> None:
    assert read("- x", "a.json") is None
    assert read("- x", system="mem0") is None
