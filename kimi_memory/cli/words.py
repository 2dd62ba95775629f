"""The words of the command line in the reader's language: English, or Chinese where that is set."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from kimi_memory.formats.chinese import (
    read_chinese,
    translate_check,
    translate_finding,
    translate_message,
)
from kimi_memory.nlp.basic.counted import AGREEING, agree

_COUNTED = re.compile(rf"{{(\w+)}} (?P<words>{AGREEING})")


def find_locale() -> str:
    """Return the language that the terminal speaks, as POSIX looks for it."""
    # In the order of POSIX: the first that is set decides.
    names = ("LC_ALL", "LC_MESSAGES", "LANG")
    return next((value for name in names if (value := os.environ.get(name))), "")


def say(text: str, **values: object) -> str:
    """Return an English text in the reader's language, with values in their places."""
    if _reads_chinese():
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
    """Return an English message, its values in their places already, in the reader's language."""
    return translate_message(text) if _reads_chinese() else text


def say_finding(text: str) -> str:
    """Return what a check found in the reader's language, with the parts that have one."""
    return translate_finding(text) if _reads_chinese() else text


def say_check(name: str) -> str:
    """Return the name of a check in the reader's language."""
    return translate_check(name) if _reads_chinese() else name


def _reads_chinese() -> bool:
    return find_locale().startswith("zh")
