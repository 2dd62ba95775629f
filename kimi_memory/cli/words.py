"""The words of the command line in the reader's language: English, or Chinese where that is set."""

from __future__ import annotations

import os
import tomllib
from functools import cache
from importlib.resources import files


def find_locale() -> str:
    """Return the language that the terminal speaks, as POSIX looks for it."""
    # In the order of POSIX: the first that is set decides.
    names = ("LC_ALL", "LC_MESSAGES", "LANG")
    return next((value for name in names if (value := os.environ.get(name))), "")


def say(text: str, **values: object) -> str:
    """Return an English text in the reader's language, with values in their places."""
    if find_locale().startswith("zh"):
        text = read_chinese().get(text, text)
    return text.format(**values) if values else text


@cache
def read_chinese() -> dict[str, str]:
    """Return the Chinese of each English text that has one."""
    content = files("kimi_memory.cli").joinpath("zh.toml").read_text(encoding="utf-8")
    tables = tomllib.loads(content)
    return {english: said for table in tables.values() for english, said in table.items()}
