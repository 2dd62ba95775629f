"""What a session says first and changes later."""

from __future__ import annotations

import pytest

from kimi_memory.nlp.rules.changed_later import (
    Changes,
    is_directive,
    may_replace,
    replaces,
    sets_free,
    tells_change,
    unchanged_part,
)


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
        # each corrects the value of a thing of its own
        (
            "I was wrong earlier, Heron's database is Oracle",
            "I was wrong earlier, Wren's port is 7",
        ),
        ("Sorry, wrong: Heron's database is DuckDB", "Sorry, wrong: our database is DuckDB now"),
        ("刚才说错了，白鹭的数据库是达梦", "刚才说错了，我们的数据库改成达梦了"),
    ],
)
def test_other_things_are_not_replaced(earlier: str, later: str) -> None:
    assert not replaces(earlier, later)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        # the old value is named
        ("there are 14 crates in the cellar", "we counted again, 17 crates instead of 14"),
        ("logs stay for 30 days, the auditors are fine", "so the 30 days rule is dead, make it 45"),
        ("the choir rehearses in Lund", "the choir rehearses in Malmo, not in Lund any more"),
        ("the fee is 25 euros a head", "the fee went from 25 euros to 31"),
        ("training is 40 km a week", "training went up from 40 km to 55"),
        ("合唱团有32人", "合唱团从32人增加到40人"),
        # it moves, falls through or cannot be
        ("yoga with Ines is at the harbour", "yoga moves to Sundays, Ines leaves the harbour hall"),
        ("the deal with Brandt for the barn stands", "the barn deal with Brandt fell through"),
        ("周末去青岛看小舅", "青岛去不成了，小舅出差"),
        # an order is come back to, or leave is given
        (
            "never use nicknames in letters",
            "you said no nicknames before, you can use nicknames now",
        ),
        ("以后别给我推荐火锅店", "上次说别推荐火锅店那个，现在可以推荐了"),
        ("don't edit the glossary", "you may edit the glossary, but ask Pim first"),
        # what was ahead is done
        ("we plan to order the Falk tent by the 9th", "the Falk tent is paid since the 9th"),
    ],
)
def test_an_old_value_that_is_named_or_revisited_is_replaced(earlier: str, later: str) -> None:
    assert replaces(earlier, later)
    assert may_replace(later)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        # the change names another old value
        ("the printer image is on java 8 and crashes", "found 9 java images instead of 6"),
        ("the choir rehearses in Lund with Ines", "the choir sings in Malmo, not in Oslo"),
        # only figures, units and times are shared
        ("2 hours on monday for the tax papers", "2 hours of fear, so we fly after all on monday"),
        ("glovebox 2 was at 18 ppm for a week in december", "8 weeks now, so no more trains at 8"),
        ("租约2年，8月到期", "咖啡机8月坏了2次，改到店里喝"),
        # leave for another thing, or with another verb
        ("don't edit the glossary", "you may edit the index"),
        ("don't translate the glossary", "you can print the glossary"),
        ("以后别给我推荐火锅店", "上次说的青岛，可以坐船"),
        # a list of orders is not ended by one of them
        ("1) never use nicknames 2) always sign", "you said no nicknames before, you can now"),
        # ranges are no changes
        ("the shop in Lund has 9 shelves", "the shop is open from 9 to 5"),
        # words for a plan, a note and a week are of any plan
        (
            "note of the week: Ida plans the fair on 3 May",
            "week plan changed, the boat is postponed",
        ),
        ("本周记录：计划周六和小荷去看灯展", "本周计划调整，周六的羽毛球推迟到下周"),
        ("复习计划：5月3日前读完第二章", "原定的搬家计划推迟到6月"),
        # the shared words stand in sentences of their own, apart from the change
        (
            "Ida and Per tune the organ. The chapel in Visby has rooms for 12 guests on 3 May.",
            "The oven moved to the cellar. Guests love the chapel, Ida says, and Visby is lovely.",
        ),
        (
            "沈师傅在南桥修钟表。他5月3日教小荷吹笛子。",
            "烤箱换到地下室了。南桥的笛子铺真好看，小荷也喜欢。",
        ),
        # what is done is another piece of work on some of the same things
        (
            "the roof tiles must reach the barn before the storm, Odo orders slate from Ghent",
            "the count of spare tiles in the barn was completed, with a look at cracks and moss",
        ),
        # a compound is another thing than one of its words
        ("写作计划：每天写作500字，周五交稿", "毛笔写作大赛推迟了"),
        ("我在整理工作台，周五前弄完", "这样能从工作脑换到休息脑"),
        ("老师给的体系好，零碎的项目串起来了", "这不再是零碎的手工项目，成了一个体系"),
    ],
)
def test_what_names_something_else_replaces_nothing(earlier: str, later: str) -> None:
    assert not replaces(earlier, later)


