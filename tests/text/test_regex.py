"""Patterns that are compiled at their first use."""

from __future__ import annotations

import importlib
import pkgutil
import re

import kimi_memory.plugins
import pytest

import kimi_memory.text
from kimi_memory.text.regex import regex

MODULES = [
    found.name
    for package in (kimi_memory.text, kimi_memory.plugins)
    for found in pkgutil.iter_modules(package.__path__, f"{package.__name__}.")
]


def lazy(value: object) -> list[object]:
    """Find the lazy patterns in a module's value."""
    if type(value) is type(regex("")):
        return [value]
    if isinstance(value, dict):
        value = tuple(value.values())
    return [one for each in value for one in lazy(each)] if isinstance(value, tuple | list) else []


def test_a_lazy_pattern_finds_what_a_compiled_one_finds() -> None:
    text, source = "周五 Deploy, deploy 部署", r"(?P<verb>deploy|部署)"
    ours, theirs = regex(source, re.IGNORECASE), re.compile(source, re.IGNORECASE)
    for _ in range(2):
        assert ours.findall(text) == theirs.findall(text)
        assert [m.span("verb") for m in ours.finditer(text)] == [
            m.span("verb") for m in theirs.finditer(text)
        ]
        assert ours.sub("x", text) == theirs.sub("x", text)
        assert ours.fullmatch("部署") and not ours.match("周五")
    assert (ours.pattern, ours.flags, ours.groupindex) == (
        theirs.pattern,
        theirs.flags,
        theirs.groupindex,
    )


def test_a_mistake_in_a_lazy_pattern_shows_at_its_first_use() -> None:
    broken = regex("(")
    with pytest.raises(re.error):
        broken.search("(")


def test_an_attribute_that_no_pattern_has_is_refused() -> None:
    with pytest.raises(AttributeError, match="serach"):
        regex("x").serach  # type: ignore[attr-defined]  # meant  # noqa: B018  the access itself fails


@pytest.mark.parametrize("name", MODULES)
def test_every_pattern_of_a_module_compiles(name: str) -> None:
    for value in vars(importlib.import_module(name)).values():
        for each in lazy(value):
            assert re.compile(each.pattern, each.flags)  # type: ignore[attr-defined]  # told by what it is
