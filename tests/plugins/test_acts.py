"""Orders to the agent and decisions by an exchange."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from kimi_memory.domain.draft import Draft
from kimi_memory.domain.note import CardType, Origin, Role
from kimi_memory.domain.session import CODING_RECORDER, Session, Transcript, Turn
from kimi_memory.hooks.host import Host

NOON = datetime(2026, 2, 27, 12, 0, tzinfo=UTC)


def drafts(*spoken: str, names: tuple[str, str] = ("", "")) -> list[Draft]:
    """Return what is distilled of turns in turn: a person's, the agent's (or two people's)."""
    people = any(names)
    turns = tuple(
        Turn(
            n,
            NOON,
            Role.USER if people or n % 2 else Role.ASSISTANT,
            text,
            speaker=names[(n + 1) % 2],
            origin=Origin.HUMAN if people or n % 2 else Origin.AGENT,
        )
        for n, text in enumerate(spoken, 1)
    )
    transcript = Transcript(Session("s1", NOON), turns)
    return Host(entry_points=False).answer("distil_session", transcript=transcript)


def rules(found: list[Draft]) -> list[str]:
    return [draft.value for draft in found if draft.type is CardType.RULE]


@pytest.mark.parametrize(
    "text",
    [
        "always spell my name with a k",
        "from now on quote prices in francs",
        "never suggest flights before nine",
        "whenever i paste a log, look at the timestamps first",
        "以后列清单都按价格排",
        "别再给我发表情了",
        "每次改完都要跑一遍测试",
    ],
)
def test_an_order_with_any_verb_becomes_a_rule(text: str) -> None:
    assert rules(drafts(text, "ok")) == [text]


@pytest.mark.parametrize(
    "text",
    [
        "it always rains in Bergen",
        "i never liked the sea",
        "don't change the port of Atlas to 9090",
        "forget what I said about the port",
        "他们以后会搬走",
        "以后再说吧",
    ],
)
def test_no_order_is_made_of_a_statement(text: str) -> None:
    assert rules(drafts(text, "ok")) == []


def test_two_people_order_an_agent_nothing() -> None:
    found = drafts("always call your mother", "never forget the dog", names=("Ann", "Bob"))
    assert rules(found) == []


def test_an_order_brings_what_stands_beside_it() -> None:
    found = drafts("my daughter can't eat eggs, so always check recipes for them", "ok")
    assert rules(found) == ["my daughter can't eat eggs, so always check recipes for them"]


@pytest.mark.parametrize(
    ("offer", "answer"),
    [
        (
            "**From now on** always run `make all` before a commit.",
            "from now on always run make all before a commit. why?",
        ),
        (
            "下次想加新功能直接说就行，改完一句 deploy 就上线。",
            "下次想加新功能直接说就行，改完一句 deploy 就上线。这句什么意思",
        ),
    ],
)
def test_what_is_copied_from_the_agent_is_no_order(offer: str, answer: str) -> None:
    assert rules(drafts("hello there", offer, answer)) == []


def test_an_order_beside_a_copied_line_stays_one() -> None:
    offer = "I can run the whole suite before every commit if you like."
    found = drafts("hi", offer, f"{offer}\nAlways run the linter first, too.")
    assert rules(found) == ["Always run the linter first, too."]


def test_an_order_in_a_pasted_text_is_none() -> None:
    text = 'the forum says "always book the expensive seats and never ask for a refund", hm'
    assert rules(drafts(text, "ok")) == []


OFFER = "Two ways:\n\nOption A: Patch the roof with bitumen.\nOption B: New sheets of steel."


def test_an_answer_decides_for_an_option() -> None:
    found = drafts("the shed roof leaks", OFFER, "B, it should last", "fine")
    (decision,) = (draft for draft in found if draft.type is CardType.DECISION)
    assert decision.value == "New sheets of steel."
    assert [(q.n, q.text) for q in decision.quotes] == [
        (2, "New sheets of steel."),
        (3, "B, it should last"),
    ]


@pytest.mark.parametrize("answer", ["hm, no idea", "why steel?", "both are dear"])
def test_no_decision_without_a_pick(answer: str) -> None:
    found = drafts("the shed roof leaks", OFFER, answer, "fine")
    assert not [draft for draft in found if draft.type is CardType.DECISION]


def test_a_lesson_stays_a_lesson() -> None:
    text = "教训：上次部署失败是因为没有备份，下次部署之前一定先备份。"
    assert [draft.type for draft in drafts(text, "好的。")] == [CardType.GOTCHA]


def facts(found: list[Draft]) -> list[str]:
    return [draft.value for draft in found if draft.key.startswith("user.dates.")]


def changes(found: list[Draft]) -> list[str]:
    kinds = (CardType.DECISION, CardType.RULE)
    return [draft.value for draft in found if "change" in draft.tags and draft.type in kinds]


@pytest.mark.parametrize(
    "text",
    [
        "the exhibition of our prints opens on 9 june in Basel",
        "my sister Ida starts at the clinic in Umeå next month",
        "我们8月20号搬去宁波，租了两居",
    ],
)
def test_a_plan_or_an_event_with_its_day_becomes_a_card(text: str) -> None:
    assert facts(drafts(text, "ok")) == [text]


@pytest.mark.parametrize(
    "text",
    [
        "Until last year Juniper had yarn as its package manager.",
        "Last month the port of Juniper was 8080.",
        "比方说杜鹃的上线日期是9月1日。",
        "例如杜鹃的截止日期是6月3日。",
        "上个月杜鹃的端口还是8080。",
    ],
)
def test_a_former_value_and_an_example_are_no_plans(text: str) -> None:
    assert not [draft for draft in drafts(text) if draft.key.startswith("user.dates")]


def test_what_is_told_with_a_day_is_kept_as_far_as_it_goes() -> None:
    text = (
        "On May 14 I tore my right calf in the evening game. The doctor in Graz wants six weeks "
        "without running. Until then I row on Mondays and swim on Thursdays with my neighbour."
    )
    (kept,) = facts(drafts(text, "ok"))
    assert kept == text


def test_a_heading_without_what_stands_below_it_is_no_card() -> None:
    assert (
        facts(drafts("My list for the first-aid box, updated on March 15, is as follows:", "ok"))
        == []
    )


@pytest.mark.parametrize(
    "text",
    [
        "maybe we move to Basel next month",
        "is the print fair on 9 june?",
        "haha my boss marries her printer on 9 june",
        "the neighbour says he sells the barn next week",
        "still undecided, Basel or Bern in june",
        "next week then",
        "instead we drive to the Basel fair on 9 june",
        "they moved the Basel fair to 9 june",
    ],
)
def test_what_is_open_doubted_or_said_by_others_does_not(text: str) -> None:
    assert facts(drafts(text, "ok")) == []


def test_among_people_only_turns_of_a_life_are_kept() -> None:
    found = drafts(
        "I had noodles with Kim yesterday, so tasty!",
        "We adopted a kid goat called Rosa in March from the farm in Kiel.",
        names=("Ann", "Ben"),
    )
    assert facts(found) == ["We adopted a kid goat called Rosa in March from the farm in Kiel."]


def test_a_change_is_a_decision() -> None:
    text = "we cancel the tent and take the hut by the lake instead"
    (one,) = (d for d in drafts(text, "ok") if "change" in d.tags)
    assert (one.type, one.value) == (CardType.DECISION, text)


def test_a_permission_is_a_rule() -> None:
    (one,) = (
        d for d in drafts("long tables are ok again for the reports", "ok") if "change" in d.tags
    )
    assert one.type is CardType.RULE


def test_sessions_of_an_agent_at_work_are_left_to_their_digest() -> None:
    work = ["we moved the release from 3 to 9 june", "Looking.", "Reading.", "Testing.", "Done."]
    turns = tuple(
        Turn(
            n,
            NOON,
            Role.USER if n == 1 else Role.ASSISTANT,
            text,
            origin=Origin.HUMAN if n == 1 else Origin.AGENT,
        )
        for n, text in enumerate(work, 1)
    )
    transcript = Transcript(Session("s1", NOON), turns)
    assert transcript.has_agent_at_work()
    found = Host(entry_points=False).answer("distil_session", transcript=transcript)
    assert facts(found) == changes(found) == []


def test_what_to_do_next_is_no_decision() -> None:
    offer = "What's next?\n1. Paint the north gate of the mill?\n2. Mow the lawn behind the well?"
    assert not drafts("hello", offer, "1", "ok")
    assert drafts("hello", offer.replace("?\n2", "\n2"), "1", "ok")


def test_a_plan_is_kept_with_what_its_name_stands_for() -> None:
    spoken = (
        "phase 2: the roof, the door",
        "phase 2 must be done by 3 May, I promised it to Ana",
        "phase 2: the cellar, the wall",
    )
    turns = tuple(
        Turn(n, NOON, Role.USER, text, origin=Origin.HUMAN) for n, text in enumerate(spoken, 1)
    )
    found = Host(entry_points=False).answer(
        "distil_session", transcript=Transcript(Session("s1", NOON), turns)
    )
    (one,) = (draft for draft in found if "dated" in draft.tags)
    assert one.value == f"{spoken[1]} (the roof, the door)"
    assert [(quote.n, quote.text) for quote in one.quotes] == [(1, spoken[0]), (2, spoken[1])]


def work(*spoken: str) -> list[Draft]:
    """Return what is distilled of what a person says to an agent at work."""
    turns = tuple(Turn(n, NOON, Role.USER, text) for n, text in enumerate(spoken, 1))
    transcript = Transcript(Session("s1", NOON, host=CODING_RECORDER), turns)
    return Host(entry_points=False).answer("distil_session", transcript=transcript)


@pytest.mark.parametrize(
    "text",
    [
        "add a list of comments to the sidebar. don't sort it",
        "when I click a comment, scroll to it. don't move the cursor",
        "make the header smaller, but don't change its colour",
    ],
)
def test_how_a_piece_of_work_is_to_be_done_is_no_order(text: str) -> None:
    assert rules(work(text)) == []


@pytest.mark.parametrize(
    "text",
    [
        "don't push to main",
        "add the list. never sort anything in the view",
        "fix the header. don't ever touch the generated files again",
        "please don't add co-authors to commits",
    ],
)
def test_an_order_to_an_agent_at_work_stays_one(text: str) -> None:
    (rule,) = rules(work(text))
    assert rule in text


@pytest.mark.parametrize(
    "text",
    [
        "帮我把左侧区域改为最宽，另外底部靠上一点",
        "可以把背景改为透明吗 和整个框架一致就行",
        "can you change the header to the smaller one, it was decided to be thin",
    ],
)
def test_what_is_asked_of_an_agent_at_work_is_no_decision(text: str) -> None:
    assert [draft for draft in work(text) if draft.type is CardType.DECISION] == []


@pytest.mark.parametrize(
    "text", ["We decided to use pnpm as the package manager.", "数据库改用 Postgres，已经定了。"]
)
def test_what_was_decided_is_kept_while_an_agent_works(text: str) -> None:
    assert [draft.type for draft in work(text)] == [CardType.DECISION]


def test_a_trouble_with_the_work_is_no_fact_about_the_person() -> None:
    found = work(
        "I have a problem with my Wheel.cs file.", "I have a daughter, she is 3 years old."
    )
    values = [draft.value for draft in found if draft.key.startswith("user.")]
    assert not [value for value in values if "Wheel" in value]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("The number of the kiln for our orders is 3675848606.", True),
        ("the port of the kiln is :8443", True),
        ("First image is the kiln, second image is the oven.", False),
        ("Now the door of the kiln is 256 by 256.", False),
        ("We use the following colours for the kiln:", False),
    ],
)
def test_a_fact_about_the_work_gives_a_value(text: str, kept: bool) -> None:
    assert bool(work(text)) is kept


