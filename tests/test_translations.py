"""The Chinese pages say what their English pages say now, and the site leads to all of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs import site

PAGES = sorted((site.ROOT / "docs/zh").glob("*.md"))


def parts(page: Path) -> tuple[list[int], list[str], int]:
    """Return the levels of headings, the kinds of blocks of code, and how many table rows."""
    text = page.read_text(encoding="utf-8")
    prose = site.FENCE.sub("", text)
    blocks = [block.split("\n")[0].removesuffix(" run") for block in site.FENCE.findall(text)]
    levels = [len(marks) for marks in re.findall(r"^(#+) ", prose, re.MULTILINE)]
    return levels, blocks, len(re.findall(r"^\|", prose, re.MULTILINE))


def test_no_translation_is_stale() -> None:
    """Bring the Chinese page up to date, then run ``python -m docs.site --mark PAGE``."""
    assert not list(site.stale())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_translation_has_the_parts_of_its_page(page: Path) -> None:
    assert parts(page) == parts(site.ROOT / "docs" / page.name)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_translation_has_the_python_of_its_page(page: Path) -> None:
    """So the blocks of the Chinese page need not run once more."""
    english = site.ROOT / "docs" / page.name
    own, theirs = (
        [block for block in site.FENCE.findall(one.read_text("utf-8")) if "```python" in block]
        for one in (page, english)
    )
    assert own == theirs


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_page_stands_once_in_the_navigation_of_the_site(language: str) -> None:
    listed = [name for _, pages in site.sections(language) for name in pages]
    assert sorted(listed) == [name for name in site.names() if name != "index.md"]
    assert site.title("errors.md", language) == "Errors and exit codes"
