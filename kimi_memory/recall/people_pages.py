"""USER.md and PROJECT.md: what a person wrote there, without what the templates say."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

from kimi_memory.domain.note import Lang
from kimi_memory.domain.pages import STARTER_PAGES
from kimi_memory.errors import KimiMemoryError
from kimi_memory.formats.frontmatter import decode, read
from kimi_memory.formats.page_lines import source
from kimi_memory.nlp.basic.patterns import regex
from kimi_memory.nlp.basic.safe_text import lines_of
from kimi_memory.nlp.basic.sentences import estimate

_UNFILLED = regex(
    r"^\s*+(?:<!--.*|[*_](?![*_\s])[^*_]+[*_]|[-*+]?\s*+(?:\*\*)?[^*:：]{0,40}[:：]\s*+(?:\*\*)?\s*+|-{3,})$"
)
"""A remark to the writer, a label that nothing follows, a rule: what templates leave behind."""


class PageLine(NamedTuple):
    """A line of a person's page."""

    number: int
    text: str

    def id(self, path: str) -> str:
        """Return what names it in a context."""
        return f"{path}#L{self.number}"


def people_lines(path: str, content: Callable[[str], bytes], budget: int) -> list[PageLine]:
    """Return the first written lines of a page that fit a budget of tokens.

    Args:
        path: one of `STARTER_PAGES`.
        content: reads a file as agents get it.
        budget: most tokens.
    """
    found = []
    for line in written_lines(path, content):
        budget -= estimate(line.text) + 1
        if budget < 0:
            break
        found.append(line)
    return found


def written_lines(path: str, content: Callable[[str], bytes]) -> Iterator[PageLine]:
    """Yield what a person wrote on a page, each heading with what stands below it."""
    try:
        text = decode(content(path), path)
        front = read(text, path)
    except (KimiMemoryError, OSError):
        return  # There is none, or it cannot be read, which `doctor` tells.
    given = _template_lines(STARTER_PAGES[path])
    above = len(lines_of(text)) - len(lines_of(front.body))
    heading: PageLine | None = None
    for number, line in enumerate(lines_of(front.body), above + 1):
        if line.startswith("#"):
            # A heading is shown with what stands below it; that of the page says nothing.
            heading = PageLine(number, line.strip()) if line.startswith("##") else None
        elif line.strip() and line not in given and not _UNFILLED.match(line):
            if heading:
                yield heading
                heading = None
            yield PageLine(number, line.rstrip())


@cache
def _template_lines(template: str) -> frozenset[str]:
    """Return the lines of a template as it lies there: to fill it costs more than the block."""
    return frozenset(line for lang in Lang for line in source(template, lang).splitlines())
