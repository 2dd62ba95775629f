"""A brief: sections in order, orders first, nothing twice, within its budget."""

from __future__ import annotations

import pytest

from kimi_memory.domain.brief import Point, Section, choose, rank_of, section_of
from kimi_memory.domain.note import CardType
from kimi_memory.nlp.basic.sentences import estimate

LONG = "It has seven doors, and the key of each of them hangs behind the next one"


def point(section: Section, text: str, id: str = "", *rank: float) -> Point:
    return Point(section, id or f"card-{text}", text, f"- {text}", rank)


@pytest.mark.parametrize(
    ("type", "key", "section"),
    [
        (CardType.FACT, "user.home", Section.WHO),
        (CardType.ENTITY, "user.name", Section.WHO),
        (CardType.ENTITY, "karl", Section.PEOPLE),
        (CardType.FACT, "garage.code", Section.ALSO),
        (CardType.RULE, "", Section.HOW),
        (CardType.PREFERENCE, "", Section.HOW),
        (CardType.DECISION, "db", Section.DECISIONS),
        (CardType.GOTCHA, "", Section.LESSONS),
        (CardType.TASK_STATE, "", Section.OPEN),
    ],
)
def test_each_sort_of_card_has_its_section(type: CardType, key: str, section: Section) -> None:
    assert section_of(type, key) is section


def test_orders_come_first_then_weight_then_the_newest() -> None:
    order = rank_of(CardType.RULE, 0.5, 0.5, 1)
    heavy, new = (
        rank_of(CardType.PREFERENCE, 0.9, 0.9, 1),
        rank_of(CardType.PREFERENCE, 0.5, 0.5, 2),
    )
    old = rank_of(CardType.PREFERENCE, 0.5, 0.5, 1)
    assert sorted([old, new, heavy, order]) == [order, heavy, new, old]


def test_sections_stand_in_the_order_of_a_page() -> None:
    points = [point(section, f"line {number:02}") for number, section in enumerate(Section)]
    assert [one.section for one in choose(reversed(points), 1000)] == list(Section)


def test_a_point_stands_under_its_heading_and_takes_the_room_of_its_section() -> None:
    told = point(Section.WHO, "forty boats came", "turn-a-1")._replace(under=Section.LATELY)
    home = point(Section.WHO, "lives in Kiel", "card-a")
    rule = point(Section.HOW, "Never push to main", "card-b")
    assert [one.heading for one in choose([told, rule, home], 1000)] == [
        Section.WHO,
        Section.HOW,
        Section.LATELY,
    ]


def test_what_a_card_says_is_not_said_again_by_a_longer_line() -> None:
    card = point(Section.HOW, "Never push to main", "card-a", 1)
    line = point(Section.DECISIONS, "ok. never push to main!", "turn-a-1", 0)
    other = point(Section.DECISIONS, "use SQLite", "turn-a-2", 1)
    assert choose([line, card, other], 1000) == [card, other]


def test_a_line_that_says_much_more_than_a_card_stands_beside_it() -> None:
    card = point(Section.HOW, "Never push to main", "card-a", 1)
    line = point(Section.DECISIONS, f"Never push to main. {LONG}", "turn-a-1", 0)
    assert choose([line, card], 1000) == [card, line]


@pytest.mark.parametrize(
    ("held", "line", "repeated"),
    [
        ("密码不要发群里。（原因：有人截图外传。）", "记住教训：密码不要发群里。", True),
        ("Check the fuse first. (Reason: it blew.)", "Lesson: check the fuse first.", True),
        ("Check the fuse first.", "Check the fuse first, and order a spare pump.", False),
        ("密码不要发群里。", "密码不要发群里，备用钥匙年底之前都交给王阿姨。", False),
    ],
)
def test_a_line_of_a_session_that_mostly_repeats_a_card_is_left_out(
    held: str, line: str, repeated: bool
) -> None:
    card, said = point(Section.LESSONS, held, "card-a"), point(Section.LESSONS, line, "turn-a-1", 1)
    assert choose([said, card], 1000) == ([card] if repeated else [card, said])
    # Another card is a statement of its own.
    other = point(Section.LESSONS, line, "card-b", 1)
    assert choose([other, card], 1000)[-1].text == line


def test_room_that_a_section_does_not_need_goes_to_the_others() -> None:
    points = [point(Section.ALSO, f"{LONG} {number}.", "", number) for number in range(40)]
    chosen = choose(points, 200)
    assert [one.rank for one in chosen] == [(float(n),) for n in range(len(chosen))]
    used = sum(estimate(one.shown) + 1 for one in chosen)
    assert 200 - 25 < used <= 200


def test_no_section_takes_the_room_of_another() -> None:
    many = [point(Section.HOW, f"{LONG} {number}.", "", number) for number in range(40)]
    chosen = choose([*many, point(Section.DECISIONS, "use SQLite")], 200)
    assert chosen[-1].text == "use SQLite"


def test_without_room_there_is_nothing() -> None:
    assert choose([point(Section.HOW, LONG)], 3) == []
    assert choose([], 100) == []


@pytest.mark.parametrize(
    ("line", "stands"),
    [
        ("No lectures on nights out. … just the numbers", True),
        ("No lectures on nights out. … and no emoji", False),
        ("…just the numbers", True),
    ],
)
def test_a_line_that_leaves_out_words_repeats_what_has_each_part(line: str, stands: bool) -> None:
    card = point(Section.HOW, "No lectures on nights out. I know. Just the numbers.")
    lines = choose([card, point(Section.HOW, line, "turn-1")], 200)
    assert (len(lines) == 1) == stands


@pytest.mark.parametrize("section", [Section.DECISIONS, Section.WORK])
def test_what_came_of_a_decision_that_a_card_has_is_left_to_its_digest(section: Section) -> None:
    card = point(Section.DECISIONS, "The porch light gets a timer.", "card-a")
    line = point(section, f"The porch light gets a timer → {LONG}", "turn-1", 1)
    other = point(section, "A bell for the gate → bought on the market in spring", "turn-2", 2)
    repeated = section is Section.DECISIONS
    assert choose([card, line, other], 1000) == [card, *([] if repeated else [line]), other]


def test_a_line_that_costs_all_of_the_room_has_it() -> None:
    one, two = point(Section.HOW, LONG), point(Section.DECISIONS, "use SQLite")
    room = sum(estimate(each.shown) + 1 for each in (one, two))
    assert choose([one, two], room) == [one, two]
    assert choose([one, two], room - 1) == [one]
