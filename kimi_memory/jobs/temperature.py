"""The temperature of cards: how recent, how often used, how relevant; and their bands."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum

from kimi_memory.config import TemperatureTable
from kimi_memory.domain.note import Card
from kimi_memory.domain.search_types import COLD_BELOW
from kimi_memory.jobs.usage import Use

STEPS = (0.0, 0.3, 0.5, 0.7, 0.9)
"""Lower ends of the bars of the histogram; the last one ends at 1.0."""
_DAY = 86400.0
_BELOW = 0.001
"""What keeps a value under the upper end of its band, as files write it."""


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

        Args:
            hot: where the hot band begins.
        """
        low = {Band.HOT: hot, Band.WARM: COLD_BELOW, Band.COLD: 0.0}[self.band]
        high = {Band.HOT: 1.0, Band.WARM: hot, Band.COLD: COLD_BELOW}[self.band]
        inside = high - _BELOW if self.band is not Band.HOT else high
        return round(max(low, min(self.value, inside)), 3)


def band_of(card: Card, hot: float) -> Band:
    """Return the band that a card's file says it is in."""
    if card.temperature >= hot:
        return Band.HOT
    return Band.COLD if card.temperature < COLD_BELOW else Band.WARM


def temperature(card: Card, use: Use, now: datetime, table: TemperatureTable) -> float:
    """Return recency × frequency × relevance, from 0 to 1."""
    age = max(0.0, (now - card.created).total_seconds() / _DAY)
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


def histogram(heats: Iterable[Heat]) -> dict[str, int]:
    """Return how many temperatures lie in each step, hottest first."""
    values = [heat.value for heat in heats]
    ends = (*STEPS[1:], math.inf)
    return {
        f"{low:.1f}-{min(high, 1.0):.1f}": sum(low <= value < high for value in values)
        for low, high in reversed(list(zip(STEPS, ends, strict=True)))
    }


def _measure_heat(card: Card, use: Use, now: datetime, table: TemperatureTable) -> Heat:
    value = temperature(card, use, now, table)
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
        key=lambda id: (-found[id].value, found[id].idle_days, id),
    )
    # The least warm of them; a band is bounded because its cards are looked at first.
    for id in inside[limit:]:
        found[id] = replace(found[id], band=lower)
