"""Chunks of Markdown pages."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kimi_memory.plugins import markdown

from kimi_memory.domain.search_types import Chunk, ChunkSizes
from kimi_memory.nlp.basic.sentences import estimate

MAX_TOKENS = ChunkSizes().max_tokens
CODE_TOKENS = markdown.CODE * MAX_TOKENS


def split_note(text: str, **sizes: int) -> list[Chunk]:
    return markdown.split_note(text, ChunkSizes(**sizes))


def trails(text: str) -> list[tuple[str, ...]]:
    return [chunk.trail for chunk in split_note(text)]


def test_hook_split_note_puts_each_heading_in_a_chunk_of_its_own() -> None:
    chunks = split_note("intro\n\n# 部署\n\n周五。\n\n## Rollback\n\nRun it.\n\n# End ##\n\nBye.\n")
    assert [(c.first, c.last, c.trail) for c in chunks] == [
        (1, 1, ()),
        (3, 5, ("部署",)),
        (7, 9, ("部署", "Rollback")),
        (11, 13, ("End",)),
    ]
    assert chunks[1].text == "# 部署\n\n周五。"


def test_a_heading_without_text_goes_with_the_next() -> None:
    assert trails("# A\n\n## B\n\nb\n\n# C\n") == [("A", "B"), ("C",)]


def test_setext_headings_count() -> None:
    assert trails("Title\n=====\n\na\n\nSub\n---\nb\n") == [("Title",), ("Title", "Sub")]


def test_a_rule_is_no_heading() -> None:
    assert trails("a\n\n---\n\nb\n\n***\n") == [()]


@pytest.mark.parametrize(
    "text",
    [
        "```sh\n# not\n```\nafter",
        "~~~\n# not\n```\n# not\n~~~\nafter",
        "````\n```\n# not\n```\n````\nafter",
        "```\n# not\n\n# not",
        "- item\n\n  ```\n  # not\n\n# not yet\n  ```\n",
        "#tag and #another",
        "    # indented code\n",
    ],
)
def test_marks_in_code_and_tags_are_no_headings(text: str) -> None:
    assert trails(text) == [()]


def test_crlf_pages_have_the_same_lines() -> None:
    text = "# A\n\na\n\n```\n# x\n```\n\n## B\nb\n"
    plain, dos = split_note(text), split_note(text.replace("\n", "\r\n"))
    assert [(c.first, c.last, c.trail) for c in plain] == [(c.first, c.last, c.trail) for c in dos]


def test_code_is_whole_up_to_twice_a_chunk() -> None:
    code = "```py\n" + "x = compute(1, 2)\n" * 90 + "```"
    assert MAX_TOKENS < estimate(code) <= CODE_TOKENS
    assert any(
        code in chunk.text for chunk in split_note("word " * 400 + "\n\n" + code + "\n\nend")
    )


def test_items_and_tables_are_whole() -> None:
    items = [f"- item {n}: " + "我们决定周五部署。" * 8 + f"\n  more of {n}" for n in range(40)]
    table = "| a | b |\n|---|---|\n" + "\n".join(f"| {n} | 值 {n} |" for n in range(30))
    chunks = split_note("# L\n\n" + "\n".join(items) + "\n\n" + table)
    assert len(chunks) > 3
    assert all(any(item in chunk.text for chunk in chunks) for item in [*items, table])


def test_chunks_of_a_section_overlap_by_whole_lines() -> None:
    lines = [f"Line {n} says something short." for n in range(200)]
    chunks = split_note("\n".join(lines))
    for one, other in pairwise(chunks):
        assert one.last - 8 <= other.first <= one.last
        assert other.text.startswith("Line ")


@pytest.mark.parametrize(
    "sentence", ["我们决定每周五部署，因为大家都在。", "We deploy on Fridays, all of us. "]
)
def test_a_monster_line_is_cut_at_sentences(sentence: str) -> None:
    chunks = split_note(sentence * 400)
    assert len(chunks) > 3
    assert all((c.first, c.last) == (1, 1) for c in chunks)
    assert all(estimate(c.text) <= MAX_TOKENS and c.text[-1] in "。." for c in chunks)


def test_one_endless_word_is_cut_too() -> None:
    assert all(estimate(c.text) <= MAX_TOKENS for c in split_note("字" * 5000 + "😀" * 3000))


def test_hostile_pages_take_linear_time() -> None:
    for bomb in ("# " + " " * 50_000 + "x", "|-" * 30_000, "- a\n" * 20_000, "```\n~~~\n" * 9_000):
        assert split_note(bomb)


LINE = st.sampled_from(
    "|# A|## 乙|### C|text here|一段文字。又一句。|- item|  more|1. one|```|~~~|````py|    code"
    "|===|---|> quote|\t- tab|\\| a \\| b \\||\\|---\\|---\\||\x0b|é😀".replace("\\|", "¦").split(
        "|"
    )
).map(lambda line: line.replace("¦", "|")) | st.text(max_size=30).map(lambda t: t.replace("\n", ""))


@settings(max_examples=150)
@given(
    st.lists(LINE | LINE.map(lambda line: line * 120), max_size=30), st.sampled_from(["\n", "\r\n"])
)
def test_every_line_is_in_a_chunk_and_every_chunk_is_true(lines: list[str], end: str) -> None:
    text = end.join(lines)
    numbered = [line.removesuffix("\r") for line in text.split("\n")]
    chunks = split_note(text)
    for n, line in enumerate(numbered, 1):
        held = "".join(c.text for c in chunks if c.first <= n <= c.last)
        assert not line.strip() or all(part in held for part in line.split()[:1] if len(part) < 200)
    for chunk in chunks:
        assert 1 <= chunk.first <= chunk.last <= len(numbered)
        raw = "\n".join(text.split("\n")[chunk.first - 1 : chunk.last])
        assert chunk.text in raw and chunk.text.strip()
        assert estimate(chunk.text) <= CODE_TOKENS + 9
    covered = {n for chunk in chunks for n in range(chunk.first, chunk.last + 1)}
    assert {n for n, line in enumerate(numbered, 1) if line.strip()} <= covered


PAGE = "# 部署\n\n" + "每周五部署一次，先跑测试。" * 40 + "\n\n## Rollback\n\n" + "Run it. " * 200


@given(st.integers(32, 600), st.integers(0, 15))
@settings(max_examples=30)
def test_chunks_have_the_sizes_that_are_asked_for(most: int, overlap: int) -> None:
    chunks = split_note(PAGE + "字" * 900 + "😀" * 300, max_tokens=most, overlap_tokens=overlap)
    assert all(estimate(chunk.text) <= most for chunk in chunks)
    assert "".join(c.text for c in chunks).replace("\n", "").count("字") >= 900


def test_without_headings_small_sections_share_a_chunk() -> None:
    page = "# 部署\n\n周五。\n\n## Rollback\n\nRun it.\n"
    assert len(split_note(page)) == 2
    [whole] = split_note(page, headings=False)
    assert (whole.first, whole.last, whole.trail) == (1, 7, ())
