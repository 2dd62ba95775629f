"""Lists of what is held: pages joined are all of it, whatever the order; totals and counts."""

from __future__ import annotations

from datetime import timedelta

import pytest
from folders import NOW, Folder
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kimi_memory.domain.note import CardType, Status
from kimi_memory.domain.search_types import Query
from kimi_memory.errors import UsageError
from kimi_memory.recall.browse import SORTS, Listing, ListQuery
from kimi_memory.recall.engine import Recall

CARDS = st.lists(
    st.tuples(
        st.sampled_from(["db.choice", "数据库", "", "port"]),
        st.sampled_from([0.25, 0.5, 1.0]),
        st.sampled_from([0, 0, 1, 40]),
        st.sampled_from([Status.ACTIVE, Status.SUPERSEDED]),
        st.sampled_from([CardType.FACT, CardType.RULE]),
    ),
    max_size=9,
)


def pages(engine: Recall, query: ListQuery) -> list[Listing]:
    found = [engine.browse(query)]
    while found[-1].next:
        found.append(
            engine.browse(
                ListQuery(
                    filters=query.filters,
                    bands=query.bands,
                    sort=query.sort,
                    limit=query.limit,
                    after=found[-1].next,
                )
            )
        )
    return found


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(cards=CARDS, limit=st.integers(1, 4), sort=st.sampled_from(sorted(SORTS)))
def test_pages_joined_are_all_that_a_list_holds(
    tmp_path_factory: pytest.TempPathFactory, cards: list[tuple], limit: int, sort: str
) -> None:
    folder = Folder(tmp_path_factory.mktemp("memory"))
    for n, (key, confidence, days, status, type) in enumerate(cards):
        at = NOW - timedelta(days=days)
        folder.card(
            f"c{n}", "one", f"value {n}", key=key, confidence=confidence, created=at, updated=at,
            status=status, type=type, valid_from=at - timedelta(days=n % 3) if n % 4 else None,
        )  # fmt: skip
    engine, filters = folder.recall(), Query(text="", kind=("card",))
    found = pages(engine, ListQuery(filters=filters, sort=sort, limit=limit))
    whole = engine.browse(ListQuery(filters=filters, sort=sort, limit=100))
    ids = [unit.id for page in found for unit in page.units]
    assert ids == [unit.id for unit in whole.units]
    assert len(set(ids)) == len(ids) == whole.total
    assert all(page.total == whole.total and page.facets == whole.facets for page in found)
    assert sum(whole.facets["type"].values()) == whole.total


def test_orders_put_first_what_they_name(folder: Folder) -> None:
    old = NOW - timedelta(days=9)
    folder.card("a", "", "old and sure", confidence=0.9, updated=old, created=old, importance=0.1)
    folder.card("b", "", "new and unsure", confidence=0.3, importance=0.9, temperature=0.1)
    engine = folder.recall()
    first = {sort: engine.browse(ListQuery(sort=sort)).units[0].id for sort in SORTS}
    assert first == {
        "newest": "card-b",
        "oldest": "card-a",
        "key": "card-a",
        "confidence": "card-a",
        "importance": "card-b",
        "warmth": "card-a",
    }


def test_of_what_was_learned_at_once_the_last_said_stands_first(folder: Folder) -> None:
    for name, days in (("a", 9), ("b", 2), ("c", 5)):
        folder.card(name, "", f"said {days} days ago", valid_from=NOW - timedelta(days=days))
    found = folder.recall().browse(ListQuery()).units
    assert [unit.id for unit in found] == ["card-b", "card-c", "card-a"]


def test_counts_of_a_field_are_made_without_its_own_filter(filled: Folder) -> None:
    engine = filled.recall()
    cards = engine.browse(ListQuery(filters=Query(text="", kind=("card",))))
    kinds = engine.browse(ListQuery()).facets["kind"]
    assert cards.facets["kind"] == kinds
    assert kinds["card"] == cards.total
    assert kinds["turn"] > 0
    assert sum(cards.facets["band"].values()) == cards.total


def test_what_is_replaced_is_listed_where_it_is_asked_for(folder: Folder) -> None:
    folder.card("a", "", "MongoDB", status=Status.SUPERSEDED)
    folder.card("b", "", "SQLite")
    engine = folder.recall()
    assert [unit.id for unit in engine.browse(ListQuery()).units] == ["card-b"]
    gone = engine.browse(ListQuery(filters=Query(text="", status=("superseded",))))
    assert [unit.text for unit in gone.units] == ["MongoDB"]
    assert gone.facets["status"] == {"active": 1, "superseded": 1}
    assert engine.browse(ListQuery()).facets["status"] == gone.facets["status"]


def test_a_caller_is_listed_and_counted_only_what_they_may_see(folder: Folder) -> None:
    folder.card("a", "", "shared")
    folder.card("b", "", "private", scope="agent:scout")
    engine = folder.recall()
    assert engine.browse(ListQuery(filters=Query(text="", within=()))).total == 1
    own = ListQuery(filters=Query(text="", within=("agent:scout",)))
    assert engine.browse(own).total == 2


def test_bands_are_filters(folder: Folder) -> None:
    for n, warmth in enumerate((0.9, 0.5, 0.1)):
        folder.card(f"c{n}", "", f"value {n}", temperature=warmth)
    found = folder.recall().browse(ListQuery(bands=("hot", "cold")))
    assert sorted(unit.id for unit in found.units) == ["card-c0", "card-c2"]
    assert found.facets["band"] == {"hot": 1, "warm": 1, "cold": 1}


def test_a_cursor_holds_when_its_unit_is_gone(folder: Folder) -> None:
    for n in range(4):
        folder.card(f"c{n}", "", f"value {n}", key=f"key.{n}")
    index = folder.index()
    engine = folder.recall(index)
    first = engine.browse(ListQuery(sort="key", limit=2))
    (folder.root / first.units[-1].path).unlink()
    rest = engine.browse(ListQuery(sort="key", limit=2, after=first.next))
    assert [unit.key for unit in rest.units] == ["key.2", "key.3"]
    assert (rest.total, rest.next) == (3, "")


@pytest.mark.parametrize(
    "query",
    [
        ListQuery(sort="colour"),
        ListQuery(bands=("lukewarm",)),
        ListQuery(limit=0),
        ListQuery(limit=100_000),
        ListQuery(after="x"),
        ListQuery(after="💥"),
        ListQuery(after="WyJhIiwxLCJiIl0"),
    ],
    ids=["order", "band", "nothing", "too many", "cursor", "no base64", "another order's cursor"],
)
def test_what_cannot_be_listed_is_refused(filled: Folder, query: ListQuery) -> None:
    with pytest.raises(UsageError):
        filled.recall().browse(query)
