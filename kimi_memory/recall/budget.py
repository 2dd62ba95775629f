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

from collections.abc import Callable, Iterable
from functools import cached_property
from heapq import heapify, heappop, heappush

from kimi_memory.nlp.basic.sentences import estimate
from kimi_memory.recall.render import Line, Section, alone, heading, shown, under

SURE = 3.0
"""Exponent of a score."""
LENGTH = 0.7
"""Exponent of a length."""
SAME = 0.5
"""From this share of known words on, a line begins to be a repetition."""
BAND = 0.97
"""Factor of a value for each step of priority down."""
LOOSE_TOKENS = 12
"""By so much a block may cost less than its lines one by one: 3 tokens for each cut."""
HEADING_TOKENS = 4
"""By so much the headings of a block may cost less once another line is shown."""

Split = Callable[[str], Iterable[str]]


class _Cost:
    """Tokens of a line in each form it may take: what it says, and what stands around that."""

    def __init__(self, line: Line) -> None:
        self._frame, self._text_tokens = line._replace(said=""), estimate(line.said)
        self.alone = self._text_tokens + _count_tokens(alone(self._frame))
        self.under = self._text_tokens + _count_tokens(under(self._frame, ""))
        """Below the name of its file."""

    @cached_property
    def bare(self) -> int:
        """Below the name of its file, where its day stands above it."""
        return self._text_tokens + _count_tokens(under(self._frame, self._frame.day))


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
        return _count_tokens(heading(self._path, day)) + lines - self.cost


def choose(
    standing: Iterable[Line],
    found: Iterable[Line],
    split: Split,
    budget: int,
    nonce: str,
) -> list[Line]:
    """Return the lines to show.

    Args:
        standing: what is shown in any case, in the order in which room is given to it.
        found: what a question found, in any order.
        split: returns the words of a text.
        budget: most tokens of the block.
        nonce: that of the block.
    """
    choice = _Choice(split, budget, nonce)
    for line in standing:
        choice.add_line(line)
    choice.fill(line for line in found if line.value > 0)
    return choice.lines


class _Choice:
    """The lines chosen so far."""

    def __init__(self, split: Split, budget: int, nonce: str) -> None:
        self.lines: list[Line] = []
        self._split, self._budget, self._nonce = split, budget, nonce
        self._spent = 0
        self._files: dict[tuple[Section, str], _File] = {}
        self._costs: dict[str, _Cost] = {}
        self._words: dict[str, frozenset[str]] = {}
        self._known: dict[str, tuple[int, float]] = {}
        """How many of the chosen lines a line was held against, and most that one said of it."""

    def add_line(self, line: Line) -> bool:
        """Add a line if it fits."""
        # Counting a whole block for every line that is tried would take longer than the recall.
        if not self._may_fit(line):
            return False
        # The estimate of parts is only near: the block as it will stand decides.
        spent = estimate(shown([*self.lines, line], self._nonce))
        if spent > self._budget:
            return False
        self._file_group(line).add(line, self._line_cost(line))
        self.lines.append(line)
        self._spent = spent
        return True

    def fill(self, found: Iterable[Line]) -> None:
        """Add lines, those first that add most for each token.

        A gain falls as more is said, so one that was computed before is a bound: only a line that
        is first by its bound is looked at again. It rises when its file is named; then the
        lines of that file are weighed anew, those that did not fit among them.
        """
        chosen = {line.id for line in self.lines}
        left = {line.id: line for line in found if line.id not in chosen}
        # Of equals the first id, so that the same memory gives the same block.
        queue = [(-self._gain_if_new(line), id) for id, line in left.items()]
        heapify(queue)
        while queue:
            _, id = heappop(queue)
            if id not in left or not self._may_fit(left[id]):
                continue
            gain = (-self._current_gain(left[id]), id)
            if queue and gain > queue[0]:
                heappush(queue, gain)
            elif gain[0] < 0 and self.add_line(left[id]):
                file = _file_of(left.pop(id))
                for other in left.values():
                    if _file_of(other) == file:
                        heappush(queue, (-self._gain_if_new(other), other.id))

    def _may_fit(self, line: Line) -> bool:
        """Whether it pays to count the whole block, which takes longer than all else here."""
        room, more = self._budget - self._spent, self._added_tokens(line)
        if abs(more - room) > LOOSE_TOKENS:
            return more < room
        # A whole line has no cuts; one of a file that is named may change the lines above it.
        return (
            self._file_group(line).cost > 0 or _count_tokens(alone(line)) <= room + HEADING_TOKENS
        )

    def _current_gain(self, line: Line) -> float:
        """Return what a line adds for each token."""
        fresh = 1.0 - max(0.0, self._repeated_share(line) - SAME) / (1.0 - SAME)
        return self._gain_if_new(line) * fresh

    def _gain_if_new(self, line: Line) -> float:
        """Return what a line would add if none of it was said."""
        worth: float = (
            line.value**SURE * self._line_cost(line).under ** LENGTH * BAND**line.priority
        )
        return worth / max(1, self._added_tokens(line))

    def _repeated_share(self, line: Line) -> float:
        """Return how much of a line the nearest chosen one has said."""
        seen, most = self._known.get(line.id, (0, 0.0))
        if seen < len(self.lines) and (words := self._words_of(line)):
            others = map(self._words_of, self.lines[seen:])
            most = max(most, *(len(words & other) / len(words) for other in others))
        self._known[line.id] = len(self.lines), most
        return most

    def _words_of(self, line: Line) -> frozenset[str]:
        if line.id not in self._words:
            self._words[line.id] = frozenset(self._split(line.said))
        return self._words[line.id]

    def _added_tokens(self, line: Line) -> int:
        return self._file_group(line).more(line, self._line_cost(line))

    def _line_cost(self, line: Line) -> _Cost:
        if line.id not in self._costs:
            self._costs[line.id] = _Cost(line)
        return self._costs[line.id]

    def _file_group(self, line: Line) -> _File:
        return self._files.setdefault(_file_of(line), _File(line.path))


def _file_of(line: Line) -> tuple[Section, str]:
    """Return what the name of a file stands above: lines of one section."""
    return line.section, line.path


def _count_tokens(text: str) -> int:
    return estimate(f"| {text}\n")
