"""LangGraph's store, held against the one in memory that ships with it."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kimi_memory import Memory
from kimi_memory.domain.search_types import Query
from kimi_memory.errors import FormatError, UsageError

pytest.importorskip("langgraph")

from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore

from kimi_memory.frameworks.langgraph import MemoryStore

LABELS = ("u", "user", "U", "小李", "a b", "a-b", "no", "3", "x/y", "/u", "con", "", "*")
KEYS = ("k", "K", "a.md", "x.tmp", "茶", "3", "null", "..", "k/l", "~", "- a: b", "4913")

words = st.text(alphabet="ab茶 \"'`{}[]:,#\\&<3", max_size=8)
leaves = st.none() | st.booleans() | st.integers(-99, 99) | st.sampled_from([0.5, -1e30]) | words
values = st.dictionaries(
    st.sampled_from(["n", "t", "茶", "o"]),
    st.recursive(
        leaves,
        lambda inner: (
            st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("np"), inner, max_size=2)
        ),
        max_leaves=4,
    ),
    max_size=3,
)
namespaces = st.lists(st.sampled_from(LABELS), min_size=1, max_size=3).map(tuple)
prefixes = st.lists(st.sampled_from(LABELS), max_size=2).map(tuple)
keys = st.sampled_from(KEYS)
bounds = st.sampled_from([0, 1, -5, 0.5, "1"])
operators = st.dictionaries(
    st.sampled_from(["$eq", "$ne", "$gt", "$gte", "$lt", "$lte"]), bounds, min_size=1, max_size=2
)
filters = st.none() | st.dictionaries(
    st.sampled_from(["n", "t", "o"]),
    operators
    | leaves
    | st.lists(leaves, max_size=2)
    | st.fixed_dictionaries({"n": leaves | operators}),
    max_size=2,
)
paths = st.lists(st.sampled_from(["u", "user", "U", "小李", "*"]), min_size=1, max_size=2).map(
    tuple
)
conditions = st.builds(MatchCondition, st.sampled_from(["prefix", "suffix"]), paths)
searches = st.builds(SearchOp, prefixes, filters, st.just(1000), query=st.none())
operations = st.one_of(
    st.builds(PutOp, namespaces, keys, values),
    st.builds(PutOp, namespaces, keys, values),
    st.builds(PutOp, namespaces, keys, st.none()),
    st.builds(GetOp, namespaces, keys),
    searches,
    searches,
    st.builds(
        ListNamespacesOp,
        st.none() | st.lists(conditions, max_size=2).map(tuple),
        st.none() | st.integers(1, 3),
        st.just(1000),
    ),
)


BEGUN = [
    PutOp(("u",), "k", {"n": 1, "t": "茶", "o": {"n": None}}),
    PutOp(("u", "user"), "3", {"n": -5, "t": "1", "o": [1, None]}),
    PutOp(("user", "U", "小李"), "K", {"n": 0.5, "o": {"n": True}}),
    PutOp(("小李",), "茶", {"n": "x", "t": ""}),
]


def told(result: Any) -> Any:
    """Return a result without moments, items in order of their names."""
    if isinstance(result, list):
        return sorted((told(one) for one in result), key=repr)
    if result is None or isinstance(result, tuple):
        return result
    return (result.namespace, result.key, result.value)


def alive(store: InMemoryStore) -> None:
    """Take out namespaces without items; ours are there while there is something in them."""
    for namespace in [one for one, items in store._data.items() if not items]:
        del store._data[namespace]


def takes(store: InMemoryStore, op: Any) -> bool:
    """Whether an operation can be carried out; theirs cannot compare all values."""
    try:
        return isinstance(op, PutOp) or bool(store.batch([op]))
    except (TypeError, ValueError):
        return False


def looks(op: Any) -> bool:
    return not isinstance(op, ListNamespacesOp)


counted = itertools.count()


@settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(batches=st.lists(st.lists(operations, max_size=5), min_size=1, max_size=4))
def test_it_answers_as_the_store_in_memory_does(memory: Memory, batches: list[list[Any]]) -> None:
    ours, theirs = MemoryStore(memory, f"agent {next(counted)}"), InMemoryStore()
    for whole in (BEGUN, *batches):
        alive(theirs)
        # Theirs lists a namespace from the first look into it on, so that goes last.
        batch = sorted((op for op in whole if takes(theirs, op)), key=looks)
        alive(theirs)
        assert list(map(told, ours.batch(batch))) == list(map(told, theirs.batch(batch)))
    alive(theirs)
    final = [SearchOp((), None, 1000), ListNamespacesOp(None, None, 1000)]
    assert list(map(told, ours.batch(final))) == list(map(told, theirs.batch(final)))


@pytest.fixture
def store(memory: Memory) -> MemoryStore:
    return MemoryStore(memory, "kimi")


def test_reads_of_a_batch_see_what_was_there_before_its_puts(store: MemoryStore) -> None:
    store.put(("u",), "k", {"n": 1})
    got, _, _, listed = store.batch(
        [
            GetOp(("u",), "k"),
            PutOp(("u",), "k", {"n": 2}),
            PutOp(("u",), "k", {"n": 3}),
            SearchOp(("u",)),
        ]
    )
    assert got.value == {"n": 1} and [item.value for item in listed] == [{"n": 1}]
    assert store.get(("u",), "k").value == {"n": 3}


def test_a_batch_that_fails_puts_nothing(store: MemoryStore) -> None:
    with pytest.raises(UsageError, match="set under 'x' is no JSON"):
        store.batch([PutOp(("u",), "a", {"n": 1}), PutOp(("u",), "b", {"x": {1}})])
    assert store.search(()) == []


@pytest.mark.parametrize("namespace", [(), ("langgraph", "x"), ("a.b",), (3,)])
def test_a_wrong_namespace_is_refused(store: MemoryStore, namespace: Any) -> None:
    with pytest.raises(InvalidNamespaceError):
        store.put(namespace, "k", {})
    if namespace == ("a.b",):
        with pytest.raises(InvalidNamespaceError):
            store.batch([PutOp(namespace, "k", {})])


def test_a_time_to_live_is_refused_aloud(store: MemoryStore) -> None:
    with pytest.raises(RuntimeError, match="TTL"):
        store.put(("u",), "k", {}, ttl=5)


def test_moments_are_those_of_the_first_and_the_last_put(store: MemoryStore, clock: Any) -> None:
    began = clock.now
    store.put(("u",), "k", {"n": 1})
    later = clock.move(minutes=1)
    store.put(("u",), "k", {"n": 2})
    item = store.get(("u",), "k")
    assert (item.created_at, item.updated_at) == (began, later)


def test_what_was_put_last_is_listed_first(store: MemoryStore, clock: Any) -> None:
    for key in "abc":
        store.put(("u",), key, {})
        clock.move(minutes=1)
    assert [item.key for item in store.search(("u",), limit=2)] == ["c", "b"]
    assert [item.key for item in store.search(("u",), limit=2, offset=2)] == ["a"]


def test_a_search_with_a_query_is_recall_within_the_prefix(store: MemoryStore) -> None:
    store.put(("users", "li"), "tea", {"text": "小李每天下午喝绿茶", "kind": "drink"})
    store.put(("users", "ann"), "db", {"text": "Ann prefers PostgreSQL", "kind": "tool"})
    store.put(("users", "ann"), "tea", {"text": "Ann never drinks green tea", "kind": "drink"})
    (first, *_) = store.search(("users",), query="绿茶")
    assert (first.namespace, first.key) == (("users", "li"), "tea") and first.score > 0
    found = store.search(("users", "ann"), query="who likes PostgreSQL")
    assert [item.key for item in found] == ["db"]
    found = store.search(("users",), query="PostgreSQL tea 绿茶", filter={"kind": "drink"})
    assert {item.key for item in found} == {"tea"}
    assert store.search(("user",), query="绿茶") == []


def test_an_item_is_found_by_recall_as_the_word_of_its_agent(
    memory: Memory, store: MemoryStore
) -> None:
    store.put(("u",), "tea", {"text": "小李喝绿茶"})
    (hit, *_) = memory.recall(Query(text="绿茶")).hits
    assert (hit.unit.path, hit.unit.trust) == ("mid-term/agents/kimi/store/u/tea.md", "agent")


def test_secrets_are_masked_wherever_they_stand(memory: Memory, store: MemoryStore) -> None:
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    store.put(("u",), "k", {"a": [key], key: "x", "password": "hunter2-Tr0ub4dor"})
    kept = store.get(("u",), "k").value
    assert all("⟦redacted:" in str(kept[name]) for name in ("a", "password"))
    held = b"".join(memory.store.read(path) for path in memory.store.files())
    assert key.encode() not in held and b"hunter2" not in held
    with pytest.raises(UsageError, match="cannot name an item"):
        store.put(("u",), key, {})


def test_every_put_is_journaled_and_in_history(memory: Memory, store: MemoryStore) -> None:
    store.put(("u",), "k", {"n": 1})
    assert memory.batch.pending() and memory.batch.flush("put")
    store.delete(("u",), "k")
    store.delete(("u",), "k")
    assert memory.batch.flush("delete") and not memory.store.reconcile()
    assert [commit.subject for commit in memory.history.log(limit=2)] == ["delete", "put"]


def test_a_person_may_edit_an_item_and_a_broken_one_is_named(
    memory: Memory, store: MemoryStore
) -> None:
    store.put(("u",), "k", {"tea": "green"})
    place = memory.root / "mid-term/agents/kimi/store/u/k.md"
    text = place.read_text(encoding="utf-8")
    place.write_text(text.replace("green", "black") + "\nMy remark.\n", encoding="utf-8")
    assert store.get(("u",), "k").value == {"tea": "black"}
    place.write_text(text.replace("{", "["), encoding="utf-8")
    with pytest.raises(FormatError, match="no item of a store"):
        store.get(("u",), "k")
    assert store.search(()) == []


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), {3: 4}])
def test_what_is_no_json_is_refused(store: MemoryStore, value: object) -> None:
    with pytest.raises(UsageError):
        store.put(("u",), "k", {"x": value})


def test_what_is_nested_without_end_is_refused(store: MemoryStore) -> None:
    deep: dict[str, Any] = {}
    deep["x"] = deep
    with pytest.raises(UsageError, match="too deep"):
        store.put(("u",), "k", deep)


def test_agents_do_not_see_each_other(memory: Memory, store: MemoryStore) -> None:
    store.put(("u",), "k", {"n": 1})
    other = MemoryStore(memory, "other")
    assert other.get(("u",), "k") is None
    assert other.search((), query="n") == [] and other.list_namespaces() == []


def test_the_async_methods_answer_alike(store: MemoryStore) -> None:
    async def told() -> list[Any]:
        await store.aput(("u",), "k", {"n": 1})
        return [await store.aget(("u",), "k"), await store.alist_namespaces(prefix=("u",))]

    item, found = asyncio.run(told())
    assert item.value == {"n": 1} and found == [("u",)]


def test_an_operator_nobody_knows_is_refused_and_what_is_no_number_does_not_match(
    store: MemoryStore,
) -> None:
    store.put(("u",), "k", {"n": "many"})
    assert store.search(("u",), filter={"n": {"$gt": 1}}) == []
    with pytest.raises(ValueError, match=r"\$near"):
        store.search(("u",), filter={"n": {"$near": 1}})


@pytest.mark.parametrize("operator", ["$eq", "$ne", "$gt", "$gte", "$lt", "$lte"])
def test_numbers_are_compared_as_the_store_in_memory_does(
    store: MemoryStore, operator: str
) -> None:
    theirs = InMemoryStore()
    for number in (-5, 0, 0.5, 1, "1", "2.5", True):
        for one in (store, theirs):
            one.put(("u",), repr(number), {"n": number})
    for bound in (-5, 0, 0.25, 1, "1", 3):
        asked = SearchOp(("u",), {"n": {operator: bound}}, 100)
        assert told(store.batch([asked])[0]) == told(theirs.batch([asked])[0]), bound
