"""What a later session changes of what no card held so far."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.domain.note import Card, Status
from kimi_memory.store.notes.notes import Shelf

Talks = Callable[..., dict[str, Card]]


@pytest.fixture
def talks(tmp_path: Path) -> Talks:
    """Return what holds sessions of one person, three weeks apart, and gives the cards."""
    now = [datetime(2026, 3, 2, 10, tzinfo=UTC)]
    opening = Opening(clock=lambda: now[0], background=False)
    Memory.create(tmp_path / "m", opening=opening).close()

    def run(*sessions: list[str]) -> dict[str, Card]:
        with Memory.open(tmp_path / "m", opening) as memory:
            for number, said in enumerate(sessions):
                session = memory.session(f"s{number}")
                for text in said:
                    session.turn("user", text)
                    session.turn("assistant", "understood, thank you")
                session.end()
                now[0] += timedelta(days=21)
            shelf = Shelf(memory.store)
            return {card.value: card for card in shelf.cards([h.key for h in shelf.heads()])}

    return run


def test_what_was_so_is_kept_as_a_card_of_the_past(talks: Talks) -> None:
    cards = talks(
        ["we take the slow boat with the blue cabins to Naxos", "the dog stays with my aunt Vera"],
        ["the slow boat to Naxos is cancelled, so we take a plane from Athens instead"],
    )
    (new,) = (card for value, card in cards.items() if "plane" in value)
    (old,) = (card for value, card in cards.items() if "blue cabins" in value)
    assert (new.status, old.status) == (Status.ACTIVE, Status.SUPERSEDED)
    assert new.supersedes == (old.id,)
    assert old.valid_to is not None
    assert old.quotes[0].session == "s0"


def test_another_matter_is_left_alone(talks: Talks) -> None:
    cards = talks(
        ["we take the slow boat with the blue cabins to Naxos"],
        ["the concert of the twins in Lille is cancelled, we go to the lake instead"],
    )
    assert not any(card.status is Status.SUPERSEDED for card in cards.values())


def test_what_holds_for_years_is_not_ended_by_a_change_of_plans(talks: Talks) -> None:
    cards = talks(
        ["my nephew Olle is allergic to walnut cake from the market stall"],
        ["no walnut cake from the market stall after all, we bake plum cake with Olle instead"],
    )
    assert not any(
        "allergic" in value and c.status is Status.SUPERSEDED for value, c in cards.items()
    )


def test_a_permission_ends_an_order(talks: Talks) -> None:
    cards = talks(
        ["from now on never show me diagrams, my screen is tiny"],
        ["diagrams are fine now, i have a new screen"],
    )
    states = {value: card.status for value, card in cards.items()}
    assert Status.SUPERSEDED in {s for v, s in states.items() if v.startswith("from now on")}
    assert Status.ACTIVE in {s for v, s in states.items() if v.startswith("diagrams are fine")}


def test_what_is_done_ends_its_plan(talks: Talks) -> None:
    cards = talks(
        ["the new bridge gate must be open by 4 may, i promised the mayor"],
        ["the bridge gate is open since 2 may, no queue at all"],
    )
    states = {value: card.status for value, card in cards.items()}
    assert Status.SUPERSEDED in {s for v, s in states.items() if "must be open" in v}


def test_what_has_a_name_of_its_own_is_not_ended_by_a_change_of_something_else(
    talks: Talks,
) -> None:
    cards = talks(
        ["remember that the owner of Heron is Odile", "remember: the mascot of Heron is an otter"],
        ["we moved the region of Heron from Lille to Ghent after all, Odile agreed"],
    )
    ended = [value for value, card in cards.items() if card.status is Status.SUPERSEDED]
    assert not any("owner" in value or "mascot" in value for value in ended)


def test_a_name_in_chinese_is_one_thing(talks: Talks) -> None:
    cards = talks(
        ["青鸾项目的展台五月三号搭，在二号馆"],
        ["青鸾项目的海报改成竖版了，印刷厂已经知道"],
    )
    ended = [value for value, card in cards.items() if card.status is Status.SUPERSEDED]
    assert not any("展台" in value for value in ended)


def test_what_a_replaced_card_says_besides_stays(talks: Talks) -> None:
    cards = talks(
        [
            "My sister Nele studies medicine in Graz until July 2029. "
            "I pay her 1850 a month by standing order until July."
        ],
        ["the standing order for Nele went up from 1850 to 2100 on 4 May"],
    )
    by_status = {str(card.status): value for value, card in cards.items() if "Nele" in value}
    assert "1850" in by_status["superseded"]
    live = [value for value, card in cards.items() if card.status is Status.ACTIVE]
    assert any("medicine in Graz" in value and "1850" not in value for value in live)
    assert any("2100" in value for value in live)


def test_the_sum_of_what_every_turn_is_about_is_changed(talks: Talks) -> None:
    planning = [f"预算里{what}要留一些" for what in ("机票", "酒店", "吃饭", "门票", "交通")]
    cards = talks(
        ["预算一万二一个人，跟闺蜜一起去爬雪山", *planning],
        ["预算减到9400，因为我报了个吉他课，花了2600"],
    )
    (old,) = (card for value, card in cards.items() if "一万二" in value)
    assert old.status is Status.SUPERSEDED


@pytest.mark.parametrize(
    ("first", "later"),
    [
        (
            "Note of 7 March: Ida and I plan the harvest fair for Saturday 14 March. "
            "Sixty percent of the stall money goes to the roof fund; the rest pays the band.",
            "Week plan adjusted: because of the fair with Per on Saturday 9 May, the choir week "
            "planned for the weekend is postponed to June.",
        ),
        (
            "奖金分配计划：六成继续投入教育账户；三成转入旅行账户，4月5日周六办。",
            "本周计划调整：因5月9日周六陪客户爬山，原定周末的笛子练习计划推迟到下周。",
        ),
        (
            "你的讲解非常系统，把我零碎的想法和项目都串起来了。",
            "感觉不再是零碎的木工项目，成了一个完整的系统，5月9日开始试做。",
        ),
    ],
)
def test_a_note_with_words_of_change_ends_no_note_of_another_matter(
    talks: Talks, first: str, later: str
) -> None:
    cards = talks([first], [later])
    assert not any(card.status is Status.SUPERSEDED for card in cards.values())
    # and none was cut into a piece that leaves out what stood before it
    assert not any(value.startswith(("the rest", "三成")) for value in cards)
