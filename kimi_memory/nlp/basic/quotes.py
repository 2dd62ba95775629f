"""Quotes: where quoted words stand in a text, and citations, which name a path and its lines.

A model that quotes changes marks and spaces: bold text, backticks, line breaks, full-width
signs, other quotation marks and letter case are forgiven; words are not. Of a quote with an
ellipsis each part is looked for, in order. What is found are spans of the text, so that what
is kept is literal again.
"""

from __future__ import annotations

import re
from functools import lru_cache

from kimi_memory.nlp.basic.patterns import HAN, regex, simplify
from kimi_memory.nlp.basic.sentences import Span

SHORTEST = 4
"""A part of fewer letters stands anywhere; two Chinese characters count as four."""
MOST_WORDS = 400
"""Words of a quote that are looked for."""
_PARTS = regex(r"(?:(?<!\s)\s++)?(?:\.{3,}|…+|\[(?:\.{3}|…+)\]|\((?:\.{3}|…+)\)|⋯+)\s*")
_TOKEN = regex(rf"[{HAN}]|[^\W\d_{HAN}]+|\d+")
_WIDE = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}


def find_quote(quote: str, text: str) -> list[Span]:
    """Return the spans of a text that a quote consists of, none where it does not stand in it."""
    parts = [part for part in _PARTS.split(quote.strip()) if _weigh_part(part)]
    if not parts or sum(map(_weigh_part, parts)) < SHORTEST:
        return []
    shown, spans, at = _fold_text(text), list[Span](), 0
    for part in parts:
        found = _build_pattern(_fold_text(part)).search(shown, at)
        if found is None:
            return []
        spans.append((found.start(), _with_mark(shown, found.end(), _fold_text(part))))
        at = found.end()
    return spans


def _with_mark(text: str, end: int, part: str) -> int:
    """Return where found words end with the mark that ends the quote."""
    mark = part.rstrip()[-1:]
    return end + 1 if mark and not mark.isalnum() and text[end : end + 1] == mark else end


def _weigh_part(part: str) -> int:
    return len(part.encode()) if part.isascii() else sum(1 + (c > "\u2e7f") for c in part)


def _fold_text(text: str) -> str:
    """Return a text of the same length with wide signs narrow and hanzi simplified."""
    return text if text.isascii() else simplify(text.translate(_WIDE))


@lru_cache(maxsize=256)
def _build_pattern(part: str) -> re.Pattern[str]:
    tokens = _TOKEN.findall(part)[:MOST_WORDS]
    first, last = (tokens[0], tokens[-1]) if tokens else ("", "")
    # "cat" is not quoted from "concat"; Chinese has no such borders.
    before = r"(?<![^\W_\u3400-\u9fff])" if first.isascii() else ""
    after = r"(?![^\W_\u3400-\u9fff])" if last.isascii() else ""
    # Between two words stands what is no word: marks, spaces, an underscore.
    inside = r"[\W_]{0,12}".join(map(re.escape, tokens)) or r"(?!)"
    return re.compile(f"{before}{inside}{after}", re.IGNORECASE)


# Nine digits at most: `int` refuses some thousands of them with an error of its own.
_LINES = re.compile(r"#L(?P<first>\d{1,9})(?:-L?(?P<last>\d{1,9}))?$")


_COMMIT = re.compile(r"@(?P<commit>[0-9a-f]{7,40})$")


def split_commit(path: str) -> tuple[str, str]:
    """Return the path and the commit of ``path@5bb61efd18``; the commit is empty if not named."""
    found = _COMMIT.search(path)
    return (path[: found.start()], found["commit"]) if found else (path, "")


def split_citation(text: str) -> tuple[str, int, int]:
    """Return the path, the first line and the last of ``path#L2-L5``; lines are 0 if not named."""
    found = _LINES.search(text)
    if found is None:
        return text, 0, 0
    first = max(1, int(found["first"]))
    return text[: found.start()], first, max(first, int(found["last"] or first))
