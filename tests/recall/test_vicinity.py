"""The neighbourhood of a note: what it reaches, what it leaves out, where it is drawn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kimi_memory import Memory, Opening
from kimi_memory.domain.job import Op
from kimi_memory.domain.note import LinkRel, Status
from kimi_memory.domain.operation_types import Wanted
from kimi_memory.domain.search_types import Query
from kimi_memory.operations.forget import forget
from kimi_memory.operations.links import Wanted as WantedLink
from kimi_memory.operations.links import link
from kimi_memory.recall.vicinity import Around, Vicinity, find_vicinity, lay_out

ALL = Query(text="", status=tuple(one for one in Status if one is not Status.ARCHIVED))


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.create(tmp_path / "m", opening=Opening(background=False)) as made:
        yield made


def around(memory: Memory, id: str, **wanted: Any) -> Vicinity:
    asked = replace(Around(id=id, filters=ALL), **wanted)
    with memory.index.guard:
        return find_vicinity(memory.index.searcher(), asked, memory.now())


def remember(memory: Memory, text: str, key: str, project: str = "") -> str:
    done = memory.remember(text, key=key, project=project).operations
    return next(one.target for one in done if one.op is Op.ADD)


def ids(found: Vicinity) -> list[str]:
    return [spot.unit.id for spot in found.spots]


def test_a_note_reaches_what_it_is_linked_with(memory: Memory) -> None:
    port, proxy, other = (
        remember(memory, "The port is 8080.", "deploy.port"),
        remember(memory, "反向代理用 Caddy。", "deploy.proxy"),
        remember(memory, "Tea is green.", "tea"),
    )
    link(memory, WantedLink(source=port, target=proxy, rel=LinkRel.DEPENDS_ON, weight=0.9))
    found = around(memory, port)
    assert ids(found) == [port, proxy]
    [tie] = found.ties
    assert (tie.source.id, tie.target.id, tie.rel, tie.weight) == (port, proxy, "DEPENDS_ON", 0.9)
    assert not tie.derived
    assert ids(around(memory, proxy)) == [proxy, port]
    assert ids(around(memory, other)) == [other]
    assert ids(around(memory, port, rels=("SIMILAR_TO",))) == [port]
    assert ids(around(memory, port, bands=("cold",))) == [port]


def test_steps_are_counted(memory: Memory) -> None:
    made = [remember(memory, f"Number {n} is {n * 7}.", f"chain.n{n}") for n in range(5)]
    for one, next in pairwise(made):
        link(memory, WantedLink(source=one, target=next, weight=0.9))
    assert ids(around(memory, made[0], hops=1)) == made[:2]
    assert ids(around(memory, made[0], hops=2)) == made[:3]
    assert [spot.hops for spot in around(memory, made[0], hops=3).spots] == [0, 1, 2, 3]
    few = around(memory, made[0], hops=3, most=2)
    assert (ids(few), few.left) == (made[:2], 2)


def test_values_of_one_key_stand_in_the_order_of_time(memory: Memory) -> None:
    old = remember(memory, "数据库先用 MongoDB。", "db", "小灶")
    new = remember(memory, "数据库不用 MongoDB 了，改用 SQLite。", "db", "小灶")
    elsewhere = remember(memory, "The database is Postgres.", "db", "trailhead")
    found = around(memory, new)
    assert set(ids(found)) == {old, new}
    [tie] = found.ties
    assert (tie.source.id, tie.target.id, tie.derived) == (old, new, "time")
    assert elsewhere not in ids(found)


def test_what_is_forgotten_is_not_reached(memory: Memory) -> None:
    one, two = remember(memory, "Tea is green.", "tea"), remember(memory, "Milk is white.", "milk")
    link(memory, WantedLink(source=one, target=two))
    forget(memory, Wanted(note=two))
    assert ids(around(memory, one)) == [one]
    assert around(memory, two) == Vicinity((), (), 0)
    assert around(memory, "card-none") == Vicinity((), (), 0)


@settings(max_examples=30)
@given(
    count=st.integers(0, 40),
    links=st.lists(st.tuples(st.integers(0, 39), st.integers(0, 39)), max_size=60),
    seed=st.integers(0, 2**32 - 1),
)
def test_places_lie_on_the_plane_and_stay(
    count: int, links: list[tuple[int, int]], seed: int
) -> None:
    pairs = [(one, two) for one, two in links if one < count and two < count]
    places = lay_out(count, pairs, [0.5] * len(pairs), seed)
    assert places.shape == (count, 2)
    assert bool(np.isfinite(places).all())
    assert not count or (places.min() >= 0 and places.max() <= 1)
    assert bool((places == lay_out(count, pairs, [0.5] * len(pairs), seed)).all())
