"""Usage: what recall showed, and how warm cards are by it, by age and relevance."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum

from kimi_memory.config import TemperatureTable
from kimi_memory.domain.ids import moment
from kimi_memory.domain.job import Append, Change, Delete, Update, digest
from kimi_memory.domain.note import Card
from kimi_memory.domain.search_types import COLD_BELOW
from kimi_memory.domain.session import Json
from kimi_memory.formats.jsonl import seal, unseal
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.dates.vocabulary import Zone, day_in
from kimi_memory.store.copy import copy_id, known_copy
from kimi_memory.store.store import Store

RECALLS = "short-term/recalls.jsonl"
# A line for each day, and not for each receipt: a question asked every hour for a year stays one
# number a day.
USAGE = "mid-term/usage.jsonl"
KEPT_DAYS = 14
"""So long receipts stay after they were counted."""
RECENT = 10
"""So many of the last recalls tell how relevant a unit is."""
STEPS = (0.0, 0.3, 0.5, 0.7, 0.9)
"""Lower ends of the bars of the histogram; the last one ends at 1.0."""
_DAY = 86400.0
_BELOW = 0.001
"""What keeps a value under the upper end of its band, as files write it."""


@dataclass(frozen=True, slots=True)
class Use:
    """How a unit was used: how often it was shown, when last, and how well it fitted."""

    count: int = 0
    last: date | None = None
    relevance: float = 1.0
    """Mean score of the latest recalls, 0 to 1."""


class Usage:
    """Counts receipts; folding keeps the counts of a day in one line."""

    def __init__(self, store: Store, zone: Zone = UTC) -> None:
        self._store, self._zone = store, zone

    def count_shown(self, day: date) -> Mapping[str, int]:
        """Return how often each unit was shown on a day, by id."""
        return Counter(id for at, ids, *_ in self._read_receipts() if at == day for id in ids)

    def fold(self, day: date) -> list[Change]:
        """Return the change that counts a day's receipts in the usage file.

        They stay for a while: until then the day can be counted again, and undone.
        """
        here = [looked for at, _, _, _, looked in self._read_receipts() if at == day]
        if not here:
            return []
        shown = self.count_shown(day)
        counts: dict[str, Json] = {id: shown[id] for id in sorted(shown)}
        # The copy's name keeps its line apart from what others showed that day, and whole where
        # copies merge.
        copy = copy_id(self._store)
        record: dict[str, Json] = {"day": day.isoformat(), "by": copy, "shown": counts}
        record |= {"looked": sum(here)} if any(here) else {}
        means: dict[str, Json] = {id: found for id, found in sorted(self._mean_scores(day).items())}
        return self._put_line({**record, "scores": means} if means else record)

    def _put_line(self, record: Mapping[str, Json]) -> list[Change]:
        """Return the change that puts a line of usage in the place of what the copy had counted."""
        content = self._store.read(USAGE) if self._store.exists(USAGE) else b""
        lines, fresh = content.splitlines(keepends=True), seal(dict(record))
        for n, line in enumerate(lines):
            old = _parse_line(line)
            if old and all(old.get(name) == record[name] for name in ("day", "by")):
                # Of receipts that got lost the line knows more than what is left of them.
                if line == fresh or _count_all(old) > _count_all(record):
                    return []
                lines[n] = fresh
                return [Update(USAGE, digest(content), b"".join(lines))]
        return [Append(USAGE, (fresh,))]

    def prune(self, today: date) -> list[Change]:
        """Return the change that removes old receipts that were counted."""
        receipts, copy = self._read_receipts(), known_copy(self._store)
        counted = {day for day, by, *_ in self._read_usage() if by == copy}
        old = {day for day in counted if (today - day).days > KEPT_DAYS}
        kept = b"".join(line for day, _, _, line, _ in receipts if day not in old)
        if not any(day in old for day, *_ in receipts):
            return []
        base = digest(self._store.read(RECALLS))
        return [Update(RECALLS, base, kept) if kept else Delete(RECALLS, base)]

    def all(self) -> dict[str, Use]:
        """Return what is known of every unit's use, counted in the usage file or not."""
        tally, copy, receipts = _Tally(), known_copy(self._store), self._read_receipts()
        here = Counter[date]()
        for day, ids, *_ in receipts:
            here[day] += len(ids)
        skipped = set[date]()
        for day, by, counts, means in self._read_usage():
            # This copy's receipts of the day are still there, and may be more by now.
            if by and by == copy and here[day] >= sum(counts.values()):
                continue
            tally.add(day, counts, means)
            skipped |= {day} if by and by == copy else set()
        for day, ids, scores, *_ in receipts:
            if day not in skipped:
                tally.add(day, Counter(ids), _compute_means(ids, scores))
        return tally.uses()

    def _mean_scores(self, day: date) -> dict[str, float]:
        """Return the mean score of each unit that was shown with one on a day."""
        here = [(ids, scores) for at, ids, scores, *_ in self._read_receipts() if at == day]
        rated = [pair for ids, scores in here for pair in zip(ids, scores, strict=False)]
        means = _compute_means([id for id, _ in rated], [score for _, score in rated])
        return {id: round(score, 3) for id, score in means.items()}

    def _read_usage(self) -> Iterator[tuple[date, str, Mapping[str, int], Mapping[str, float]]]:
        content = self._store.read(USAGE) if self._store.exists(USAGE) else b""
        for record in _unite_lines(content.splitlines(keepends=True)):
            yield (
                date.fromisoformat(str(record["day"])),
                str(record.get("by") or ""),
                {id: int(count) for id, count in _read_numbers(record, "shown").items()},
                _read_numbers(record, "scores"),
            )

    def _read_receipts(self) -> list[tuple[date, list[str], list[float], bytes, bool]]:
        """Return day, units, scores, line, and whether a person only looked around.

        What they saw is not returned: it was not used.
        """
        if not self._store.exists(RECALLS):
            return []
        found = []
        for line in self._store.read(RECALLS).splitlines(keepends=True):
            try:
                record = unseal(line)
                ids, scores = record.get("hits"), record.get("scores")
                day = day_in(moment(str(record.get("at"))), self._zone)
            except ValueError:
                continue
            looked = record.get("looking") is True
            shown = [str(id) for id in ids] if isinstance(ids, list) and not looked else []
            rated = scores if isinstance(scores, list) and len(scores) == len(shown) else []
            found.append((day, shown, [_parse_number(score) for score in rated], line, looked))
        return found


