"""The Chinese of English messages, known again by the words around their values."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from kimi_memory.nlp.basic.counted import loosen

CHECKS, FINDINGS, MESSAGES = "checks", "findings", "messages"
"""Tables with the names of the checks, with their sentences, and with messages of errors."""
_LONGEST = 1000
"""Characters of a text that is looked for: its places cost more than linear time."""
_PLACE = re.compile(r"{(\w+)}")
_SENTENCE = re.compile(r"(?<=[.?]) (?=[A-Z'])")


def translate_message(text: str) -> str:
    """Return an English message, its values in their places already, in Chinese.

    A message is the sentences that it is made of: one without a translation stays English.
    """
    if not 0 < len(text) <= _LONGEST:
        return text
    # After 。 comes no space.
    said = " ".join(_match(MESSAGES, one) for one in _SENTENCE.split(text))
    return said.replace("。 ", "。").replace("？ ", "？")


def translate_finding(text: str) -> str:
    """Return what a check found in Chinese, with the parts that have one.

    The checks speak English alone; so their sentences are known again by what stands around
    their values.
    """
    return _match(FINDINGS, text) if 0 < len(text) <= _LONGEST else text


def translate_check(name: str) -> str:
    """Return the name of a check in Chinese."""
    # "host codex" is the check of one host.
    check, space, which = name.partition(" ")
    return f"{_read_tables()[CHECKS].get(check, check)}{space}{which}"


@cache
def read_chinese() -> Mapping[str, str]:
    """Return the Chinese of each English text that has one."""
    tables = (table for name, table in _read_tables().items() if name != CHECKS)
    return {english: said for table in tables for english, said in table.items()}


def _match(table: str, text: str) -> str:
    """Return a sentence of a table in Chinese, its values too where they have a translation."""
    # What stands whole in any table goes before a pattern: a thing's name may look like a sentence.
    whole = _read_tables()[table].get(text) or read_chinese().get(text)
    if whole or not text:
        return whole or text
    for pattern, chinese in _patterns(table):
        if found := pattern.fullmatch(text):
            values = {name: _match(table, value) for name, value in found.groupdict().items()}
            return chinese.format(**values)
    return text


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
    content = files("kimi_memory.formats").joinpath("zh.toml").read_text(encoding="utf-8")
    return tomllib.loads(content)
