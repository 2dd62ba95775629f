"""Links between the cards of a session, and from them to what was known."""

from __future__ import annotations

from kimi_memory import Memory
from kimi_memory.domain.draft import Draft, Tie
from kimi_memory.domain.graph import SHARED_NAME
from kimi_memory.domain.job import Op, Step
from kimi_memory.domain.note import Card, CardType, Lang, Link, LinkRel, Quote, Status
from kimi_memory.jobs.lifetimes import with_links
from kimi_memory.store.notes.notes import Shelf
from tests.jobs.notes import NOW, card, put


def linked(memory: Memory, *cards: Card, drafts: tuple[Draft, ...] = ()) -> dict[str, list[Link]]:
    """Return the links of the cards of a session, by id."""
    steps = [Step(Op.ADD, one, "new") for one in cards]
    found = [step.note for step in with_links(steps, drafts, Shelf(memory.store), NOW)]
    return {one.id: list(one.links) for one in found if isinstance(one, Card) and one.links}


def draft(value: str, *ties: Tie) -> Draft:
    return Draft(
        type=CardType.FACT, key="k", title=value, value=value, at=NOW, lang=Lang.EN, ties=ties,
        quotes=(Quote("s", 1, value),),
    )  # fmt: skip


def test_what_a_card_needs_is_linked_within_the_session_and_to_what_was_known(
    memory: Memory,
) -> None:
    put(memory, card("key", "The signing key is renewed in March."))
    release = card("release", "The release depends on the signing key and needs the badge printer.")
    badge = card("badge", "The badge printer stands on floor two.")
    found = linked(memory, release, badge)
    assert {(link.to, link.rel) for link in found.pop("card-release")} == {
        ("card-key", LinkRel.DEPENDS_ON),
        ("card-badge", LinkRel.DEPENDS_ON),
    }
    assert found == {}


def test_the_reason_of_a_card_leads_to_the_card_that_tells_it(memory: Memory) -> None:
    why = card("why", "快递仓库搬到了郊区，交货总是晚。")
    chosen = card("chosen", "我们换了供应商，因为交货总是晚。")
    [link] = linked(memory, why, chosen)["card-chosen"]
    assert (link.to, link.rel, link.reason) == ("card-why", LinkRel.CAUSED_BY, "交货总是晚")


def test_cards_that_name_one_thing_are_linked_once_and_lightly(memory: Memory) -> None:
    first, second = card("a", "Gateway 用 8080 端口。"), card("b", "每周备份 Gateway 配置。")
    [link] = linked(memory, first, second)["card-b"]
    assert (link.rel, link.to, link.weight) == (LinkRel.RELATES_TO, "card-a", 0.4)
    assert link.reason == f"{SHARED_NAME} gateway"


def test_what_every_card_names_and_whose_it_is_links_nothing(memory: Memory) -> None:
    rows = ("boots slowly", "has a red lamp", "was bought used", "hums at night", "is heavy")
    assert linked(memory, *(card(f"c{n}", f"The NAS {row}.") for n, row in enumerate(rows))) == {}
    both = ("My friend Gina sings.", "On Sundays Gina rows.")
    own = (card(f"g{n}", text, key=f"gina.hobby.{n}") for n, text in enumerate(both))
    assert linked(memory, *own) == {}


def test_cards_of_other_projects_and_scopes_and_dead_ones_are_not_reached(memory: Memory) -> None:
    put(
        memory,
        card("p", "The signing key is renewed in March.", project="other"),
        card("s", "The signing key lies in the safe.", scope="agent:x"),
        card("d", "The signing key was lost.", status=Status.SUPERSEDED),
    )
    release = card("release", "The release depends on the signing key.", project="apollo")
    assert linked(memory, release) == {}


def test_a_link_that_stands_is_not_stated_again(memory: Memory) -> None:
    put(memory, card("key", "The signing key is renewed in March."))
    by_hand = Link("card-key", LinkRel.RELATES_TO, 0.9, "mine")
    release = card("release", "The release depends on the signing key.", links=(by_hand,))
    assert linked(memory, release) == {"card-release": [by_hand]}


def test_what_a_model_states_is_linked_and_a_contradiction_waits(memory: Memory) -> None:
    sky, sea = card("sky", "The roof is blue."), card("sea", "The roof is green.")
    ties = (Tie(LinkRel.CONTRADICTS, sea.value, "two colours"), Tie(LinkRel.SIMILAR_TO, "gone"))
    found = linked(memory, sky, sea, drafts=(draft(sky.value, *ties), draft(sea.value)))
    assert found == {
        "card-sky": [Link("card-sea", LinkRel.CONTRADICTS, 0.7, "suggested: two colours")]
    }


def test_a_session_of_the_memory_states_its_links(memory: Memory) -> None:
    session = memory.session("s")
    session.turn("user", "记住：网关的告警走短信通道。")
    session.turn("assistant", "好的。")
    session.turn("user", "记住：夜间值班依赖网关的告警。")
    session.end()
    cards = [f.note for f in Shelf(memory.store).notes("card") if isinstance(f.note, Card)]
    [link] = [link for one in cards for link in one.links]
    assert link.rel is LinkRel.DEPENDS_ON