class _Tally:
    """Sums of uses; lives for one look."""

    def __init__(self) -> None:
        self._count: Counter[str] = Counter()
        self._last: dict[str, date] = {}
        self._rated: dict[str, list[tuple[date, float, int]]] = {}

    def add(self, day: date, counts: Mapping[str, int], means: Mapping[str, float]) -> None:
        """Count what was shown on a day, and how well it fitted."""
        self._count.update(counts)
        for id, count in counts.items():
            self._last[id] = max(day, self._last.get(id, day))
            if id in means:
                self._rated.setdefault(id, []).append((day, means[id], count))

    def uses(self) -> dict[str, Use]:
        """Return the sums; relevance is the mean score of the last recalls."""
        return {
            id: Use(count, self._last[id], _recent_score(self._rated.get(id, [])))
            for id, count in self._count.items()
        }


def _recent_score(rated: list[tuple[date, float, int]]) -> float:
    """Return the mean score over the latest recalls; 1.0 where no score was noted."""
    weight = total = 0.0
    for _, score, count in sorted(rated, reverse=True):
        taken = min(count, RECENT - weight)
        weight, total = weight + taken, total + score * taken
    return round(total / weight, 3) if weight else 1.0


def _compute_means(ids: list[str], scores: list[float]) -> dict[str, float]:
    found: dict[str, list[float]] = {}
    for id, score in zip(ids, scores, strict=False):
        found.setdefault(id, []).append(score)
    return {id: sum(all) / len(all) for id, all in found.items()}


def _unite_lines(lines: Iterable[bytes]) -> Iterator[Mapping[str, Json]]:
    """Yield the records of usage; of two lines of one day and copy the one with higher counts."""
    found: dict[tuple[str, str], dict[str, Json]] = {}
    for line in lines:
        record = _parse_line(line)
        name = str(record.get("day")), str(record.get("by") or "")
        if record and not name[1]:
            yield record  # Of earlier versions: each line counts.
        elif record:
            # Git, which joins the lines of two copies, keeps what a line was before it grew.
            found[name] = max(record, found.get(name, {}), key=_count_all)
    yield from found.values()


def _count_all(record: Mapping[str, Json]) -> float:
    return sum(_read_numbers(record, "shown").values())


def _parse_line(line: bytes) -> dict[str, Json]:
    """Return a record of usage; nothing for a broken one."""
    try:
        record = unseal(line)
        date.fromisoformat(str(record.get("day")))
    except ValueError:
        return {}
    return record


def _read_numbers(record: Mapping[str, Json], name: str) -> dict[str, float]:
    values = record.get(name)
    found = values if isinstance(values, dict) else {}
    return {id: _parse_number(value) for id, value in found.items()}


