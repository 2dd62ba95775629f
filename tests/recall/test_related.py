"""Links in recall: shown beside hits, and followed into the answer on request."""

from __future__ import annotations

import pytest
from folders import Folder

from kimi_memory.domain.note import Link, LinkRel, Status
from kimi_memory.domain.search_types import Answer, Hit, Query


def ids(answer: Answer) -> list[str]:
    return [hit.unit.id for hit in answer.hits]


def hit(answer: Answer, id: str) -> Hit:
    return next(hit for hit in answer.hits if hit.unit.id == id)


def chain(folder: Folder) -> None:
    """Write cards that are linked in a row, with not a word in common."""
    to_port = (Link("card-port", LinkRel.DEPENDS_ON, 0.9, "listens there"),)
    to_why = (Link("card-why", LinkRel.CAUSED_BY, 0.5),)
    folder.card("proxy", "Proxy", "The proxy terminates every connection.", links=to_port)
    folder.card("port", "端口", "网关端口是 8080", links=to_why)
    folder.card("why", "Rule", "Ops forbids privileged numbers.")
    folder.card("tea", "Tea", "Oolong is brewed at ninety degrees.")


def test_a_hit_names_what_it_is_linked_with_from_both_ends(folder: Folder) -> None:
    chain(folder)
    [near] = hit(folder.ask("proxy"), "card-proxy").related
    assert (near.id, near.title, near.rel, near.weight) == ("card-port", "端口", "DEPENDS_ON", 0.9)
    back = hit(folder.ask("网关端口"), "card-port").related
    assert [(one.id, one.rel) for one in back] == [
        ("card-proxy", "NEEDED_BY"),
        ("card-why", "CAUSED_BY"),
    ]
    assert hit(folder.ask("oolong"), "card-tea").related == ()


def test_links_are_followed_only_on_request(folder: Folder) -> None:
    chain(folder)
    assert ids(folder.ask("proxy")) == ["card-proxy"]
    assert ids(folder.ask("proxy", hops=0)) == ["card-proxy"]
    assert ids(folder.ask("proxy", hops=1)) == ["card-proxy", "card-port"]
    assert ids(folder.ask("proxy", hops=2)) == ["card-proxy", "card-port", "card-why"]
    assert ids(folder.ask("proxy", hops=9)) == ["card-proxy", "card-port", "card-why"]


def test_the_setting_counts_where_the_question_says_nothing(folder: Folder) -> None:
    chain(folder)

    recall = folder.recall(hops=1)
    assert ids(recall.search(Query(text="proxy"))) == ["card-proxy", "card-port"]
    assert ids(recall.search(Query(text="proxy", hops=0))) == ["card-proxy"]


def test_what_is_reached_scores_by_the_links_on_the_way_and_says_so(folder: Folder) -> None:
    chain(folder)
    answer = folder.ask("proxy", hops=2)
    start = answer.hits[0].score
    port, why = hit(answer, "card-port"), hit(answer, "card-why")
    assert port.score == pytest.approx(start * 0.9)
    assert why.score == pytest.approx(start * 0.9 * 0.5)
    assert (port.lanes, dict(port.parts)) == (("graph",), {"graph": port.score})
    assert port.snippet == "网关端口是 8080"


def test_what_was_found_by_its_own_words_keeps_its_score(folder: Folder) -> None:
    folder.card("a", "One", "The proxy is old.", links=(Link("card-b", weight=1.0),))
    folder.card("b", "Two", "A second proxy.")
    plain = {one.unit.id: one.score for one in folder.ask("proxy").hits}
    assert {one.unit.id: one.score for one in folder.ask("proxy", hops=1).hits} == plain


def test_filters_and_the_floor_hold_for_what_is_reached(folder: Folder) -> None:
    chain(folder)
    assert ids(folder.ask("proxy", hops=2, key=("proxy",))) == ["card-proxy"]
    assert (
        ids(folder.ask("proxy", hops=2, min_score=0.8))
        == ["card-proxy", "card-port"][: 1 + (folder.ask("proxy").hits[0].score * 0.9 >= 0.8)]
    )


def test_what_holds_no_more_is_neither_shown_nor_reached(folder: Folder) -> None:
    links = (Link("card-old"), Link("card-gone"), Link("card-b", weight=0.0, reason="rejected"))
    folder.card("a", "A", "The proxy.", links=links)
    folder.card("old", "Old", "Archived words", status=Status.ARCHIVED)
    folder.card("b", "B", "Others")
    answer = folder.ask("proxy", hops=1)
    assert ids(answer) == ["card-a"]
    assert answer.hits[0].related == ()


@pytest.mark.parametrize("name", ["端口说明", "semantic/general/port.md", "port.number", "Port"])
def test_wikilinks_lead_by_title_by_file_and_by_key(folder: Folder, name: str) -> None:
    folder.card("a", "A", f"The proxy, see [[{name}|there]].")
    folder.card("port", "端口说明", "8080", key="port.number")
    answer = folder.ask("proxy", hops=1)
    assert ids(answer) == ["card-a", "card-port"]
    assert answer.hits[0].related[0].rel == "RELATES_TO"


def test_the_disk_index_gives_the_same_links(folder: Folder) -> None:
    chain(folder)
    before = folder.ask("proxy", hops=2)
    index = folder.index()
    index.refresh()
    after = folder.ask("proxy", folder.index(), hops=2)
    assert [(one.unit.id, one.score, one.related) for one in before.hits] == [
        (one.unit.id, one.score, one.related) for one in after.hits
    ]


def test_a_cold_card_counts_a_little_less(folder: Folder) -> None:
    folder.card("a", "Same", "The proxy is old.", temperature=0.0)
    folder.card("b", "Same", "The proxy is old.")
    answer = folder.ask("proxy")
    assert ids(answer) == ["card-b", "card-a"]
    assert hit(answer, "card-a").parts["temperature"] == 0.9


def test_a_question_of_causes_or_needs_follows_those_links_alone(folder: Folder) -> None:
    chain(folder)
    assert ids(folder.ask("what does the proxy depend on?")) == ["card-proxy", "card-port"]
    assert ids(folder.ask("why is there a proxy?")) == ["card-proxy"]
    assert ids(folder.ask("网关端口为什么是 8080？")) == ["card-port", "card-why"]
    assert ids(folder.ask("what depends on 网关端口?")) == ["card-port", "card-proxy"]
    assert ids(folder.ask("why is there a proxy?", hops=0)) == ["card-proxy"]
    assert ids(folder.ask("what does the proxy depend on?", hops=0)) == ["card-proxy"]
