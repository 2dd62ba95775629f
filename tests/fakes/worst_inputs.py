"""Inputs that cost a pattern most: its own repeats, repeated, and what breaks off at the end."""

from __future__ import annotations

import importlib
import pkgutil
import re
import types
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from re import _constants as codes  # type: ignore[attr-defined]  # the standard library gives it no types
from re import _parser as parser  # type: ignore[attr-defined]  # the standard library gives it no types
from typing import Any

import kimi_memory
import plugins
from kimi_memory.nlp.basic.patterns import Phrases, _Regex

_REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)
_SIGNS = (codes.LITERAL, codes.IN, codes.ANY, codes.NOT_LITERAL)
_CATEGORIES = {"SPACE": " ", "DIGIT": "1", "WORD": "x"}
_COMMON = ("\n", " ", "x", "1", "一", "x ", "- ", '"', "<", ">", "| ", ".", "、")
_MANY = 20


@cache
def patterns() -> dict[str, re.Pattern[str]]:
    """Return every compiled text pattern of the package and its plugins, by its place."""
    found: dict[tuple[str, int], tuple[str, re.Pattern[str]]] = {}
    for module in _modules():
        for name, value in list(vars(module).items()):
            for n, pattern in enumerate(_inside(value)):
                if isinstance(pattern.pattern, str):
                    place = f"{module.__name__}.{name}" + (f"[{n}]" if n else "")
                    found.setdefault((pattern.pattern, pattern.flags), (place, pattern))
    return dict(found.values())


def worst_inputs(pattern: re.Pattern[str], size: int) -> list[str]:
    """Return texts of about a size that a pattern may take long to search."""
    tree = parser.parse(pattern.pattern, pattern.flags)
    parts = {(before, unit) for before, unit in _repeats(tree, "") if unit}
    whole = _example(tree)
    parts |= {("", one) for one in (whole, whole[:-1], *_COMMON) if one}
    return sorted(
        {f"{before}{unit * (size // len(unit) + 1)}"[:size] + "\0" for before, unit in parts}
    )


def _modules() -> Iterator[types.ModuleType]:
    for package in (kimi_memory, plugins):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if found.name.endswith("__main__") or ".frameworks." in found.name:
                continue
            yield importlib.import_module(found.name)


def _inside(value: Any, depth: int = 0) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, _Regex):
        yield value._compiled_pattern
    elif isinstance(value, Phrases):
        yield from _inside(value._each, depth + 1)
    elif depth < 5:
        for part in _parts(value):
            yield from _inside(part, depth + 1)


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return [*value, *value.values()]
    if isinstance(value, tuple | list | set | frozenset):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, field.name) for field in fields(value)]
    return ()


def _repeats(tree: Any, before: str) -> Iterator[tuple[str, str]]:
    """Yield what a long repeat of a pattern repeats, with and without what stands before it."""
    for op, told in tree:
        if op in _REPEATS:
            _, most, inner = told
            unit, lead = _example(inner), before[-12:]
            if most is codes.MAXREPEAT or most > _MANY:
                yield from ((lead, unit), ("", unit), ("", lead + unit * 2))
        for inner in _inner(op, told):
            yield from _repeats(inner, before)
        before += _example([(op, told)])


def _inner(op: Any, told: Any) -> list[Any]:
    """Return the patterns in one part of a pattern."""
    if op in _REPEATS:
        return [told[2]]
    if op is codes.SUBPATTERN:
        return [told[3]]
    if op is codes.ATOMIC_GROUP:
        return [told]
    if op is codes.BRANCH:
        return list(told[1])
    return [told[1]] if op in (codes.ASSERT, codes.ASSERT_NOT) else []


def _example(tree: Any) -> str:
    """Return a short text that a part of a pattern may match."""
    text = ""
    for op, told in tree:
        if op in _SIGNS:
            text += _sign(op, told)
        elif op in _REPEATS:
            text += _example(told[2]) * max(told[0], 0)
        elif op is codes.SUBPATTERN:
            text += _example(told[3])
        elif op is codes.BRANCH:
            text += _example(told[1][0])
        elif op is codes.ATOMIC_GROUP:
            text += _example(told)
    return text


def _sign(op: Any, told: Any) -> str:
    if op is codes.LITERAL:
        return chr(told)
    if op is not codes.IN:
        return "x" if told != ord("x") else "y"
    if told[0][0] is codes.NEGATE:
        return next((sign for sign in "x1 一-\n<" if not _among(told[1:], sign)), "")
    for kind, what in told:
        if kind is codes.CATEGORY:
            return next(sign for sign in " 1x-" if _among([(kind, what)], sign))
        return chr(what if kind is codes.LITERAL else what[0])
    return ""


def _among(kinds: Any, sign: str) -> bool:
    return any(
        chr(what) == sign
        if kind is codes.LITERAL
        else what[0] <= ord(sign) <= what[1]
        if kind is codes.RANGE
        else _is_of(str(what), sign)
        for kind, what in kinds
    )


def _is_of(category: str, sign: str) -> bool:
    plain = {"SPACE": sign.isspace(), "DIGIT": sign.isdigit(), "WORD": sign.isalnum()}
    name = category.rpartition("_")[2]
    return plain[name] is not ("_NOT_" in category)
