"""JSON salvaged from what a model said around it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NoReturn

from kimi_memory.nlp.basic.patterns import regex

MAX_CHARS = 400_000
"""A longer answer is not searched."""
MAX_STARTS = 20
"""So many openings are tried; each reads on to the end of the text at most."""
MAX_ITEMS = 200
"""So many objects of a broken list are tried."""

_THOUGHT = regex(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_FENCE = regex(r"```[A-Za-z]*[ \t]*\n(.*?)(?:```|\Z)", re.DOTALL)
_OPENING = regex(r"[{\[]")
# A string, or a comma that nothing follows.
_TRAILING = regex(r'"(?:[^"\\]|\\.)*"|,(?=\s*[}\]])', re.DOTALL)
_CLOSES = {"{": "}", "[": "]"}
# A string ends where what follows it is no part of a string: he said "yes" to me.
_ENDS = r"(?=\s*(?:[,}\]:，：]|//|#|$))"
_LOOSE = regex(
    rf'"(?P<double>(?:\\.|[^"\\]|"(?!\s*(?:[,}}\]:，：]|//|#|$)))*)"'
    rf"|'(?P<single>(?:\\.|[^'\\]|'(?!\s*(?:[,}}\]:，：]|//|#|$)))*)'"
    rf"|“(?P<curly>[^“”]*)”{_ENDS}"
    r"|(?P<comment>//[^\n]*|/\*.*?\*/|(?<=[\s,\[{])#[^\n]*)"
    r"|(?P<name>[A-Za-z_]\w*)(?P<colon>\s*[:：])?|(?P<wide>[，：｛｝［］])|(?P<comma>,(?=\s*[}\]]))",
    re.DOTALL,
)
_PLAIN = {"True": "true", "False": "false", "None": "null", "true": "true", "false": "false"}
_PLAIN |= {"null": "null", "，": ",", "：": ":", "｛": "{", "｝": "}", "［": "[", "］": "]"}
_ESCAPED = regex(r"\\(.)|[\"\n\t]", re.DOTALL)
_KEPT = frozenset('"\\/bfnrtu')


def salvage(text: str) -> Any:
    """Return the first JSON object or list in a text.

    Thoughts, prose and code fences around it, comments, other quotation marks, the words
    of Python, trailing commas and raw line breaks in strings are forgiven; nothing is
    made up: an answer that was cut off is none.

    Raises:
        ValueError: there is none.
    """
    said = _clean_answer(text)
    for candidate in _yield_candidates(said):
        found = _parse_json(candidate)
        if isinstance(found, dict | list):
            return found
    raise ValueError("there is no complete JSON in the answer")


def salvage_items(text: str, name: str, member: str) -> list[Any]:
    """Return the items of the list that an answer is about, each on its own.

    One that cannot be read, or was cut off, costs no other.

    Args:
        text: the answer.
        name: member of the answer that holds the list.
        member: what each item has.

    Raises:
        ValueError: there is no list, and no item.
    """
    try:
        found = salvage(text)
    except ValueError:
        found = None
    if isinstance(found, dict) and isinstance(found.get(name), list):
        return list(found[name])
    if isinstance(found, list) and any(isinstance(one, dict) for one in found):
        return found
    said = _clean_answer(text)
    tried = (
        [one for one in _yield_objects(form) if member in one]
        for form in (said, _repair_text(said))
    )
    items = max(tried, key=len)
    if not items:
        raise ValueError(f"there is no list of {name} in the answer")
    return items


def _clean_answer(text: str) -> str:
    said = _THOUGHT.sub("", text[:MAX_CHARS]).strip()
    if not said:
        raise ValueError("the answer is empty")
    return said


def _yield_objects(form: str) -> Iterator[dict[str, Any]]:
    """Yield the objects of a broken list, from the first that is complete on."""
    at, tries = 0, 0
    while (start := form.find("{", at)) >= 0 and tries < MAX_ITEMS:
        end = _find_end(form, start)
        found = _parse_json(form[start:end]) if end else None
        at, tries = start + 1, tries + 1
        if isinstance(found, dict):
            at = end
            yield found


def _parse_json(text: str) -> Any:
    """Return the JSON value that a text is, mended where it must be; None where it is none."""
    for mend in (str, _without_trailing, _repair_text):
        try:
            # Not strict: small models put raw line breaks into strings. NaN and Infinity are
            # refused, because no comparison with such a score would hold.
            return json.loads(mend(text), strict=False, parse_constant=_reject_constant)
        # Thousands of opening brackets in a row end in a RecursionError.
        except (ValueError, RecursionError):
            continue
    return None


def _repair_text(text: str) -> str:
    """Return a text with strings, names and marks as JSON has them."""
    return _LOOSE.sub(_as_json, text)


def _as_json(found: re.Match[str]) -> str:
    kind = found.lastgroup or ""
    if kind in {"double", "single", "curly"}:
        return f'"{_ESCAPED.sub(_fix_escape, found[kind])}"'
    if kind in {"comment", "comma"}:
        return ""
    if kind == "colon":
        return f'"{found["name"]}":'
    return _PLAIN.get(found[0], found[0])


def _fix_escape(found: re.Match[str]) -> str:
    # A raw line break or quotation mark in a string; else an escape that JSON may not know: the \d
    # of "C:\dir" is meant as it stands.
    if found[1] is None:
        return json.dumps(found[0])[1:-1]
    return found[0] if found[1] in _KEPT else json.dumps(found[1])[1:-1]


def _yield_candidates(said: str) -> Iterator[str]:
    yield said
    yield from (fenced[1].strip() for fenced in _FENCE.finditer(said))
    reached = 0
    for number, opening in enumerate(_OPENING.finditer(said)):
        if number >= MAX_STARTS:
            return
        # What lies inside a value that was tried already is not tried for itself.
        end = _find_end(said, opening.start()) if opening.start() >= reached else 0
        if end:
            reached = end
            yield said[opening.start() : end]


def _find_end(said: str, start: int) -> int:
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


def _reject_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")
