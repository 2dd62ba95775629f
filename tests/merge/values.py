"""Cards, sources and moments that tests of merges begin with."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from kimi_memory.domain.note import Card, CardType, Source

NOW = datetime(2026, 2, 27, 9, 0, tzinfo=UTC)


def card(**values: object) -> Card:
    plain = Card(
        id="card-1", created=NOW, updated=NOW, title="Port", type=CardType.FACT,
        key="deploy.port", value="8080",
    )  # fmt: skip
    return replace(plain, **values)  # type: ignore[arg-type]  # any field of a card


def said(session: str, n: int) -> Source:
    return Source(session, n, n)
