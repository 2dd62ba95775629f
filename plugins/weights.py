"""Weights of what is found: how sure it is, where it stands, whom it is from.

Why it exists: of two lines that answer a question alike, the verified one of a person
should come before the doubted one of a web page. The factors are mild: what fits the
question better still wins. Recency is left out, because it was measured not to help.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from kimi_memory import hookimpl
from kimi_memory.domain.search_types import COLD_BELOW, Query, Unit

STATUS = {"candidate": 0.85, "stale": 0.85, "conflicted": 0.95, "superseded": 0.6, "archived": 0.6}
TRUST = {"tool": 0.98, "import": 0.97, "remote": 0.9}
KIND = {"day": 0.8, "project": 0.85}
"""Pages that gather what other notes say: the note itself should come first."""
LEAST_SURE = 0.85
"""Factor of a note of confidence 0; one of confidence 1 keeps its score."""
COLD = 0.9
"""Factor of a card that nobody asked for in a long time."""
EXPIRED = 0.7
"""Factor of what is not valid any more."""


@hookimpl
def weigh_hit(unit: Unit, query: Query, now: datetime) -> Mapping[str, float]:
    """Return the factors that are not 1."""
    factors = {
        "confidence": LEAST_SURE + (1 - LEAST_SURE) * min(1.0, max(0.0, unit.confidence)),
        "kind": KIND.get(unit.kind, 1.0),
        "status": STATUS.get(unit.status, 1.0),
        "trust": TRUST.get(unit.trust, 1.0),
        "temperature": COLD if unit.temperature < COLD_BELOW else 1.0,
        "validity": EXPIRED if unit.valid_to is not None and unit.valid_to < now else 1.0,
    }
    return {name: factor for name, factor in factors.items() if factor != 1.0}
