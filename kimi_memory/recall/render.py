"""Lines of a context and the block that shows them: by section, the best file first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import IntEnum
from itertools import groupby
from typing import NamedTuple

from kimi_memory.nlp.basic.patterns import HAN, regex
from kimi_memory.nlp.basic.safe_text import fence

_HAN = regex(f"[{HAN}]")


class Section(IntEnum):
    """The sections of a block, in the order they are shown."""

    ORDERS = 0
    """What the person asked the agent to do, or likes to have done."""
    KNOWN = 1
    """Cards, events, pages."""
    SAID = 2
    """Turns of conversations."""


TITLES = {
    Section.ORDERS: ("要求", "Orders"),
    Section.KNOWN: ("已知", "Known"),
    Section.SAID: ("对话", "Said"),
}
"""Headings, Chinese and English."""


class Line(NamedTuple):
    """One line that could be shown."""

    id: str
    priority: int
    path: str
    said: str
    first: int = 0
    """First line in its file, 0 where the line is about the whole file."""
    last: int = 0
    labels: tuple[str, ...] = ()
    """Trust, doubt, end of validity."""
    day: str = ""
    value: float = 1.0
    """How much it helps, 0 to 1, as long as nothing else says it."""
    section: Section = Section.SAID
    place: int = 0
    """Within its section the least is shown first."""

    @property
    def lines(self) -> str:
        """``L2`` or ``L2-L5``."""
        run = "" if self.last == self.first else f"-L{self.last}"
        return f"L{self.first}{run}" if self.first else ""


def ordered(lines: Iterable[Line]) -> list[Line]:
    """Return lines as they are shown: by section, the file with the best line first."""
    known, best = list(lines), dict[tuple[Section, int, str], float]()
    for line in known:
        group = line.section, line.place, line.path
        best[group] = max(best.get(group, 0.0), line.value)

    def rank(line: Line) -> tuple[int, int, float, str, int, str]:
        value = best[line.section, line.place, line.path]
        # Turns of one conversation stand as they were said: an answer follows its question.
        return (line.section, line.place, -value, line.path, line.first, line.id)

    return sorted(known, key=rank)


def shown(lines: Sequence[Line], nonce: str) -> str:
    """Return the block of these lines."""
    parts, english = list[str](), not _is_chinese(lines)
    for section, of in groupby(ordered(lines), key=lambda line: line.section):
        parts.append(f"## {TITLES[section][english]}")
        for _, group in groupby(of, key=lambda line: line.path):
            parts += of_file(list(group))
    return fence(parts, nonce)


def _is_chinese(lines: Sequence[Line]) -> bool:
    """Whether most lines hold a Chinese character."""
    held = sum(not line.said.isascii() and bool(_HAN.search(line.said)) for line in lines)
    return 2 * held > len(lines)


def of_file(lines: Sequence[Line]) -> list[str]:
    """Return the lines of one file; from the second on, its name stands above them."""
    if len(lines) == 1:
        return [alone(lines[0])]
    day = common_day(lines)
    return [heading(lines[0].path, day), *(under(line, day) for line in lines)]


def common_day(lines: Sequence[Line]) -> str:
    """Return the day that all lines are of, if any; what has no day goes with every day."""
    days = {line.day for line in lines if line.first}
    return days.pop() if len(days) == 1 else ""


def alone(line: Line) -> str:
    """Return a line that names its own file."""
    place = f"{line.path}#{line.lines}" if line.first else line.path
    return f"- {_format_labels(line, line.day)}{line.said} ({place})"


def heading(path: str, day: str) -> str:
    """Return what stands above the lines of a file."""
    return f"- {path}, {day}:" if day else f"- {path}:"


def under(line: Line, day: str) -> str:
    """Return a line below the name of its file, and its day if that is `day`."""
    place = f"{line.lines} " if line.first else ""
    return f"- {place}{_format_labels(line, '' if day else line.day)}{line.said}"


def _format_labels(line: Line, day: str) -> str:
    # Whose word it is comes first: an agent must see at once that a person said it.
    trust, rest = line.labels[:1], line.labels[1:]
    told = ", ".join((*trust, *([day] if day else ()), *rest))
    return f"[{told}] " if told else ""
