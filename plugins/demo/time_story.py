"""The story of ``demo time``: a belief from its birth to its correction, across a branch."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from kimi_memory.errors import KimiMemoryError

BORN, BRANCH, KEY = "born", "trial", "deploy.port"
_LOCALES = {"en": "C.UTF-8", "zh": "zh_CN.UTF-8"}
_TRUST = '\n[consolidation]\nexternal_edits = "trust"\n'
_TURN = "TURN"
"""Stands for the turn that corrected the belief."""


class Words(NamedTuple):
    """What is said in one language."""

    first: str
    tried: str
    corrected: str
    question: str
    titles: tuple[str, ...]


WORDS = {
    "en": Words(
        "The deploy port is 8080.",
        "The deploy port is 9090.",
        "The deploy port is 8443 now.",
        "deploy port",
        (
            "A belief is born, and this version gets a name",
            "On a branch of the memory something else is tried",
            "Meanwhile you correct the belief here",
            "The branch is merged: the later word stands, and no word is lost",
            "What was known when the belief was born?",
            "What is believed otherwise since then, and why?",
            "The whole life of the belief",
            "Since when does it say so, and which words brought it?",
            "Where does it come from?",
            "What would be believed had you never corrected it?",
            "Everything can go back to the beginning (here only shown)",
            "All of it is sound",
        ),
    ),
    "zh": Words(
        "部署端口是 8080。",
        "部署端口是 9090。",
        "部署端口现在改成 8443。",
        "部署端口",
        (
            "一条认识诞生，给这个版本取个名字",
            "在记忆的一个分支上，试试别的值",
            "与此同时，您在这边更正了它",
            "合并分支：后说的为准，说过的话一句不丢",
            "这条认识诞生时，记忆知道什么？",
            "从那以后，哪些认识变了，为什么？",
            "这条认识的一生",
            "从何时起这样说，是哪句话带来的？",
            "它从哪里来？",
            "假如您从没更正过，现在会相信什么？",
            "一切都可以回到起点（这里只预览）",
            "检查一遍：完好无损",
        ),
    ),
}


def tell_story(folder: Path, language: str) -> Iterator[str]:
    """Yield the lines of the story; each command is run as it is shown.

    Args:
        folder: a new or empty one; the memory and its branch are made in it.
        language: ``en`` or ``zh``.

    Raises:
        KimiMemoryError: a command failed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    words, shell = WORDS[language], _Shell(folder, language)
    shell.run(("init", "memory", "--name", "Demo", "--language", language))
    settings = folder / "memory/memory.toml"
    # What your own branches say counts at once here; else it would wait for your word.
    settings.write_text(settings.read_text(encoding="utf-8") + _TRUST, encoding="utf-8")
    turn = ""
    for number, (title, commands) in enumerate(zip(words.titles, _list_steps(words), strict=True)):
        yield f"{number + 1} · {title}"
        for command in commands:
            if _TURN in command:
                turn = turn or shell.find_turn(words.corrected)
            shown = [turn if word == _TURN else word for word in command]
            yield f"  $ kimi-memory {' '.join(_quote(word) for word in shown)}"
            yield from (f"    {line}" for line in shell.run(shown).splitlines())
        yield ""


def _list_steps(words: Words) -> list[list[Sequence[str]]]:
    """Return the commands of each step."""
    there = ("--memory", f"memory-{BRANCH}")
    return [
        [("remember", words.first, "--key", KEY), ("name", BORN)],
        [("branch", "add", BRANCH), ("remember", words.tried, "--key", KEY, *there)],
        [("remember", words.corrected, "--key", KEY)],
        [("merge", BRANCH, "--dry-run"), ("merge", BRANCH)],
        [("recall", words.question, "--limit", "1", "--as-of", BORN)],
        [("diff", BORN, "HEAD", "--beliefs", "--why")],
        [("timeline", KEY)],
        [("bisect", KEY, "--says", "8443")],
        [("blame", KEY)],
        [("replay", "--without", _TURN)],
        [("rollback", BORN, "--dry-run")],
        [("verify",)],
    ]


class _Shell:
    """Runs commands in a folder, as a person does who types them."""

    def __init__(self, folder: Path, language: str) -> None:
        self._folder = folder
        self._environment = {
            **os.environ, "KIMI_MEMORY": "memory", "LC_ALL": _LOCALES[language],
        }  # fmt: skip

    def run(self, words: Sequence[str]) -> str:
        """Return what a command prints."""
        done = subprocess.run(
            [sys.executable, "-m", "kimi_memory", *words], cwd=self._folder,
            env=self._environment, capture_output=True, encoding="utf-8", check=False,
        )  # fmt: skip
        if done.returncode:
            raise KimiMemoryError(f"'{' '.join(words)}' failed: {done.stderr.strip()}")
        return done.stdout.rstrip()

    def find_turn(self, text: str) -> str:
        """Return the turn in which something was said."""
        lines = json.loads(self.run(("blame", KEY, "--json")))
        turns = [turn for line in lines for turn in line["turns"]]
        return next(str(turn["source"]) for turn in turns if turn["text"] == text)


def _quote(word: str) -> str:
    return f'"{word}"' if " " in word or not word.isascii() else word
