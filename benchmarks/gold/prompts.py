"""Prompts written for labelled sessions, and lists of prompts that belong to no memory.

A file of prompts names a corpus and a session after ``#`` and then, on each line, an item
of that session and a prompt to which it matters.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.gold.sessions import GoldSession, Texts

FOLDER = Path(__file__).parent.parent / "prompts"


class Prompt(NamedTuple):
    """A prompt and the item of a session that it needs."""

    corpus: str
    session: str
    item: str
    text: str


def read_prompts(path: Path) -> Iterator[Prompt]:
    """Yield the prompts of a file."""
    corpus = session = ""
    for line in path.read_text("utf-8").splitlines():
        first, _, rest = line.strip().partition(" ")
        if first == "#":
            corpus, session = rest.split()
        elif rest:
            yield Prompt(corpus, session, first, rest)


def read_lines(path: Path) -> list[str]:
    """Return the prompts of a file that has one a line and nothing else."""
    return [line for line in path.read_text("utf-8").splitlines() if line.strip()]


def own_chats(path: Path, texts: Texts) -> Mapping[str, Sequence[GoldSession]]:
    """Return the sessions of a gold file that were written as chats with an assistant."""
    found = defaultdict[str, list[GoldSession]](list)
    for line in path.read_text("utf-8").split("\n"):
        labels = json.loads(line) if line.strip() else {}
        if labels.get("set") == "own_chat":
            found[labels["corpus"]].append(texts.session(labels))
    return found
