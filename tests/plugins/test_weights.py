"""Mild factors: sure before doubted, a person's word before the web's."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from kimi_memory.plugins.weights import weigh_hit

from kimi_memory.domain.search_types import Query, Unit

NOW = datetime(2026, 2, 27, tzinfo=UTC)


def factors(kind: str = "card", **fields: Any) -> dict[str, float]:
    unit = Unit(id="u", kind=kind, tier="semantic", path="p", first=1, last=1, text="t", **fields)
    return dict(weigh_hit(unit, Query(text="q"), NOW))


def test_a_sure_valid_word_of_a_person_keeps_its_score() -> None:
    assert factors(valid_to=NOW + timedelta(days=1)) == {}


@pytest.mark.parametrize(
    "fields",
    [
        {"confidence": 0.3},
        {"status": "stale"},
        {"status": "superseded"},
        {"trust": "remote"},
        {"valid_to": NOW - timedelta(days=1)},
    ],
    ids=str,
)
def test_doubt_lowers_the_score_mildly(fields: dict[str, Any]) -> None:
    (factor,) = factors(**fields).values()
    assert 0.5 < factor < 1.0


@pytest.mark.parametrize("kind", ["day", "project"])
def test_pages_that_repeat_notes_come_after_them(kind: str) -> None:
    assert 0.5 < factors(kind)["kind"] < 1.0


def test_confidence_out_of_range_is_bounded() -> None:
    assert factors(confidence=7.0) == {}
    assert factors(confidence=-7.0) == {"confidence": 0.85}
