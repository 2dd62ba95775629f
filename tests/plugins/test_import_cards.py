"""Cards of memex and of Claude's memory: names, links, dates, and what is no card."""

from __future__ import annotations

import io

import pytest
from kimi_memory.plugins import import_cards

from kimi_memory.domain.foreign_note import Memo
from kimi_memory.domain.note import CardType
from kimi_memory.domain.screen import TranscriptFile


def read(text: str, name: str = "cards/postgres-choice.md", system: str = "") -> list[Memo] | None:
    content = text.encode()
    file = TranscriptFile(name, content[:65536], lambda: io.BytesIO(content))
    found = import_cards.read_memories(file, system)
    return None if found is None else list(found)


def test_a_memex_card_has_names_links_and_a_source(doc: str) -> None:
    """
    ---
    title: 选用 PostgreSQL
    created: 2026-01-05
    tags: [数据库, "#db"]
    aliases:
      - pg
    source: session abc
    ---

    # 选用 PostgreSQL

    因为 [[json-support|JSON 支持]] 好，见 [[Other Card#part]]。

    ```sh
    if [[ -f x ]]; then
    ```
    """
    [memo] = read(doc)
    assert (memo.system, memo.id, memo.title) == ("memex", "postgres-choice", "选用 PostgreSQL")
    assert memo.names == ("postgres-choice", "选用 PostgreSQL", "pg")
    assert memo.links == ("json-support", "Other Card")
    assert (memo.tags, memo.sources) == (("数据库", "db"), ("session abc",))
    assert memo.created.isoformat() == "2026-01-05T00:00:00+00:00"
    assert memo.text.startswith("因为")


def test_a_card_of_claude_is_known_by_its_head(doc: str) -> None:
    """
    ---
    name: user-likes-tabs
    description: Tabs, not spaces
    metadata:
      type: feedback
    ---
    Use tabs. **Why:** the linter says so. See [[editor]].
    """
    [memo] = read(doc, "memory/user-likes-tabs.md")
    assert (memo.system, memo.type, memo.links) == ("claude", CardType.RULE, ("editor",))
    assert memo.text.startswith("Tabs, not spaces\n\nUse tabs.")
    assert read(doc, system="memex") is None


@pytest.mark.parametrize("name", ["MEMORY.md", "notes/plain.md"])
def test_a_file_without_name_and_links_is_no_card(name: str) -> None:
    assert read("- [Tabs](user-likes-tabs.md) — a hook\n", name) is None


def test_any_markdown_is_a_card_where_memex_was_named() -> None:
    [memo] = read("# Just text\n\nwith a body", system="memex")
    assert (memo.title, memo.text, memo.type) == ("Just text", "with a body", None)


def test_a_broken_head_counts_as_body() -> None:
    [memo] = read("---\ntitle: [\n---\nsee [[x]]")
    assert "see [[x]]" in memo.text
    assert memo.links == ("x",)


def test_empty_and_other_files_are_none() -> None:
    assert read("---\ntitle: x\n---\n\n") == []
    assert read("[[x]]", "a.txt") is None
    assert read("[[x]]", system="mem0") is None
