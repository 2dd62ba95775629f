"""The entities of an agent, and the cards beside them."""

from __future__ import annotations

import pytest

from kimi_memory import Memory
from kimi_memory.errors import UsageError
from kimi_memory.operations.entities import Entities
from kimi_memory.operations.entity import Entity, Relation
from kimi_memory.operations.links import Wanted, link
from kimi_memory.store.notes.notes import Shelf
from tests.conftest import Clock

LI = Entity("小李", "person", ("每天下午喝绿茶", "writes Go"))
ACME = Entity("Acme", "company")
WORKS = Relation("小李", "Acme", "works_at")


@pytest.fixture
def graph(memory: Memory) -> Entities:
    made = Entities(memory, "mcp")
    made.add([LI, ACME])
    made.relate([WORKS])
    return made


def test_what_was_added_is_there_in_order_of_names(graph: Entities) -> None:
    shown = graph.whole()
    assert shown.entities == (ACME, LI)
    assert shown.relations == (WORKS,)


def test_what_is_known_is_not_added_again(graph: Entities) -> None:
    assert graph.add([Entity("Acme", "person"), Entity("x", "y")]) == [Entity("x", "y")]
    assert graph.relate([WORKS]) == []
    assert graph.observe([("小李", ["writes Go", "owns a cat"])]) == [("小李", ["owns a cat"])]


def test_removing_an_entity_takes_its_relations_along(graph: Entities) -> None:
    graph.remove(["Acme", "nobody"])
    assert graph.whole().entities == (LI,)
    assert graph.whole().relations == ()


def test_observations_and_relations_can_be_taken_back(graph: Entities) -> None:
    graph.take_back([("小李", ["writes Go"]), ("nobody", ["x"])])
    graph.part([WORKS, Relation("a", "b", "c")])
    assert graph.open(["小李"]).entities[0].observations == ("每天下午喝绿茶",)
    assert graph.open(["小李"]).relations == ()


def test_a_relation_may_lead_from_a_name_nobody_described(graph: Entities) -> None:
    ghost = Relation("ghost", "Acme", "haunts")
    graph.relate([ghost])
    assert graph.open(["ghost"]).entities == ()
    assert ghost in graph.open(["Acme"]).relations
    assert graph.add([Entity("ghost", "spirit")]) == [Entity("ghost", "spirit")]
    assert ghost in graph.open(["ghost"]).relations


def test_a_call_that_fails_changes_nothing(memory: Memory, graph: Entities) -> None:
    before = {path: memory.store.read(path) for path in memory.store.files()}
    with pytest.raises(UsageError, match="no entity 'nobody'"):
        graph.observe([("小李", ["new"]), ("nobody", ["x"])])
    assert {path: memory.store.read(path) for path in memory.store.files()} == before


@pytest.mark.parametrize("words", ["绿茶", "PERSON", "小李"])
def test_search_looks_into_names_types_and_observations(graph: Entities, words: str) -> None:
    shown = graph.search(words)
    assert shown.entities == (LI,) and shown.relations == (WORKS,)


@pytest.mark.parametrize("question", ["小李下午喝什么茶？", "Who writes programs in Go?"])
def test_a_question_is_answered_by_recall(graph: Entities, question: str) -> None:
    assert LI in graph.search(question).entities


def test_an_empty_search_shows_everything_of_the_agent(graph: Entities) -> None:
    assert graph.search("").entities == (ACME, LI)


def test_cards_are_entities_and_their_links_relations(memory: Memory, graph: Entities) -> None:
    memory.remember("The proxy terminates TLS.", key="proxy.tls")
    memory.remember("网关端口统一用 8080。", key="gateway.port")
    ids = {entry.key: entry.id for entry in Shelf(memory.store).entries().values()}
    link(memory, Wanted(source=ids["proxy.tls"], target=ids["gateway.port"]))
    card = Entity("gateway.port", "decision", ("网关端口统一用 8080。",))
    assert card in graph.whole().entities
    assert graph.search("网关端口").entities == (card,)
    shown = graph.open(["gateway.port", "proxy.tls"])
    assert {one.name for one in shown.entities} == {"gateway.port", "proxy.tls"}
    assert Relation("proxy.tls", "gateway.port", "RELATES_TO") in shown.relations


def test_an_agent_speaks_about_a_card_and_cannot_remove_it(memory: Memory, graph: Entities) -> None:
    memory.remember("The staging database listens on port 6543.", key="staging.port")
    with pytest.raises(UsageError, match="not yours to delete"):
        graph.remove(["staging.port"])
    graph.observe([("staging.port", ["it was 5432 before"])])
    graph.relate([Relation("staging.port", "Acme", "belongs_to")])
    (shown,) = graph.open(["staging.port"]).entities
    assert shown.type == "fact"
    assert set(shown.observations) == {
        "it was 5432 before",
        "The staging database listens on port 6543.",
    }
    graph.remove(["staging.port"])
    (left,) = graph.open(["staging.port"]).entities
    assert left.observations == ("The staging database listens on port 6543.",)


def test_of_many_cards_those_spoken_of_last_are_shown(memory: Memory, clock: Clock) -> None:
    for n, line in enumerate(["Ann prefers tea.", "部署定在每周五下午。", "The port is 6543."]):
        memory.remember(line, key=f"card.{n}", type="fact")
        clock.move(minutes=1)
    shown = Entities(memory, "mcp").whole(cards=2)
    assert [one.name for one in shown.entities] == ["card.1", "card.2"]


def test_what_is_kept_is_a_file_that_recall_shows_as_an_agents_word(
    memory: Memory, graph: Entities
) -> None:
    (hit, *_) = memory.recall("谁喝绿茶？").hits
    assert hit.unit.path == "mid-term/agents/mcp/graph/小李.md"
    assert (hit.unit.trust, hit.unit.agent) == ("agent", "mcp")
    assert b"\n[[acme" in memory.store.read(hit.unit.path)
    assert memory.batch.pending()


def test_secrets_are_masked_and_name_nothing(memory: Memory, graph: Entities) -> None:
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    graph.observe([("小李", [f"token {key}"])])
    assert "⟦redacted:" in graph.open(["小李"]).entities[0].observations[-1]
    with pytest.raises(UsageError, match="cannot name an entity"):
        graph.add([Entity(key, "person")])
    with pytest.raises(UsageError, match="cannot name an entity"):
        graph.add([Entity(" ", "person")])
    held = b"".join(memory.store.read(path) for path in memory.store.files())
    assert key.encode() not in held


def test_a_file_that_a_person_broke_is_left_out(memory: Memory, graph: Entities) -> None:
    place = memory.root / "mid-term/agents/mcp/graph/小李.md"
    text = place.read_text(encoding="utf-8")
    place.write_text(text.replace("writes Go", "writes Rust"), encoding="utf-8")
    assert "writes Rust" in graph.open(["小李"]).entities[0].observations
    place.write_text(text.replace('"observations": [', '"observations": {'), encoding="utf-8")
    assert graph.whole().entities == (ACME,)


def test_agents_do_not_see_each_other(memory: Memory, graph: Entities) -> None:
    assert Entities(memory, "other").whole().entities == ()
