"""The second look: it orders the best hits, explains itself, and never takes one away."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_memory import Memory, hookimpl
from kimi_memory.domain.note import Role
from kimi_memory.domain.search_types import Hit, Query, Unit
from kimi_memory.errors import ModelError
from kimi_memory.hooks.host import Host
from kimi_memory.recall.engine import total
from kimi_memory.recall.rerank import ROWS, reranked

AT = datetime(2026, 2, 27, 9, 0, tzinfo=UTC)


class Second:
    """Looks again as it is told."""

    def __init__(self, scores: Sequence[float] | Exception | None) -> None:
        self.scores, self.texts = scores, list[str]()

    @hookimpl
    def rerank(self, texts: Sequence[str]) -> Sequence[float] | None:
        """Answer with the next scores."""
        self.texts = list(texts)
        if isinstance(self.scores, Exception):
            raise self.scores
        return self.scores


def hits(*scores: float) -> list[Hit]:
    found = []
    for n, score in enumerate(scores):
        place = {"id": f"u{n:02d}", "kind": "turn", "tier": "short-term", "path": "p"}
        unit = Unit(**place, first=1, last=1, text=f"第{n}句", speaker="王", at=AT)
        found.append(Hit(unit, score, "", {"turn": score / 2, "role": 2.0}))
    return found


def host_with(second: Second) -> Host:
    host = Host(entry_points=False)
    host.register(second, "second")
    return host


def test_the_second_look_orders_the_hits_and_is_a_part_of_the_score() -> None:
    second = Second([0.0, 5.0, 10.0])
    found, note = reranked(host_with(second), "第几句?", hits(0.9, 0.8, 0.7))
    assert [hit.unit.id for hit in found] == ["u02", "u01", "u00"]
    assert note == ""
    assert second.texts[0] == "2026-02-27 王\n第0句"
    for hit in found:
        assert total(hit.parts) == pytest.approx(hit.score)
        assert 0 < hit.score <= 0.9


@given(
    st.lists(st.floats(0.01, 1.0), min_size=2, max_size=40),
    st.lists(st.floats(-50, 50), min_size=ROWS, max_size=ROWS),
)
def test_no_hit_is_lost_and_every_score_is_explained(
    first: list[float], second: list[float]
) -> None:
    given = hits(*sorted(first, reverse=True))
    found, _ = reranked(host_with(Second(second[: len(given)])), "q", given)
    assert {hit.unit.id for hit in found} == {hit.unit.id for hit in given}
    assert all(math.isclose(total(hit.parts), hit.score, rel_tol=1e-9) for hit in found)
    assert [hit.score for hit in found] == sorted((h.score for h in found), reverse=True)


def test_only_the_best_are_looked_at_and_the_rest_keep_their_order() -> None:
    given, second = hits(*[1.0 - n / 100 for n in range(ROWS + 5)]), Second([1.0] * ROWS)
    found, _ = reranked(host_with(second), "q", given)
    assert len(second.texts) == ROWS
    assert [hit.unit.id for hit in found] == [hit.unit.id for hit in given]


@pytest.mark.parametrize(
    ("scores", "told"),
    [
        (ModelError("the server is away."), "Not reranked: the server is away."),
        (RuntimeError("bug"), "Not reranked: Plugin 'second' failed"),
        ([1.0], "Not reranked: 1 usable scores for 2 texts."),
        ([1.0, math.nan], "Not reranked: 2 usable"),
        (None, ""),
    ],
)
def test_a_failing_look_leaves_the_ranking_and_says_so(
    scores: Sequence[float] | Exception | None, told: str
) -> None:
    given = hits(0.9, 0.8)
    found, note = reranked(host_with(Second(scores)), "q", given)
    assert found == given
    assert note.startswith(told) and bool(note) == bool(told)


@pytest.mark.parametrize(("query", "count"), [("q", 1), ("q", 0), ("  ", 3)])
def test_nothing_to_compare_asks_nobody(query: str, count: int) -> None:
    second = Second([1.0] * count)
    given = hits(*[0.5] * count)
    assert reranked(host_with(second), query, given) == (given, "")
    assert not second.texts


def test_recall_looks_again(memory: Memory) -> None:
    session = memory.session("s1")
    for text in ("端口是 5432。", "端口的事明天再说。", "我们谈谈端口。"):
        session.turn(Role.USER, text)
    first = memory.recall(Query(text="端口"))
    second = Second([float(n) for n in range(len(first.hits))])
    memory.host.register(second, "second")
    found = memory.recall(Query(text="端口"))
    assert [hit.unit.id for hit in found.hits] == [hit.unit.id for hit in first.hits][::-1]
    second.scores = ModelError("away.")
    after = memory.recall(Query(text="端口"))
    assert [hit.unit.id for hit in after.hits] == [hit.unit.id for hit in first.hits]
    assert after.notes[-1] == "Not reranked: away."
