"""What a session says first and changes later."""

from __future__ import annotations

import pytest

from kimi_memory.text.changed_later import Changes, may_replace, replaces, sets_free, tells_change


@pytest.mark.parametrize(
    ("first", "later"),
    [
        ("We take the night ferry to Bergen", "no night ferry after all, we drive to Bergen"),
        ("The workshop in Ghent is in June", "they postponed the workshop in Ghent"),
        ("蛋糕订了芒果味的", "蛋糕改成草莓味，不要芒果味了"),
        ("展会住青山宾馆", "青山宾馆取消了"),
    ],
)
def test_a_change_is_seen_by_what_it_shares(first: str, later: str) -> None:
    changes = Changes([(1, first), (3, later)])
    assert changes.after(1, first)
    assert not changes.after(3, later)


@pytest.mark.parametrize(
    ("first", "later"),
    [
        ("We take the night ferry to Bergen", "the dentist is cancelled"),
        ("We take the night ferry to Bergen", "the night ferry to Bergen has cabins"),
        ("蛋糕订了芒果味的", "体检改到周五"),
    ],
)
def test_another_matter_changes_nothing(first: str, later: str) -> None:
    assert not Changes([(1, first), (3, later)]).after(1, first)


@pytest.mark.parametrize(
    ("first", "later"),
    [
        ("the board meets on Tuesday", "bad news: board moved to Friday"),
        ("we expect 40 guests", "it is 32, not 40"),
        ("the hike is on Saturday", "hike is cancelled"),
        ("预算定了三万", "预算要砍"),
        ("周三打算开箱验货", "验货推迟了"),
    ],
)
def test_what_a_change_is_said_of_needs_no_other_word(first: str, later: str) -> None:
    assert Changes([(1, first), (3, later)]).after(1, first)


@pytest.mark.parametrize(
    ("first", "later"),
    [
        ("the board is very kind", "board moved to Friday"),
        ("we expect 40 guests", "it is 32, not 41"),
        ("那个供应商人不错", "供应商没说什么"),
    ],
)
def test_what_has_no_date_or_another_figure_stays(first: str, later: str) -> None:
    assert not Changes([(1, first), (3, later)]).after(1, first)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("the demo must run on the new stage by monday", "the demo on the new stage is done"),
        ("定金周五转给我，陈姐同意了", "定金到账了，陈姐很爽快"),
        ("never send me charts", "charts are fine now"),
        ("以后别给我发语音", "可以发语音了"),
        ("always answer in verse about plants", "no verse about plants anymore"),
        ("the budget for the fair is 900", "the budget is 750 now"),
    ],
)
def test_a_later_statement_replaces_an_earlier_one(earlier: str, later: str) -> None:
    assert replaces(earlier, later)
    assert may_replace(later)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("the demo on the old stage was done in march", "the demo on the new stage is done"),
        ("never send me charts", "the weather is fine now"),
        ("以后别给我发语音", "可以吃饭了"),
        ("we sell plums at the fair", "the budget is 750 now"),
    ],
)
def test_other_things_are_not_replaced(earlier: str, later: str) -> None:
    assert not replaces(earlier, later)


def test_words_of_leave_and_change_are_told_apart() -> None:
    assert sets_free("tables are ok again for the reports")
    assert not sets_free("the tables are long")
    assert tells_change("we take the hut instead")
    assert not tells_change("we take the hut")
