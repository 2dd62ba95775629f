"""Cost against size as a picture: ``python -m benchmarks.plot`` draws it from the results kept.

It reads every ``speed-notes-*.json`` of benchmarks/results and writes docs/speed.svg.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.record import FOLDER

PICTURE = Path(__file__).parent.parent / "docs" / "speed.svg"
WIDTH, HEIGHT = 760, 470
LEFT, RIGHT, TOP, BOTTOM = 74, 214, 48, 62
LINES = {
    "ms_whoosh": ("Whoosh as it comes", "#cc79a7", "6 4"),
    "ms_fts5": ("SQLite FTS5", "#d55e00", "6 4"),
    "ms_cold": ("ours, words, nothing cached", "#009e73", ""),
    "ms_recall": ("ours, whole recall by words", "#0072b2", ""),
    "ms_hot": ("ours, words asked before", "#56b4e9", ""),
    "ms_tantivy": ("tantivy", "#444444", "6 4"),
}
"""Name, colour that the colour-blind tell apart, and dashes: peers are dashed."""
Point = tuple[float, float]


def points(folder: Path) -> dict[str, list[Point]]:
    """Return (notes, milliseconds) of each line, by size."""
    found: dict[str, list[Point]] = {name: [] for name in LINES}
    for path in folder.glob("speed-notes-*.json"):
        notes = int(path.stem.rpartition("-")[2])
        figures = json.loads(path.read_text(encoding="utf-8"))["figures"]
        for name, line in found.items():
            if name in figures:
                line.append((notes, figures[name]))
    return {name: sorted(line) for name, line in found.items() if line}


class Scale:
    """Where a number stands on a logarithmic axis, in points."""

    def __init__(self, numbers: Sequence[float], start: float, end: float) -> None:
        self._low = 10 ** math.floor(math.log10(min(numbers)))
        # A power of ten is its own end, whatever its logarithm is rounded to.
        self._high = max(10 * self._low, 10 ** math.ceil(round(math.log10(max(numbers)), 6)))
        self._start, self._end = start, end

    def __call__(self, number: float) -> float:
        """Return the place of a number."""
        part = math.log(number / self._low) / math.log(self._high / self._low)
        return round(self._start + part * (self._end - self._start), 1)

    def marks(self) -> Iterator[float]:
        """Yield the powers of ten of the axis."""
        at = self._low
        while at <= self._high * 1.001:
            yield at
            at *= 10


def drawn(lines: Mapping[str, Sequence[Point]]) -> str:
    """Return the picture of some lines."""
    across = Scale([x for line in lines.values() for x, _ in line], LEFT, WIDTH - RIGHT)
    up = Scale([y for line in lines.values() for _, y in line], HEIGHT - BOTTOM, TOP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        'font-family="sans-serif" font-size="13" fill="#222">',
        "<title>Time of one query against the number of notes, both logarithmic</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        f'<text x="{LEFT}" y="24" font-size="15">One query, by the size of the memory</text>',
        *_axes(across, up),
    ]
    for name in lines:
        _, colour, dashes = LINES[name]
        places = [(across(x), up(y)) for x, y in lines[name]]
        path = " ".join(f"{x},{y}" for x, y in places)
        parts.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2.5" '
            f'stroke-dasharray="{dashes or "none"}"/>'
        )
        parts += [f'<circle cx="{x}" cy="{y}" r="3.5" fill="{colour}"/>' for x, y in places]
    return "\n".join([*parts, *_labels(lines, across, up), "</svg>", ""])


def _labels(lines: Mapping[str, Sequence[Point]], across: Scale, up: Scale) -> Iterator[str]:
    """Yield the name of each line beside its end, none on another."""
    above = 0.0
    for name in sorted(lines, key=lambda name: up(lines[name][-1][1])):
        x, y = lines[name][-1]
        above = max(up(y), above + 16)
        yield (
            f'<text x="{across(x) + 9}" y="{above + 4}" fill="{LINES[name][1]}">'
            f"{LINES[name][0]}</text>"
        )


def _axes(across: Scale, up: Scale) -> Iterator[str]:
    low, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    for mark in up.marks():
        y = up(mark)
        yield f'<line x1="{LEFT}" y1="{y}" x2="{right}" y2="{y}" stroke="#ddd"/>'
        yield f'<text x="{LEFT - 8}" y="{y + 4}" text-anchor="end">{mark:g}</text>'
    for mark in across.marks():
        x = across(mark)
        yield f'<line x1="{x}" y1="{TOP}" x2="{x}" y2="{low}" stroke="#ddd"/>'
        yield f'<text x="{x}" y="{low + 18}" text-anchor="middle">{mark:,.0f}</text>'
    middle = (LEFT + right) / 2
    yield f'<text x="{middle}" y="{HEIGHT - 16}" text-anchor="middle">notes</text>'
    half = (TOP + low) / 2
    yield (
        f'<text x="18" y="{half}" text-anchor="middle" transform="rotate(-90 18 {half})">'
        "milliseconds of processor time, median</text>"
    )


def main() -> int:
    """Draw the picture."""
    lines = points(FOLDER)
    if not lines:
        print(f"{FOLDER.name} holds no results: run benchmarks.speed with --save", file=sys.stderr)
        return 1
    PICTURE.write_text(drawn(lines), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
