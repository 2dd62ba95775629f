"""The weights of what a line of a digest shows: ``python -m benchmarks.line_worth FILE…``.

A file holds judged lines, one JSON object each: ``text``, ``part``, ``sort`` (work, chat or
people), ``memory``, ``label`` (worth, marginal or junk) and, where it is not 1, ``weight``.
Lines of one memory are judged by weights fitted to the lines of all others. Printed are

========  ======================================================================
auc       how often a line worth keeping is set above one that is not
kept      share of the lines that stay above a threshold, with the threshold,
          what of them is worth keeping and junk, and what of the good ones stays
========  ======================================================================

``--print`` shows the weights for the two tables of `kimi_memory.nlp.rules.line_worth`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kimi_memory.nlp.rules.line_worth import line_signs

Floats = NDArray[np.float64]
VALUES = {"worth": 1.0, "marginal": 0.4, "junk": 0.0}
RIDGE = 10.0
"""How strongly weights are drawn to 0."""
STEPS = 30
SORTS = {"work": ("work",), "talk": ("chat", "people")}
SIGNS = {
    "work": """bias short part_asked part_ordered part_open part_decided chore defect goes_on
        status answer_fine loose lower answer_you once habit future pronoun answer_did
        answer_names answer_parts answer_tokens specific some_specific tokens rule style""",
    "talk": """bias short fleeting once fact standing question cut pronoun future today name you
        you_only doubt lower habit unit opinion day lasting specific worth part_ordered
        part_decided part_told sort_people tokens small_talk choice""",
}
SHARES = (1.0, 0.85, 0.8, 0.75, 0.7, 0.6, 0.5)


class Lines(NamedTuple):
    """Judged lines as numbers."""

    signs: Floats
    values: Floats
    weights: Floats
    memories: list[str]

    def part(self, chosen: NDArray[np.bool_]) -> Lines:
        """Return some of the lines."""
        names = [name for name, one in zip(self.memories, chosen, strict=True) if one]
        return Lines(self.signs[chosen], self.values[chosen], self.weights[chosen], names)


def read_lines(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> Lines:
    """Return judged lines as numbers.

    Args:
        rows: the lines.
        names: the signs that are looked at.
    """
    signs = [line_signs(row["text"], row["part"], row["sort"]) for row in rows]
    table = np.array([[one.get(name, 0.0) for name in names] for one in signs])
    values = np.array([VALUES[row["label"]] for row in rows])
    weights = np.array([float(row.get("weight", 1.0)) for row in rows])
    return Lines(table, values, weights, [row["memory"] for row in rows])


def fit(lines: Lines) -> Floats:
    """Return the weights of a logistic regression with a ridge, by Newton's method."""
    found = np.zeros(lines.signs.shape[1])
    for _ in range(STEPS):
        odds = 1 / (1 + np.exp(-lines.signs @ found))
        slope = lines.signs.T @ (lines.weights * (odds - lines.values)) + RIDGE * found
        curve = lines.weights * odds * (1 - odds)
        bend = (lines.signs * curve[:, None]).T @ lines.signs + RIDGE * np.eye(len(found))
        found -= np.linalg.solve(bend, slope)
    return found


def judge_aside(lines: Lines) -> Floats:
    """Return the odds of each line by the lines of all other memories."""
    odds = np.zeros(len(lines.values))
    memories = np.array(lines.memories)
    for name in sorted(set(lines.memories)):
        own = memories == name
        odds[own] = lines.signs[own] @ fit(lines.part(~own))
    return odds


def area(odds: Floats, good: NDArray[np.bool_]) -> float:
    """Return how often a good line is set above another one."""
    ranks = np.empty(len(odds))
    ranks[np.argsort(odds)] = np.arange(1, len(odds) + 1)
    count = int(good.sum())
    pairs = count * (len(odds) - count)
    return float((ranks[good].sum() - count * (count + 1) / 2) / pairs) if pairs else 0.0


def show(sort: str, lines: Lines) -> None:
    """Print how well the lines of a sort are told apart."""
    odds, good, junk = judge_aside(lines), lines.values == 1, lines.values == 0
    print(f"\n{sort}: {len(odds)} lines, auc {area(odds, good):.3f}")
    for share in SHARES:
        least = float(np.quantile(odds, 1 - share))
        kept = odds >= least
        print(
            f"  kept {100 * kept.mean():4.0f} %  above {least:6.2f}  worth "
            f"{100 * good[kept].mean():3.0f} %  junk {100 * junk[kept].mean():3.0f} %  of the "
            f"good ones {100 * (good & kept).sum() / good.sum():3.0f} %"
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """Judge the lines of the files named on the command line."""
    parser = argparse.ArgumentParser(
        prog="benchmarks.line_worth",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--print", action="store_true", help="print the weights")
    given = parser.parse_args(arguments)
    rows = [json.loads(line) for path in given.files for line in path.open(encoding="utf-8")]
    for sort, sorts in SORTS.items():
        names = SIGNS[sort].split()
        lines = read_lines([row for row in rows if row["sort"] in sorts], names)
        if not len(lines.values):
            continue
        show(sort, lines)
        if given.print:
            weights = dict(zip(names, fit(lines), strict=True))
            print("".join(f'    "{name}": {weight:.2f},\n' for name, weight in weights.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