def test_an_order_stands_without_the_errand_beside_it() -> None:
    told = "The header should be green and the list short. If anything is unclear, please ask me."
    assert rules(work(told)) == ["If anything is unclear, please ask me."]


DIARY = (
    "Evening with Tomas. We sat at the mill until ten. He is as he always was, worried about the"
    " house and about the harbour job. We agreed to look at 2 flats on Friday."
)


def test_a_note_is_kept_with_the_sentences_it_leans_on() -> None:
    found = Host(entry_points=False).answer(
        "distil_session",
        transcript=Transcript(
            Session("s1", NOON), (Turn(1, NOON, Role.USER, DIARY, origin=Origin.HUMAN),)
        ),
    )
    assert [draft.value for draft in found] == [DIARY]
    assert not rules(found)


def test_what_an_agent_is_told_is_not_widened_to_a_note() -> None:
    assert DIARY not in [draft.value for draft in drafts(DIARY, "Sounds good.")]


@pytest.mark.parametrize(
    "text",
    [
        "Let's choose together when we talk on Sunday with Ann.",
        "Let's pick a time for the 2 flats in Graz with Ann.",
    ],
)
def test_what_shall_be_decided_later_is_no_decision(text: str) -> None:
    assert not [one for one in drafts(text, "ok") if one.type is CardType.DECISION]