def _parse_number(value: Json) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


class Band(StrEnum):
    """Where a card is kept."""

    HOT = "hot"
    WARM = "warm"
    COLD = "cold"
    """Without a vector; on disk and in keyword search as before."""


@dataclass(frozen=True, slots=True)
class Heat:
    """The temperature of one card, and the band it puts the card in."""

    value: float
    band: Band
    idle_days: float
    """Since it was last made or shown."""
    uses: int = 0

    def kept(self, hot: float) -> float:
        """Return what the card's file holds: the value, moved into its band.

        A card that is young but was never shown has a low value and is warm all the
        same; who reads the file alone must be able to tell.
        """
        # The band and not the value decides whether a card has a vector, and the index sees the
        # file alone.
        low = {Band.HOT: hot, Band.WARM: COLD_BELOW, Band.COLD: 0.0}[self.band]
        high = {Band.HOT: 1.0, Band.WARM: hot, Band.COLD: COLD_BELOW}[self.band]
        inside = high - _BELOW if self.band is not Band.HOT else high
        return round(max(low, min(self.value, inside)), 3)


def band_of(temperature: float, hot: float) -> Band:
    """Return the band of a temperature."""
    if temperature >= hot:
        return Band.HOT
    return Band.COLD if temperature < COLD_BELOW else Band.WARM


def temperature(card: Card, use: Use, now: datetime, table: TemperatureTable) -> float:
    """Return recency × frequency × relevance, from 0 to 1."""
    age = max(0.0, (now - card.created).total_seconds() / _DAY)
    # A smooth fall and no steps: a card must not turn cold overnight on a round birthday.
    recency = math.exp(-age / table.recency_days)
    # Bounded: what is shown in every session must not stay hot for years.
    frequency = min(1.0, use.count / table.frequency_cap)
    return recency * frequency * max(0.0, min(1.0, use.relevance))


def heats(
    cards: Iterable[Card], uses: Mapping[str, Use], now: datetime, table: TemperatureTable
) -> dict[str, Heat]:
    """Return the heat of each card by id; what exceeds a band's limit goes one band down."""
    found = {card.id: _measure_heat(card, uses.get(card.id, Use()), now, table) for card in cards}
    _lower_overflow(found, Band.HOT, Band.WARM, table.hot_limit)
    _lower_overflow(found, Band.WARM, Band.COLD, table.warm_limit)
    return found


def counted(heats: Iterable[Heat]) -> dict[str, int]:
    """Return how many cards are in each band."""
    found = [heat.band for heat in heats]
    return {str(band): found.count(band) for band in Band}


def histogram(temperatures: Iterable[float]) -> dict[str, int]:
    """Return how many temperatures lie in each step, hottest first."""
    values = list(temperatures)
    ends = (*STEPS[1:], math.inf)
    return {
        f"{low:.1f}-{min(high, 1.0):.1f}": sum(low <= value < high for value in values)
        for low, high in reversed(list(zip(STEPS, ends, strict=True)))
    }


def _measure_heat(card: Card, use: Use, now: datetime, table: TemperatureTable) -> Heat:
    value = temperature(card, use, now, table)
    # A card that was made yesterday was not idle for a year, although nobody has asked for it yet.
    idle = min(_days_since(card.created, now), _days_since(use.last, now))
    return Heat(value, _choose_band(value, idle, use.count, table), idle, use.count)


def _choose_band(value: float, idle: float, uses: int, table: TemperatureTable) -> Band:
    if value >= table.hot or idle <= table.hot_days or uses > table.hot_uses:
        return Band.HOT
    return Band.COLD if value < table.warm and idle > table.cold_days else Band.WARM


def _days_since(at: datetime | date | None, now: datetime) -> float:
    if at is None:
        return math.inf
    if not isinstance(at, datetime):
        # Uses are known by the day: one of today must not count as a day old by noon.
        at = datetime(at.year, at.month, at.day, tzinfo=UTC) + timedelta(days=1)
    return max(0.0, (now - at).total_seconds() / _DAY)


def _lower_overflow(found: dict[str, Heat], band: Band, lower: Band, limit: int) -> None:
    inside = sorted(
        (id for id, heat in found.items() if heat.band is band),
        # The id last, so that two copies of a memory cool the same cards down.
        key=lambda id: (-found[id].value, found[id].idle_days, id),
    )
    # The least warm of them; a band is bounded because its cards are looked at first.
    for id in inside[limit:]:
        found[id] = replace(found[id], band=lower)