def test_the_same_day_is_one_thing_that_both_name() -> None:
    plan = "the regatta must be paid by 4 june, said Odo"
    assert replaces(plan, "we paid the regatta on the 4th")
    assert not replaces(plan, "we paid the dentist on the 5th")
    long = (
        "first regatta must be ready on 4 june, I promised Odo and the harbour crew (ropes, sails)"
    )
    assert replaces(long, "regatta 1 is done since the 4th, no rain, now to learn knots properly")


@pytest.mark.parametrize("text", ["never answer in verse", "不要写表格", "以后都先说结论"])
def test_what_tells_how_to_act_is_a_directive(text: str) -> None:
    assert is_directive(text)
    assert not is_directive("the tent is green")


def test_words_of_leave_and_change_are_told_apart() -> None:
    assert sets_free("tables are ok again for the reports")
    assert not sets_free("the tables are long")
    assert tells_change("we take the hut instead")
    assert not tells_change("we take the hut")
    assert not tells_change("but after all, it is a rented hut")
    assert tells_change("我们不去露营了") and not tells_change("盖子的颜色都不一样了")
    assert not tells_change("过了桥，街景完全不同了")
    # a reason, and a count
    assert tells_change("we take no hut after all, the inn is fine")
    assert not tells_change("After all, my goal is a hut of my own")
    assert not tells_change("我大概算了算小屋的成本")
    assert not tells_change("我算了一下路费")
    assert tells_change("小屋算了，住旅店")


@pytest.mark.parametrize(
    ("earlier", "later", "left"),
    [
        (
            "My sister Ann studies medicine in Leeds. I send her 2500 a month.",
            "it went from 2500 to 3000 a month",
            "My sister Ann studies medicine in Leeds.",
        ),
        (
            "我妹在昆明读大二，学考古的。生活费我每月打1800",
            "生活费从1800加到2200",
            "我妹在昆明读大二，学考古的。",
        ),
        (
            "Never mail the landlord at night. The rent is 1450 a month.",
            "the rent went from 1450 to 1600",
            "Never mail the landlord at night.",
        ),
        ("I send her 2500 a month.", "it went from 2500 to 3000 a month", ""),
        # an item of a list, and what names nobody, do not stand alone
        ("Rent is 1450 a month; a third of it for the barn.", "rent went from 1450 to 1600", ""),
        (
            "The rent is 1450. Her uncle Bo in Lund owns the barn.",
            "rent went from 1450 to 1600",
            "",
        ),
        ("七成（1450元）付房租；两成存进教育账户，备着开学用。", "房租从1450涨到1600", ""),
        ("房租每月1450。她舅舅在昆明读考古，今年毕业。", "房租从1450涨到1600", ""),
        ("ok so. I send her 2500 a month.", "it went from 2500 to 3000 a month", ""),
        ("Ann studies in Leeds. I send her 2500.", "the bakery opens at six", ""),
    ],
)
def test_a_change_leaves_what_it_does_not_name(earlier: str, later: str, left: str) -> None:
    assert unchanged_part(earlier, later) == left


def test_a_long_figure_tells_what_is_meant_and_a_short_one_does_not() -> None:
    assert replaces("rent for the shed is 1450", "we raised it from 1450 to 1600")
    assert not replaces("the shed has 14 boxes", "we raised it from 14 to 16")
    # A year and a time are those of many things.
    assert not replaces("the ferry leaves at 9:30", "the choir moved from 9:30 to 10:00")
    assert not replaces("the lease of the shed ends in 2031", "the fair moved from 2031 to 2032")


def test_what_is_moved_is_named_as_that_one() -> None:
    assert replaces("备份凌晨3点跑", "备份凌晨3点那个，机房要检修，所以挪到5:40吧")
    assert not replaces("早餐凌晨3点送", "备份那个，机房要检修，所以挪到5:40吧")


def test_only_a_later_change_that_shares_enough_counts() -> None:
    turns = [
        (1, "We take the night ferry to Bergen"),
        (3, "no night ferry after all, we drive to Bergen"),
        (5, "the ferry workshop in Ghent is postponed"),
    ]
    changes = Changes(turns)
    assert changes.after(1, turns[0][1])
    assert changes.after(1, turns[0][1], lasting=True) == changes.after(2, turns[0][1], 4)
    assert not changes.after(5, turns[0][1])
    assert not changes.after(1, "Anna sings in a choir")