def test_orders_that_stand_apart_are_rules_of_their_own() -> None:
    story = "The shed has nine windows and a stove from Norway that my uncle repaired twice. " * 4
    text = (
        f"Never paint the north wall. {story}"
        "From now on write the shopping list in Norwegian, and always add the prices."
    )
    found = [draft.value for draft in drafts(text, "ok") if "order" in draft.tags]
    assert len(found) == 2
    assert "north wall" in found[0]
    assert "Norwegian" in found[1] and "prices" in found[1]


def test_a_yes_for_always_is_an_order_with_what_was_offered() -> None:
    offer = "Built and installed.\n\nWant me to take a screenshot so you can compare?"
    found = drafts("make the header smaller", offer, "yes always")
    assert rules(found) == ["Want me to take a screenshot so you can compare? → yes always"]


def test_an_option_named_by_its_label_is_a_decision_with_its_words() -> None:
    offer = (
        "Which layout do you want?\n\n1. **Sidebar First**: menus left, wide table\n"
        "2. **Cards**: one card a customer"
    )
    found = drafts("plan the page", offer, "Sidebar First")
    assert [d.value for d in found if d.type is CardType.DECISION] == [
        "Which layout do you want? → Sidebar First: menus left, wide table"
    ]


def test_names_between_commas_do_not_end_an_order() -> None:
    order = "we should bump the number of both, the client and the server each time we release"
    assert rules(drafts(order)) == [order]
    assert not rules(drafts("Let's see, it crashes each time we release"))


