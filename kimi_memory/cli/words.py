"""The words of the command line in the reader's language: English, or Chinese where that is set."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from kimi_memory.nlp.basic.counted import AGREEING, agree, loosen

CHECKS, FINDINGS, MESSAGES = "checks", "findings", "messages"
"""Tables with the names of the checks, with their sentences, and with messages of errors."""
_LONGEST = 1000
"""Characters of a finding that is looked for: its places cost more than linear time."""
_PLACE = re.compile(r"{(\w+)}")
_COUNTED = re.compile(rf"{{(\w+)}} (?P<words>{AGREEING})")
_SENTENCE = re.compile(r"(?<=[.?]) (?=[A-Z'])")


def find_locale() -> str:
    """Return the language that the terminal speaks, as POSIX looks for it."""
    # In the order of POSIX: the first that is set decides.
    names = ("LC_ALL", "LC_MESSAGES", "LANG")
    return next((value for name in names if (value := os.environ.get(name))), "")


def say(text: str, **values: object) -> str:
    """Return an English text in the reader's language, with values in their places."""
    if find_locale().startswith("zh"):
        text = read_chinese().get(text, text)
    elif values:
        text = _COUNTED.sub(lambda found: _agree(found, values), text)
    return text.format(**values) if values else text


def _agree(found: re.Match[str], values: Mapping[str, object]) -> str:
    """Return a place for a number and the words after it, in the singular where it is one."""
    value = values.get(found[1])
    count = value if type(value) is int else 0
    return f"{{{found[1]}}} {agree(count, found['words'])}"


def translate(text: str) -> str:
    """Return an English message, its values in their places already, in the reader's language.

    A message is the sentences that it is made of: one without a translation stays English.
    """
    if not 0 < len(text) <= _LONGEST or not find_locale().startswith("zh"):
        return text
    # After 。 comes no space.
    said = " ".join(_match(MESSAGES, one) for one in _SENTENCE.split(text))
    return said.replace("。 ", "。").replace("？ ", "？")


def say_finding(text: str) -> str:
    """Return what a check found in the reader's language, with the parts that have one.

    The checks lie below the command line and speak English alone; so their sentences are
    known again by what stands around their values.
    """
    if not 0 < len(text) <= _LONGEST or not find_locale().startswith("zh"):
        return text
    return _match(FINDINGS, text)


def say_check(name: str) -> str:
    """Return the name of a check in the reader's language."""
    if not find_locale().startswith("zh"):
        return name
    # "host codex" is the check of one host.
    check, space, which = name.partition(" ")
    return f"{_read_tables()[CHECKS].get(check, check)}{space}{which}"


def _match(table: str, text: str) -> str:
    """Return a sentence of a table in Chinese, its values too where they have a translation."""
    known = _read_tables()[table]
    if text in known or not text:
        return known.get(text, text)
    for pattern, chinese in _patterns(table):
        if found := pattern.fullmatch(text):
            values = {name: _match(table, value) for name, value in found.groupdict().items()}
            return chinese.format(**values)
    return read_chinese().get(text, text)


@cache
def read_chinese() -> dict[str, str]:
    """Return the Chinese of each English text that has one."""
    tables = (table for name, table in _read_tables().items() if name != CHECKS)
    return {english: said for table in tables for english, said in table.items()}


@cache
def _patterns(table: str) -> list[tuple[re.Pattern[str], str]]:
    """Return a pattern for each sentence of a table, those with the most words first."""
    said = _read_tables()[table]
    ordered = sorted(said, key=lambda english: -len(_PLACE.sub("", english)))
    return [(re.compile(_pattern_of(english), re.DOTALL), said[english]) for english in ordered]


def _pattern_of(english: str) -> str:
    pattern, seen = "", set[str]()
    for at, part in enumerate(_PLACE.split(english)):
        if at % 2 == 0:
            pattern += loosen(part) if at else re.escape(part)
        # A name that comes again stands for the same text again.
        else:
            pattern += f"(?P={part})" if part in seen else f"(?P<{part}>.*?)"
            seen.add(part)
    return pattern


@cache
def _read_tables() -> dict[str, dict[str, str]]:
    content = files("kimi_memory.cli").joinpath("zh.toml").read_text(encoding="utf-8")
    return tomllib.loads(content)
