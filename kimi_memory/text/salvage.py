"""JSON salvaged from what a model said around it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NoReturn

from kimi_memory.text.regex import regex

MAX_CHARS = 400_000
"""A longer answer is not searched."""
MAX_STARTS = 20
"""So many openings are tried; each reads on to the end of the text at most."""

_THOUGHT = regex(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_FENCE = regex(r"```[A-Za-z]*[ \t]*\n(.*?)(?:```|\Z)", re.DOTALL)
_OPENING = regex(r"[{\[]")
# A string, or a comma that nothing follows.
_TRAILING = regex(r'"(?:[^"\\]|\\.)*"|,(?=\s*[}\]])', re.DOTALL)
_CLOSES = {"{": "}", "[": "]"}


def salvage(text: str) -> Any:
    """Return the first JSON object or list in a text.

    Thoughts, prose and code fences around it, trailing commas and raw line breaks in
    strings are forgiven; nothing is made up: an answer that was cut off is none.

    Raises:
        ValueError: there is none.
    """
    said = _THOUGHT.sub("", text[:MAX_CHARS]).strip()
    if not said:
        raise ValueError("the answer is empty")
    for candidate in _candidates(said):
        for form in (candidate, _without_trailing(candidate)):
            try:
                found = json.loads(form, strict=False, parse_constant=_refuse)
            except (ValueError, RecursionError):
                continue
            if isinstance(found, dict | list):
                return found
    raise ValueError("there is no complete JSON in the answer")


def _candidates(said: str) -> Iterator[str]:
    yield said
    yield from (fenced[1].strip() for fenced in _FENCE.finditer(said))
    reached = 0
    for number, opening in enumerate(_OPENING.finditer(said)):
        if number >= MAX_STARTS:
            return
        end = _end(said, opening.start()) if opening.start() >= reached else 0
        if end:
            reached = end
            yield said[opening.start() : end]


def _end(said: str, start: int) -> int:
    """Return where the value that opens at `start` is closed; 0 if it never is."""
    waiting: list[str] = []
    at, inside = start, False
    while at < len(said):
        char = said[at]
        if inside:
            at += char == "\\"
            inside = char != '"'
        elif char == '"':
            inside = True
        elif char in _CLOSES:
            waiting.append(_CLOSES[char])
        elif char in "}]":
            if waiting.pop() != char:
                return 0
            if not waiting:
                return at + 1
        at += 1
    return 0


def _without_trailing(text: str) -> str:
    return _TRAILING.sub(lambda found: "" if found[0] == "," else found[0], text)


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")