@pytest.mark.parametrize(
    ("said", "rule"),
    [
        ("Always deploy on Tuesdays. The deploy port is 9090.", "Always deploy on Tuesdays."),
        ("部署端口是 9090。以后不要在周五部署。", "以后不要在周五部署。"),
    ],
)
def test_an_order_leaves_a_value_beside_it_to_its_own_card(said: str, rule: str) -> None:
    found = drafts(said, "OK.")
    assert rules(found) == [rule]
    assert [one.key for one in found if one.type is CardType.FACT] == ["fact.deploy-port"]
    assert not any("Tuesdays's" in one.value for one in found)


@pytest.mark.parametrize(
    "said",
    [
        "我老公说要不干脆别卖蛋糕了，只卖面包",
        "what if we moved the launch to 12 May",
        "不如我们把开业改到五月",
    ],
)
def test_what_is_only_brought_up_is_no_change(said: str) -> None:
    assert not [one for one in drafts(said, "OK.") if one.type is CardType.DECISION]


@pytest.mark.parametrize(
    ("offer", "answer"),
    [
        ("You keep thinking of the shop's books: is that how letting go feels?", "Yes, just so."),
        ("A patient landlord with a sense of duty is your first choice, right?", "It's so true."),
        ("You seem to be an organised person with a clear system.", "Yes, that's so me!"),
        ("That's a great approach. I'd keep it.", "Thanks, your list suits my habit of planning."),
        ("How about a salad or some soup?", "I'd prefer something warm, my stomach is upset."),
        ("Shall we stretch a little?", "I decided to skip today's workout."),
        ("您还在整理相册的备份，这是不是一种放不下的感觉？", "对，就是这种感觉。"),
        ("所以一位耐心、守信的房东，是您最看重的，对吗？", "是完全正确。"),
        ("看得出跑步的节奏是你的底气。", "嗯，说得太对了"),
        ("提纲分三步，先易后难。", "提纲很清晰，很符合我做事有条理的习惯。"),
        ("要不要做点拉伸？", "今天不练了，早点睡。"),
        ("想要哪种灯？", "能让我从上班切换到做木工的。"),
    ],
)
def test_who_agrees_to_a_remark_or_praises_settles_nothing(offer: str, answer: str) -> None:
    assert drafts("let me tell you of my day", offer, answer) == []


@pytest.mark.parametrize(
    ("offer", "answer", "value"),
    [
        ("I'd suggest storing the drafts in SQLite.", "Yes, let's do that.", "in SQLite"),
        ("我建议每周日把相册备份到移动硬盘。", "好的，就这么办", "每周日把相册备份到移动硬盘"),
    ],
)
def test_who_accepts_an_offer_decides_in_its_words(offer: str, answer: str, value: str) -> None:
    (draft,) = drafts("how shall we do it?", offer, answer)
    assert draft.type is CardType.DECISION
    assert value in draft.value
    assert [quote.n for quote in draft.quotes] == [2, 3]


@pytest.mark.parametrize(
    "text",
    [
        "Evening record 2026-02-27: swam a kilometre with Ida, the pool was empty and quiet.",
        "2026年2月26日与老周在江边骑车十公里，风很大，路上聊了各自的工作。",
        "I have to send the parcel form to Lena tomorrow, 28 February.",
    ],
)
def test_a_day_that_is_nearly_over_makes_no_card(text: str) -> None:
    assert not [one for one in drafts(text, "ok") if one.key.startswith("user.dates.")]


@pytest.mark.parametrize(
    "text",
    [
        "The lease of the studio ends on 30 June.",
        "Yesterday I signed the contract with the theatre in Lyon.",
        "牙医约在3月20号上午九点。",
    ],
)
def test_a_day_to_come_and_a_turn_of_life_make_one(text: str) -> None:
    assert drafts(text, "ok")


@pytest.mark.parametrize(
    "text", ["Let's use the red frame for suggestion 2 of yours", "决定就按建议3来做海报"]
)
def test_a_choice_that_points_at_a_list_is_no_decision(text: str) -> None:
    assert not [one for one in drafts(text, "ok") if one.type is CardType.DECISION]
