"""The model of what is worth keeping: ``python -m benchmarks.worth FILE… [--write]``.

A file holds judged clauses and sentences, one JSON object each: ``text``, ``said`` (work,
answer or chat, see `kimi_memory.nlp.learned.worth`), ``memory`` and ``label`` (worth,
marginal or junk). Texts of one memory are judged by weights made from all others. Printed
are, for each sort,

====  ==========================================================================
auc   how often a text worth keeping is set above one that is not
kept  share of the texts that stay above a threshold, with the threshold, what of
      them is worth keeping and junk, and what of the good ones stays
====  ==========================================================================

``--write`` trains on all of them and writes the weights into the package.
"""

from __future__ import annotations

import argparse
import json
import zlib
from array import array
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kimi_memory.nlp.learned import worth
from kimi_memory.nlp.learned.ngrams import BUCKETS, places_of
from kimi_memory.nlp.learned.worth import SAID, Said

VALUES = {"worth": 1.0, "marginal": 0.4, "junk": 0.0}
STRENGTH, STEPS, FOLDS = 2.0, 8, 8
"""How little weights are drawn to 0; steps of Newton's method; parts that are judged apart."""
WIDTH = 127
"""The largest weight as it is stored."""
SHARES = (0.7, 0.5, 0.35, 0.25, 0.15)

Rows = Sequence[Mapping[str, Any]]
Floats = NDArray[np.float64]


class Model:
    """A logistic regression over hashed n-grams, drawn to 0 by the square of its weights.

    There are more n-grams than texts, so a weight is found for each text instead (the dual
    form; Keerthi et al., "A Fast Dual Algorithm for Kernel Logistic Regression", 2005), by
    Newton's method.

    Args:
        texts: what it learns from.
        values: how much each is worth, 0 to 1.
    """

    def __init__(self, texts: Sequence[str], values: Floats) -> None:
        table = np.array([_count(text) for text in texts], np.float32)
        alike = (table @ table.T).astype(np.float64)
        found, odds = np.zeros(len(values)), np.full(len(values), 0.5)
        for _ in range(STEPS):
            bend = np.maximum(odds * (1 - odds), 1e-4)
            aims = alike @ found + (values - odds) / bend
            found = np.linalg.solve(alike + np.diag(1 / (STRENGTH * bend)), aims)
            odds = 1 / (1 + np.exp(-alike @ found))
        self.weights: Floats = (table.T @ found.astype(np.float32)).astype(np.float64)

    def score(self, text: str) -> float:
        """Return the log odds that a text is worth keeping."""
        return float(_count(text) @ self.weights)


def _count(text: str) -> NDArray[np.float32]:
    """Return the share of each n-gram in a text, and last the bias."""
    shares = np.zeros(BUCKETS + 1, np.float32)
    places = places_of(text)
    shares[places], shares[-1] = 1 / np.sqrt(len(places)), 1
    return shares


def train(rows: Rows) -> dict[Said, Model]:
    """Return the models of judged texts."""
    models = {}
    for said in SAID:
        own = [row for row in rows if row["said"] == said]
        values = np.array([VALUES[row["label"]] for row in own])
        models[said] = Model([row["text"] for row in own], values)
    return models


def pack_weights(weights: Floats) -> bytes:
    """Return weights, a row for each n-gram and the biases last, as the package reads them."""
    scale = np.abs(weights).max() / WIDTH
    stored = np.round(weights / scale).astype(np.int8)
    return zlib.compress(array("f", [scale]).tobytes() + stored.tobytes(), 9)


def judge_aside(rows: Rows) -> Floats:
    """Return the log odds of each text by a model of other memories."""
    memories = sorted({row["memory"] for row in rows})
    parts = {name: at % FOLDS for at, name in enumerate(memories)}
    odds = np.zeros(len(rows))
    for part in range(FOLDS):
        models = train([row for row in rows if parts[row["memory"]] != part])
        for at, row in enumerate(rows):
            if parts[row["memory"]] == part:
                odds[at] = models[Said(row["said"])].score(row["text"])
    return odds


def area(odds: Floats, good: NDArray[np.bool_]) -> float:
    """Return how often a good text is set above another one."""
    ranks = np.empty(len(odds))
    ranks[np.argsort(odds)] = np.arange(1, len(odds) + 1)
    count = int(good.sum())
    pairs = count * (len(odds) - count)
    return float((ranks[good].sum() - count * (count + 1) / 2) / pairs) if pairs else 0.0


def show(sort: str, rows: Rows, odds: Floats) -> None:
    """Print how well the texts of a sort are told apart."""
    good = np.array([row["label"] == "worth" for row in rows])
    junk = np.array([row["label"] == "junk" for row in rows])
    print(f"\n{sort}: {len(rows)} texts, auc {area(odds, good):.3f}")
    for share in SHARES:
        least = float(np.quantile(odds, 1 - share))
        kept = odds >= least
        print(
            f"  kept {100 * kept.mean():4.0f} %  above {least:6.2f}  worth "
            f"{100 * good[kept].mean():3.0f} %  junk {100 * junk[kept].mean():3.0f} %  of the "
            f"good ones {100 * (good & kept).sum() / max(1, good.sum()):3.0f} %"
        )


def main(arguments: Sequence[str] | None = None) -> None:
    """Judge the texts of the files named on the command line, and store the weights."""
    parser = argparse.ArgumentParser(
        prog="benchmarks.worth",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--write", action="store_true", help="store the weights in the package")
    given = parser.parse_args(arguments)
    rows = [json.loads(line) for path in given.files for line in path.open(encoding="utf-8")]
    odds = judge_aside(rows)
    for sort in SAID:
        chosen = [at for at, row in enumerate(rows) if row["said"] == sort]
        if chosen:
            show(sort, [rows[at] for at in chosen], odds[chosen])
    if given.write:
        path = Path(worth.__file__).parent / worth.WEIGHTS
        models = train(rows)
        path.write_bytes(pack_weights(np.stack([models[one].weights for one in SAID], axis=1)))
        print(f"wrote {path.name}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
