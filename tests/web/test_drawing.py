"""Drawings: every number is on the picture, and labels never cover each other."""

from __future__ import annotations

from datetime import date, timedelta

from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.domain.search_types import Unit
from kimi_memory.recall.vicinity import Spot, Vicinity
from kimi_memory.web.drawing import GRAPH_WIDTH, bars, heat, net

DAY = date(2026, 2, 28)
COUNTS = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 10_000), max_size=8)


@given(days=st.lists(COUNTS, max_size=40))
def test_bars_are_as_high_as_their_counts(days: list[dict[str, int]]) -> None:
    chart = bars([(DAY + timedelta(days=n), counts) for n, counts in enumerate(days)])
    most = max([sum(counts.values()) for counts in days] or [0])
    assert len(chart.boxes) == sum(map(len, days))
    assert {name: total for name, _, total in chart.names} == {
        name: sum(counts.get(name, 0) for counts in days) for counts in days for name in counts
    }
    for box in chart.boxes:
        count = int(box.says.split("  ")[-1])
        assert abs(box.height - count / most * (chart.height - 26)) < 0.1
        assert 0 <= box.x <= chart.width
        assert box.y > 0


def test_a_year_has_a_square_for_each_day() -> None:
    drawn = heat(DAY, [0] * 360 + [1, 4, 9, 16, 100])
    assert len(drawn.boxes) == 365
    assert [box.look for box in drawn.boxes[-6:]] == ["h0", "h1", "h1", "h2", "h2", "h4"]
    assert drawn.boxes[-1].to == "/timeline?month=2026-02#d2026-02-28"
    assert not drawn.boxes[0].to
    assert len({(box.x, box.y) for box in drawn.boxes}) == 365


def make_unit(id: str, text: str) -> Unit:
    return Unit(id=id, kind="card", tier="semantic", path="", first=1, last=1, text=text)


@given(
    places=st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=60),
    text=st.sampled_from(["数据库不用 MongoDB 了，改用 SQLite", "We ship on Friday", "x"]),
)
def test_labels_cover_no_other_label(places: list[tuple[float, float]], text: str) -> None:
    spots = tuple(
        Spot(make_unit(f"card-{n}", text), "hot", 1, x, y) for n, (x, y) in enumerate(places)
    )
    drawn = net(Vicinity(spots, (), 0))
    assert len(drawn.knots) == len(places)
    labels = [(knot.at, knot.anchor) for knot in drawn.knots if knot.label]
    assert len(set(labels)) == len(labels)
    assert all(0 <= at[0] <= GRAPH_WIDTH for at, _ in labels)
