"""The model that tells what a sentence is: ``python -m benchmarks.utterance_kinds [--write]``.

Reads the labelled sentences in ``utterances/*.jsonl``, trains on nine of ten and prints what
it makes of the tenth; `--write` trains on all of them and writes the weights into the package.
``--chats lifebench_zh.dev.jsonl`` counts turns of chats that are taken for orders for ever:
almost nobody gives one there, so nearly all of them are mistakes.
"""

from __future__ import annotations

import argparse
import json
import re
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.worth import pack_weights
from kimi_memory.nlp.learned import utterance_kinds
from kimi_memory.nlp.learned.ngrams import BUCKETS, places_of
from kimi_memory.nlp.learned.utterance_kinds import KINDS, Kind
from kimi_memory.nlp.rules.chat_clauses import chat_clauses, orders_always
from kimi_memory.nlp.rules.utterance import Act

SENTENCES = Path(__file__).parent / "utterances"
ASIDE = 10
"""Every line of this number is kept aside."""
ROUNDS, RATE = 15, 0.25
"""Passes over all lines, step size."""


def read_lines(*paths: Path) -> list[tuple[str, int]]:
    """Return the sentences of some files with the numbers of their kinds."""
    lines = [json.loads(line) for path in paths for line in path.read_text("utf-8").splitlines()]
    return [(one["text"], KINDS.index(Kind(one["label"]))) for one in lines]


class Model:
    """A softmax over hashed n-grams.

    Args:
        lines: sentences with the numbers of their kinds.
        seed: of the order in which they are read.
    """

    def __init__(self, lines: Sequence[tuple[str, int]], seed: int = 1) -> None:
        self.weights = np.zeros((BUCKETS + 1, len(KINDS)))
        self._squares = np.full((BUCKETS + 1, len(KINDS)), 1e-6)
        order = np.random.default_rng(seed)
        places = [np.array([*places_of(text), BUCKETS]) for text, _ in lines]
        for _ in range(ROUNDS):
            for at in order.permutation(len(lines)):
                self._learn(places[at], lines[at][1])
        # Rare n-grams say little of their own.
        self.weights[np.abs(self.weights) < 1e-3] = 0

    def _learn(self, places: np.ndarray, kind: int) -> None:
        error = self.judge(places)
        error[kind] -= 1
        shares = self._shares(places)[:, None]
        slope = shares * error[None, :]
        # AdaGrad (Duchi et al., 2011): n-grams that are often seen learn in smaller steps.
        self._squares[places] += slope**2
        self.weights[places] -= RATE * slope / np.sqrt(self._squares[places])

    def judge(self, places: np.ndarray) -> np.ndarray:
        """Return how likely each kind is."""
        scores = (self._shares(places)[:, None] * self.weights[places]).sum(axis=0)
        odds: np.ndarray = np.exp(scores - scores.max())
        return odds / odds.sum()

    @staticmethod
    def _shares(places: np.ndarray) -> np.ndarray:
        shares = np.full(len(places), 1 / np.sqrt(len(places) - 1))
        shares[-1] = 1  # the bias
        return shares


def report(model: Model, lines: Sequence[tuple[str, int]]) -> None:
    """Print precision and recall of each kind."""
    found = [int(model.judge(np.array([*places_of(text), BUCKETS])).argmax()) for text, _ in lines]
    right = sum(one == kind for one, (_, kind) in zip(found, lines, strict=True))
    print(f"{len(lines)} lines, {100 * right / max(1, len(lines)):.1f} % right")
    for at, kind in enumerate(KINDS):
        told = [meant for one, (_, meant) in zip(found, lines, strict=True) if one == at]
        meant = [one for one, (_, which) in zip(found, lines, strict=True) if which == at]
        hits = sum(one == at for one in meant)
        print(
            f"  {kind:9} of {len(meant):4} found {hits:4}, of {len(told):4} called so right {hits}"
        )


def count_orders(path: Path) -> tuple[int, int]:
    """Return how many turns of a person chats with an assistant have, and how many order."""
    docs = (doc for line in path.open(encoding="utf-8") for doc in json.loads(line)["docs"])
    chats = (doc["text"] for doc in docs if doc["id"].startswith("agent_chat"))
    turns = [turn for chat in chats for turn in re.split(r"\n(?=(?:user|assistant): )", chat)]
    spoken = [turn.removeprefix("user: ") for turn in turns if turn.startswith("user: ")]
    return len(spoken), sum(map(_orders, spoken))


def _orders(text: str) -> bool:
    ordered = (clause for clause in chat_clauses(text) if clause.act is Act.ORDER)
    return any(orders_always(clause.text) for clause in ordered)


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, print, and with `--write` store the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="store the weights in the package")
    parser.add_argument("--chats", nargs="+", type=Path, default=[], help="files of LifeBench")
    wanted = parser.parse_args(arguments)
    for path in wanted.chats:
        turns, ordered = count_orders(path)
        print(f"{path.name}: {turns} turns, {ordered} taken for orders for ever")
    if wanted.chats:
        return
    lines = read_lines(*sorted(SENTENCES.glob("*.jsonl")))
    kept = [line for line in lines if zlib.crc32(line[0].encode()) % ASIDE == 0]
    rest = [line for line in lines if zlib.crc32(line[0].encode()) % ASIDE]
    report(Model(rest), kept)
    if wanted.write:
        path = Path(utterance_kinds.__file__).parent / utterance_kinds.WEIGHTS
        path.write_bytes(pack_weights(Model(lines).weights))
        print(f"wrote {path.name}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
