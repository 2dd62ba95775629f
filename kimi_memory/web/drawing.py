"""Drawings: places and sizes of what a template writes as SVG; colours are those of the sheet."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from kimi_memory.recall.vicinity import Spot, Vicinity

SERIES = 6
"""So many kinds have a colour of their own; the others share the last."""
_WIDTH, _HEIGHT, _LEFT, _BELOW = 720, 150, 44, 18
_CELL, _LEVELS = 13, 4
GRAPH_WIDTH, GRAPH_HEIGHT, _EDGE = 900, 480, 44
_LINE, _LATIN, _WIDE = 15, 6.7, 12.5
_SAYS = 20.0
"""Widest label of a note, in wide letters."""


class Box(NamedTuple):
    """One rectangle."""

    x: float
    y: float
    width: float
    height: float
    look: str
    """Its class in the style sheet."""
    says: str
    to: str = ""


class Mark(NamedTuple):
    """One word beside a drawing."""

    x: float
    y: float
    text: str


class Chart(NamedTuple):
    """Bars, one for each day, with the kinds they are made of; or squares."""

    width: int
    height: int
    boxes: tuple[Box, ...]
    marks: tuple[Mark, ...]
    names: tuple[tuple[str, str, int], ...] = ()
    """Name, class and sum of each kind, the most frequent first."""


def bars(days: Sequence[tuple[date, Mapping[str, int]]]) -> Chart:
    """Draw the sum of each day, by kind."""
    sums: dict[str, int] = {}
    for _, counts in days:
        for name, count in counts.items():
            sums[name] = sums.get(name, 0) + count
    order = sorted(sums, key=lambda name: (-sums[name], name))
    look = {name: f"s{min(number, SERIES - 1)}" for number, name in enumerate(order)}
    most = max([sum(counts.values()) for _, counts in days] or [0]) or 1
    step, tall = (_WIDTH - _LEFT) / max(len(days), 1), _HEIGHT - _BELOW - 8
    boxes = list[Box]()
    for number, (day, counts) in enumerate(days):
        top = float(_HEIGHT - _BELOW)
        for name in (one for one in order if counts.get(one)):
            height = counts[name] / most * tall
            top -= height
            x = _LEFT + number * step
            says = f"{day.isoformat()}  {name}  {counts[name]}"
            boxes.append(Box(round(x, 1), round(top, 1), round(max(step - 2, 1), 1),
                             round(height, 1), look[name], says))  # fmt: skip
    marks = [Mark(_LEFT - 6, 14, _short(most)), Mark(_LEFT - 6, _HEIGHT - _BELOW, "0")]
    every = max(1, round(len(days) / 6))
    marks += [
        Mark(round(_LEFT + number * step, 1), _HEIGHT - 3, f"{day:%m-%d}")
        for number, (day, _) in enumerate(days)
        if number % every == 0
    ]
    names = tuple((name, look[name], sums[name]) for name in order)
    return Chart(_WIDTH, _HEIGHT, tuple(boxes), tuple(marks), names)


def _short(number: int) -> str:
    for size, unit in ((1_000_000, "M"), (10_000, "k")):
        if number >= size:
            return f"{number / (1000 if unit == 'k' else size):.0f}{unit}"
    return str(number)


def heat(last: date, counts: Sequence[int]) -> Chart:
    """Draw how much each day holds, one column a week; the last of them is `last`."""
    most = max([*counts, 1])
    first = last - timedelta(days=len(counts) - 1)
    lead = first.weekday()
    boxes, marks = list[Box](), list[Mark]()
    for number, count in enumerate(counts):
        day, place = first + timedelta(days=number), number + lead
        x, y = place // 7 * _CELL, place % 7 * _CELL + 14
        level = min(_LEVELS, 1 + int(3.99 * (count / most) ** 0.5)) if count else 0
        to = f"/timeline?month={day:%Y-%m}#d{day.isoformat()}" if count else ""
        boxes.append(Box(x, y, _CELL - 2, _CELL - 2, f"h{level}", f"{day} · {count}", to))
        if day.day == 1:
            marks.append(Mark(x, 10, f"{day:%m}".lstrip("0")))
    width = (len(counts) + lead + 6) // 7 * _CELL
    return Chart(width, 7 * _CELL + 14, tuple(boxes), tuple(marks))


class Knot(NamedTuple):
    """A note on a drawing."""

    spot: Spot
    x: float
    y: float
    size: float
    label: str
    """Empty where there is no room for it."""
    at: tuple[float, float]
    """Where its label begins, or ends …"""
    anchor: str
    """… by this."""


class Line(NamedTuple):
    """A link on a drawing."""

    x1: float
    y1: float
    x2: float
    y2: float
    width: float
    look: str
    says: str


class Net(NamedTuple):
    """The picture of a neighbourhood."""

    width: int
    height: int
    knots: tuple[Knot, ...]
    lines: tuple[Line, ...]


def net(found: Vicinity) -> Net:
    """Draw a neighbourhood; labels stand where they cover no other."""
    width, height = GRAPH_WIDTH, GRAPH_HEIGHT
    places = {
        spot.unit.id: (
            round(_EDGE + spot.x * (width - 2 * _EDGE), 1),
            round(_EDGE + spot.y * (height - 2 * _EDGE), 1),
        )
        for spot in found.spots
    }
    lines = tuple(
        Line(
            *places[tie.source.id], *places[tie.target.id], round(0.6 + 2.4 * tie.weight, 1),
            "tie derived" if tie.derived else "tie", tie.rel,
        )
        for tie in found.ties
    )  # fmt: skip
    taken: list[tuple[float, ...]] = [(x - 9, y - 9, x + 9, y + 9) for x, y in places.values()]
    knots = tuple(_knot(spot, places[spot.unit.id], taken) for spot in found.spots)
    return Net(width, height, knots, lines)


def _knot(spot: Spot, place: tuple[float, float], taken: list[tuple[float, ...]]) -> Knot:
    x, y = place
    size = 9.0 if spot.hops == 0 else 6.5 if spot.hops == 1 else 5.0
    label = _cut(" ".join((spot.unit.title or spot.unit.text or spot.unit.key).split()))
    wide, gap = _width(label), size + 4
    for left, top, anchor, at in (
        (x + gap, y - _LINE / 2, "start", (x + gap, y + 4)),
        (x - gap - wide, y - _LINE / 2, "end", (x - gap, y + 4)),
        (x - wide / 2, y + gap, "middle", (x, y + gap + 11)),
        (x - wide / 2, y - gap - _LINE, "middle", (x, y - gap - 3)),
    ):
        box = (left, top, left + wide, top + _LINE)
        if left > 2 and box[2] < GRAPH_WIDTH - 2 and not any(_overlaps(box, o) for o in taken):
            taken.append(box)
            return Knot(spot, x, y, size, label, (round(at[0], 1), round(at[1], 1)), anchor)
    return Knot(spot, x, y, size, "", (x, y), "start")


def _overlaps(one: Iterable[float], other: Iterable[float]) -> bool:
    left, top, right, bottom = one
    left2, top2, right2, bottom2 = other
    return left < right2 and left2 < right and top < bottom2 and top2 < bottom


def _cut(text: str) -> str:
    width = 0.0
    for at, letter in enumerate(text):
        width += _width(letter) / _WIDE
        if width > _SAYS:
            return f"{text[:at].rstrip()}…"
    return text


def _width(text: str) -> float:
    return sum(_WIDE if unicodedata.east_asian_width(one) in "WF" else _LATIN for one in text)
