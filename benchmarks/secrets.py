"""The weights of what speaks for a secret: ``python -m benchmarks.secrets [--write]``.

Learned from are invented lines (``benchmarks/gold/secrets``: learned, first and told), each filled
in several times, and the pages and the code of this repository, which hold no secret. Every value
that a word may announce in them is a row: its signs, and whether it is a piece of a secret. The
model is a logistic regression whose weights are drawn to 0, most of them all the way. Printed
are, for each file of lines,

=======  ===================================================================
masked   secrets of which no letter or digit is left, by all rules together
flagged  lines without a secret in which something is masked
=======  ===================================================================

kept, unseen and fresh are never learned from. ``--write`` stores the weights in the package.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import re2
from kimi_memory.plugins import privacy
from numpy.typing import NDArray

from benchmarks.secret_lines import FOLDER, read_lines, survives
from kimi_memory.nlp.learned import secrets
from kimi_memory.nlp.rules.announced_values import find_announced_values, find_candidates
from kimi_memory.nlp.rules.secret_rules import RULES

LEARNED = ("learned", "first", "told")
ASIDE = ("kept", "unseen", "fresh")
FILLS, TRIES = 6, 3
"""How often each line is filled in, to learn from it and to be judged by it."""
ROOT = Path(__file__).parent.parent
PAGES = (
    *("README*.md", "docs/**/*.md", "changelog.d/*.md", "benchmarks/gold/talks.jsonl"),
    *("kimi_memory/**/*.py", "plugins/**/*.py", "integrations/**/*.*", "deploy/*"),
)
"""Texts of this repository, in which every value is innocent."""
DRAWN, STEPS, SEEN = 0.5, 800, 3
"""How strongly weights are drawn to 0; steps; rows a sign stands in at least."""
SOFT = frozenset(("email", "phone", "cn-mobile"))
"""Rules for what is private and no secret."""

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Row(NamedTuple):
    """A value that a word may announce."""

    signs: tuple[str, ...]
    is_secret: bool


def read_rows() -> Iterator[Row]:
    """Yield the values of all that is learned from."""
    for name in LEARNED:
        for seed in range(FILLS):
            for line in read_lines(FOLDER / f"{name}.txt", seed):
                yield from _rows_of(line.text, line.places())
    for path in sorted(one for pattern in PAGES for one in ROOT.glob(pattern) if one.is_file()):
        yield from _rows_of(path.read_text(encoding="utf-8"), [])


def _rows_of(text: str, secret: Sequence[tuple[int, int]]) -> Iterator[Row]:
    for rule in RULES:
        if rule.scan is not find_announced_values:
            continue
        for word in re2.compile(rule.pattern).finditer(text):
            for value, signs in find_candidates(text, *word.span()):
                inside = any(a <= value.start and value.end <= b for a, b in secret)
                if inside or not any(a < value.end and value.start < b for a, b in secret):
                    yield Row(tuple(signs), inside)


def fit(rows: Sequence[Row]) -> dict[str, float]:
    """Return the weight of each sign that has one; that of "" counts always.

    By accelerated proximal steps (Beck and Teboulle, "A Fast Iterative Shrinkage-Thresholding
    Algorithm for Linear Inverse Problems", 2009).
    """
    counts = Counter(sign for row in rows for sign in row.signs)
    names = ["", *sorted(sign for sign, count in counts.items() if count >= SEEN)]
    places = {name: at for at, name in enumerate(names)}
    each = [[0, *(places[sign] for sign in row.signs if sign in places)] for row in rows]
    columns = np.array([place for one in each for place in one])
    starts = np.cumsum([0, *(len(one) for one in each[:-1])])
    owners = np.repeat(np.arange(len(each)), [len(one) for one in each])
    aims = np.array([row.is_secret for row in rows], float)
    found = _step_down(columns, starts, owners, aims, len(names))
    return {name: weight for name, weight in zip(names, found.tolist(), strict=True) if weight}


def _step_down(columns: Ints, starts: Ints, owners: Ints, aims: Floats, size: int) -> Floats:
    # No row has more signs, so the loss bends less than this.
    step = 4 / (np.bincount(owners).max() * len(aims))
    found = ahead = np.zeros(size)
    pace = 1.0
    for _ in range(STEPS):
        odds = np.add.reduceat(ahead[columns], starts)
        left = 1 / (1 + np.exp(-odds)) - aims
        moved = ahead - step * np.bincount(columns, left[owners], size)
        drawn = np.sign(moved) * np.maximum(np.abs(moved) - step * DRAWN, 0)
        drawn[0] = moved[0]
        faster = (1 + (1 + 4 * pace**2) ** 0.5) / 2
        ahead = drawn + (pace - 1) / faster * (drawn - found)
        found, pace = drawn, faster
    return found


def write_weights(found: Mapping[str, float]) -> None:
    """Store weights in the package, in hundredths."""
    rows = ((round(100 * weight), sign) for sign, weight in sorted(found.items()))
    text = "".join(f"{weight}\t{sign}\n" for weight, sign in rows if weight or not sign)
    (Path(secrets.__file__).parent / secrets.WEIGHTS).write_text(text, encoding="utf-8")
    secrets.read_weights.cache_clear()


class Figures(NamedTuple):
    """What the rules do with the lines of a file."""

    secrets: int
    masked: int
    ordinary: int
    flagged: int


def judge(name: str) -> Figures:
    """Return what all rules together do with the lines of a file."""
    plugin = privacy.create({})
    lines = [line for seed in range(TRIES) for line in read_lines(FOLDER / f"{name}.txt", seed)]
    held = [line for line in lines if line.secrets]
    free = [line for line in lines if not line.secrets]
    masked = sum(not survives(line, plugin.screen_text(line.text)) for line in held)
    flagged = sum(any(one.rule not in SOFT for one in plugin.screen_text(f.text)) for f in free)
    return Figures(len(held), masked, len(free), flagged)


def main(arguments: Sequence[str] | None = None) -> None:
    """Store new weights if it is asked for, and print what they do."""
    parser = argparse.ArgumentParser(
        prog="benchmarks.secrets",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--write", action="store_true", help="store the weights in the package")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    given = parser.parse_args(arguments)
    if given.write:
        write_weights(fit([*read_rows()]))
    figures = {name: judge(name) for name in (*LEARNED, *ASIDE)}
    if given.json:
        print(json.dumps({name: one._asdict() for name, one in figures.items()}))
        return
    for name, one in figures.items():
        masked, flagged = one.masked / one.secrets, one.flagged / one.ordinary
        sort = "aside" if name in ASIDE else "learned"
        print(
            f"{name:8} {sort:8} masked {one.masked:4} of {one.secrets:4} = {masked:6.1%}   "
            f"flagged {one.flagged:3} of {one.ordinary:4} = {flagged:5.2%}"
        )


if __name__ == "__main__":
    main()
