"""The choice of lines: what a question found, by what each adds for its tokens.

Taking the best hits until the block is full spends tokens on what is said twice, and on
naming one file many times. Here the line is next that adds most for each token it costs
beside what is there already:

- what a line says is worth the cube of its score, so that a sure hit is worth several
  doubtful ones, times its length to the power of 0.7: longer lines say more, though not
  as much as they are longer;
- words that one chosen line has said already are worth nothing, once they are more
  than half of a line;
- a line from a file that is named already costs less, so neighbours of a hit come in.

The figures were fitted by hand on labelled questions in both languages; see
``benchmarks/context.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from kimi_memory.recall.block import Line, alone, heading, under
from kimi_memory.text.tokens import estimate

SURE = 3.0
"""Exponent of a score."""
LENGTH = 0.7
"""Exponent of a length."""
SAME = 0.5
"""From this share of known words on, a line begins to be a repetition."""
BAND = 0.97
"""Factor of a value for each step of priority down."""

Fits = Callable[[Sequence[Line]], bool]


@dataclass(frozen=True, slots=True)
class _Cost:
    """Tokens of a line in each form it may take."""

    alone: int
    under: int
    """Below the name of its file."""
    bare: int
    """The same where its day stands above it."""

    @classmethod
    def of(cls, line: Line) -> _Cost:
        """Return what a line costs."""
        return cls(_tokens(alone(line)), _tokens(under(line, "")), _tokens(under(line, line.day)))


class _File:
    """The chosen lines of one file and what they cost together."""

    def __init__(self, path: str) -> None:
        self._path, self._costs = path, list[_Cost]()
        self._days: set[str] = set()
        self.cost = 0

    def add(self, line: Line, cost: _Cost) -> None:
        """Choose another line."""
        self.cost += self.more(line, cost)
        self._costs.append(cost)
        self._days.add(line.day)

    def more(self, line: Line, cost: _Cost) -> int:
        """Return how many tokens another line would add."""
        if not self._costs:
            return cost.alone
        costs, days = [*self._costs, cost], self._days | {line.day}
        day = line.day if len(days) == 1 else ""
        lines = sum(one.bare if day else one.under for one in costs)
        return _tokens(heading(self._path, day)) + lines - self.cost


def choose(standing: Iterable[Line], found: Iterable[Line], fits: Fits) -> list[Line]:
    """Return the lines to show.

    Args:
        standing: what is shown in any case, in the order in which room is given to it.
        found: what a question found, in any order.
        fits: whether lines together stay within the budget.
    """
    choice = _Choice(fits)
    for line in standing:
        choice.take(line)
    choice.fill({line.id: line for line in found if line.value > 0})
    return choice.lines


class _Choice:
    """The lines chosen so far."""

    def __init__(self, fits: Fits) -> None:
        self.lines: list[Line] = []
        self._fits = fits
        self._files: dict[str, _File] = {}
        self._costs: dict[str, _Cost] = {}
        self._known: dict[str, float] = {}

    def take(self, line: Line) -> bool:
        """Add a line if it fits."""
        if not self._fits([*self.lines, line]):
            return False
        self.lines.append(line)
        self._file(line).add(line, self._cost(line))
        return True

    def fill(self, left: dict[str, Line]) -> None:
        """Add lines, those first that add most for each token."""
        for chosen in self.lines:
            left.pop(chosen.id, None)
            self._learn(chosen, left.values())
        while left:
            # Of equals the first id, so that the same memory gives the same block.
            best = max(sorted(left.values(), key=lambda line: line.id), key=self._gain)
            del left[best.id]
            if self._gain(best) > 0 and self.take(best):
                self._learn(best, left.values())

    def _gain(self, line: Line) -> float:
        """Return what a line adds for each token."""
        cost = self._cost(line)
        fresh = 1.0 - max(0.0, self._known.get(line.id, 0.0) - SAME) / (1.0 - SAME)
        worth: float = line.value**SURE * cost.under**LENGTH * BAND**line.priority
        return worth * fresh / max(1, self._file(line).more(line, cost))

    def _learn(self, chosen: Line, others: Iterable[Line]) -> None:
        """Note how much of each line its nearest chosen one has said."""
        for line in others:
            if line.words:
                share = len(line.words & chosen.words) / len(line.words)
                self._known[line.id] = max(share, self._known.get(line.id, 0.0))

    def _cost(self, line: Line) -> _Cost:
        if line.id not in self._costs:
            self._costs[line.id] = _Cost.of(line)
        return self._costs[line.id]

    def _file(self, line: Line) -> _File:
        return self._files.setdefault(line.path, _File(line.path))


def _tokens(text: str) -> int:
    return estimate(f"| {text}\n")
