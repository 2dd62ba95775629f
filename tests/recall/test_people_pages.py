"""USER.md and PROJECT.md: what templates leave there is nothing that somebody wrote."""

from __future__ import annotations

import pytest

from kimi_memory.domain.note import Lang
from kimi_memory.domain.pages import STARTER_PAGES
from kimi_memory.errors import NotFoundError
from kimi_memory.formats.page_lines import fill
from kimi_memory.recall.people_pages import people_lines, written_lines

SEED = """# USER.md - User Profile

*Information about the person you're helping.*

- **Name:** Nora
- **Preferred name:**
- **Language:** British English

## Notes
<!-- What do they care about? -->

## Work
- Works from home on Mondays.

---
*The more you know, the better you can help.*
"""


def texts(content: str, path: str = "USER.md") -> list[str]:
    return [line.text for line in written_lines(path, lambda _: content.encode())]


@pytest.mark.parametrize("lang", list(Lang))
@pytest.mark.parametrize("path", list(STARTER_PAGES))
def test_a_page_nobody_wrote_on_says_nothing(path: str, lang: Lang) -> None:
    assert texts(fill(STARTER_PAGES[path], lang, name=""), path) == []


def test_remarks_to_the_writer_and_empty_labels_are_left_out() -> None:
    assert texts(SEED) == [
        "- **Name:** Nora",
        "- **Language:** British English",
        "## Work",
        "- Works from home on Mondays.",
    ]


def test_lines_keep_their_numbers_and_a_budget_takes_the_first() -> None:
    [first] = people_lines("USER.md", lambda _: SEED.encode(), 12)
    assert (first.number, first.id("USER.md")) == (5, "USER.md#L5")


@pytest.mark.parametrize("content", [b"", b"\xff\xfea", b"---\nid: [\n---\n- Nora\n"])
def test_a_page_that_cannot_be_read_says_nothing(content: bytes) -> None:
    assert list(written_lines("USER.md", lambda _: content)) == []


def test_a_page_that_is_not_there_says_nothing() -> None:
    def gone(path: str) -> bytes:
        raise NotFoundError("file", path)

    assert list(written_lines("USER.md", gone)) == []
