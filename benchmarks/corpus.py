"""Notes to measure speed with: sections of real Markdown, or words drawn by Zipf's law.

Real notes are cut from the tarballs in ``vaults/`` of the data folder (tldr-pages, CC BY
4.0, github.com/tldr-pages/tldr; LCTT/TranslateProject, Apache-2.0). Where a tarball has
fewer sections than notes are wanted, further notes are sewn from its paragraphs.
"""

from __future__ import annotations

import random
import re
import tarfile
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Literal

Language = Literal["en", "zh"]

SHORTEST, LONGEST = 50, 300
"""Words of a note; a Chinese character counts as half a word."""
PER_FOLDER = 100
SOURCES = {"en": ("tldr.tar.gz", "/pages/"), "zh": ("lctt_zh.tar.gz", "/")}
_HAN = re.compile(r"[\u4e00-\u9fff]")
_WORD = re.compile(r"[A-Za-z0-9]+")
_BLANK = re.compile(r"\n\s*\n")
_COMMON = 7_000
"""Characters that the made-up Chinese is drawn from, pairwise words among them."""


def notes(language: Language, count: int, data: Path | None) -> Iterator[str]:
    """Yield so many notes as Markdown, the same ones at every call."""
    name, folder = SOURCES[language]
    tarball = data / "vaults" / name if data else None
    if tarball is None or not tarball.exists():
        yield from islice(_drawn(language), count)
        return
    yield from islice(_real(tarball, folder, language), count)


def _real(tarball: Path, folder: str, language: Language) -> Iterator[str]:
    paragraphs = list(_paragraphs(tarball, folder, language))
    yield from _sections(paragraphs)
    chance = random.Random(11)
    while True:
        yield from _sections(chance.sample(paragraphs, 200))


def _paragraphs(tarball: Path, folder: str, language: Language) -> Iterator[str]:
    with tarfile.open(tarball) as pages:
        for member in pages:
            if member.isfile() and folder in member.name and member.name.endswith(".md"):
                file = pages.extractfile(member)
                text = file.read().decode("utf-8", "replace") if file else ""
                for part in _BLANK.split(text):
                    if part.strip() and bool(_HAN.search(part)) == (language == "zh"):
                        yield part.strip()


def size(text: str) -> int:
    """Return about how many words a text has."""
    return len(_WORD.findall(text)) + len(_HAN.findall(text)) // 2


def _sections(paragraphs: list[str]) -> Iterator[str]:
    """Join paragraphs to sections of 50 to 300 words; longer ones are left out."""
    held: list[str] = []
    words = 0
    for part in paragraphs:
        more = size(part)
        if more > LONGEST:
            continue
        if words + more > LONGEST or (words >= SHORTEST and part.startswith("#")):
            if words >= SHORTEST:
                yield "\n\n".join(held) + "\n"
            held, words = [], 0
        held.append(part)
        words += more


def _drawn(language: Language) -> Iterator[str]:
    chance = random.Random(7)
    word, glue = _maker(language)
    words = [word(number) for number in range(50_000)]
    weights = [1 / (number + 10) for number in range(len(words))]
    number = 0
    while True:
        text = glue.join(chance.choices(words, weights, k=chance.randint(SHORTEST, LONGEST)))
        yield f"# {words[number % len(words)]}\n\n{text}\n"
        number += 1


def _maker(language: Language) -> tuple[Callable[[int], str], str]:
    chance = random.Random(5)
    if language == "en":
        letters = "abcdefghijklmnopqrstuvwxyz"
        return (lambda _: "".join(chance.choices(letters, k=chance.randint(3, 9)))), " "
    han = [chr(0x4E00 + number) for number in range(_COMMON)]
    weights = [1 / (number + 30) for number in range(len(han))]
    return (lambda _: "".join(chance.choices(han, weights, k=2))), ""


def write(root: Path, texts: Iterator[str]) -> list[Path]:
    """Write notes as files below ``notes/`` of a memory, a hundred a folder."""
    found = []
    for number, text in enumerate(texts):
        folder = root / "notes" / f"{number // PER_FOLDER:04d}"
        if number % PER_FOLDER == 0:
            folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{number:06d}.md"
        path.write_text(text, encoding="utf-8")
        found.append(path)
    return found
