"""Drafts by the strength of their acts."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from kimi_memory import Memory
from kimi_memory.domain.draft import Draft
from kimi_memory.domain.note import Card, CardType, Lang, Origin, Quote, Role, Status
from kimi_memory.domain.session import Session, Transcript, Turn
from kimi_memory.jobs.correct import CardFields, Correct
from kimi_memory.jobs.strength import graded, with_chat_doubt, with_doubt, with_holder, with_odds
from kimi_memory.nlp.basic.patterns import language_of
from kimi_memory.store.notes.notes import Shelf
from tests.conftest import Clock

OFFER = "Two ways:\n\nOption A: Patch the old sheets.\nOption B: New sheets of steel.\n\nWhich one?"
NOON = datetime(2026, 2, 27, 12, 0, tzinfo=UTC)


def draft(text: str, **rest: object) -> Draft:
    made = Draft(
        type=CardType.FACT,
        key="note.x",
        title=text,
        value=text,
        quotes=(Quote("s", 1, text),),
        at=NOON,
        lang=Lang.EN,
    )
    return replace(made, **rest)


def test_what_states_nothing_is_left_out_and_said_so() -> None:
    kept, left_out = graded([draft("is the kitchen ready?")])
    assert (kept, left_out) == ([], ["note.x: it states nothing"])


def test_what_is_weak_is_marked() -> None:
    (kept,), _ = graded([draft("maybe we should sell the caravan", type=CardType.DECISION)])
    assert kept.weak


@pytest.mark.parametrize(
    ("known", "asked"),
    [
        ("The port of Heron is 8080.", "Please change the port of Heron to 8081."),
        ("苍鹭的端口是8080。", "请把苍鹭的端口改成8081。"),
    ],
    ids=["en", "zh"],
)
def test_a_request_changes_what_is_known_of_a_named_thing_and_adds_nothing(
    memory: Memory, clock: Clock, known: str, asked: str
) -> None:
    assert Status.ACTIVE not in tell(memory, clock, "before", asked)
    assert tell(memory, clock, "known", known)[Status.ACTIVE] == known
    assert tell(memory, clock, "after", asked) == {Status.ACTIVE: asked, Status.SUPERSEDED: known}


@pytest.mark.parametrize(
    "asked",
    [
        "Should I change the port of Heron to 8081?",
        "Maybe change the port of Heron to 8081 some day.",
        "Don't change the port of Heron to 8081.",
        "要不要把Heron的端口改成8081？",
    ],
)
def test_who_asks_or_doubts_changes_nothing_of_what_is_known(
    memory: Memory, clock: Clock, asked: str
) -> None:
    known = "The port of Heron is 8080."
    tell(memory, clock, "known", known)
    assert tell(memory, clock, "after", asked)[Status.ACTIVE] == known


def test_what_ends_something_or_is_imported_is_left_alone() -> None:
    whole = [
        draft("forget that", gone=True),
        draft("call the bank?", type=CardType.TASK_STATE),
        draft("ok?", origin=Origin.IMPORT),
    ]
    assert graded(whole) == (whole, [])


def test_an_answer_is_read_with_what_it_answers() -> None:
    quotes = (Quote("s", 1, "Where is your shop?"), Quote("s", 2, "In Ghent."))
    (kept,), _ = graded([draft("The shop is in Ghent.", quotes=quotes, key="user.shop")])
    assert not kept.weak


def tell(memory: Memory, clock: Clock, id: str, text: str) -> dict[Status, str]:
    """Say something to an agent in a session of its own; return what is kept of each status."""
    clock.move(days=1)
    session = memory.session(id)
    for role, words in (("user", text), ("assistant", "Done.")):
        session.turn(role, words)
    session.end()
    return {card.status: card.value for card in cards(memory)}


def cards(memory: Memory) -> list[Card]:
    return [f.note for f in Shelf(memory.store).notes("card") if isinstance(f.note, Card)]


def test_feelings_become_no_cards_and_orders_do(memory: Memory) -> None:
    session = memory.session()
    session.turn(Role.USER, "心里总算定下来了")
    session.turn(Role.ASSISTANT, "那就好。")
    session.turn(Role.USER, "以后推荐餐馆都要带地址")
    session.turn(Role.ASSISTANT, "好的。")
    session.end()
    assert [(card.type, card.value, card.status) for card in cards(memory)] == [
        (CardType.RULE, "以后推荐餐馆都要带地址", "active")
    ]


@pytest.mark.parametrize(
    "asked",
    [
        "Put down 40 seconds as the timeout of Heron.",
        "I would like you to know: Heron's timeout is 40 seconds.",
        "Let me tell you that the timeout of Heron is 40 seconds.",
        "From today on the timeout of Heron is 40 seconds.",
    ],
)
def test_what_a_person_wants_to_be_known_is_a_fact(memory: Memory, asked: str) -> None:
    session = memory.session()
    session.turn(Role.USER, "Good morning.")
    session.turn(Role.ASSISTANT, "Good morning!")
    session.turn(Role.USER, asked)
    session.end()
    assert [(card.key, card.type, card.status) for card in cards(memory)] == [
        ("heron.timeout", CardType.FACT, "active")
    ]


def test_among_several_people_a_card_names_who_said_it(memory: Memory) -> None:
    session = memory.session()
    session.turn(Role.USER, "I prefer contemporary dance to ballet.", speaker="Jon")
    session.turn(Role.USER, "I prefer the sea to the mountains.", speaker="Gina")
    session.end()
    assert sorted(card.value for card in cards(memory)) == [
        "Gina: I prefer the sea to the mountains.",
        "Jon: I prefer contemporary dance to ballet.",
    ]


@pytest.mark.parametrize(
    ("type", "weak", "held"),
    [
        (CardType.RULE, False, True),
        (CardType.FACT, False, False),
        (CardType.FACT, True, True),
    ],
)
def test_what_people_tell_each_other_to_do_is_no_rule(
    type: CardType, weak: bool, held: bool
) -> None:
    said = Turn(1, NOON, Role.USER, "Bring the blue folder.", speaker="Ida")
    made = draft(said.text, type=type, weak=weak)
    named = with_holder(made, Transcript(Session("s", NOON), turns=(said,)))
    assert (named.value, named.weak) == ("Ida: Bring the blue folder.", held)
    gone = replace(made, gone=True)
    assert with_holder(gone, Transcript(Session("s", NOON), turns=(said,))) == gone


@pytest.mark.parametrize(
    ("type", "quotes", "origin", "weak"),
    [
        (CardType.DECISION, 2, Origin.AGENT, False),
        (CardType.DECISION, 2, Origin.HUMAN, True),
        (CardType.DECISION, 1, Origin.HUMAN, True),
        (CardType.FACT, 2, Origin.HUMAN, True),
    ],
)
def test_a_proposal_that_is_agreed_to_decides_and_a_pick_of_a_list_waits(
    type: CardType, quotes: int, origin: Origin, weak: bool
) -> None:
    text = "maybe we should sell the caravan"
    said = tuple(Quote("s", n, text) for n in range(1, quotes + 1))
    (kept,), _ = graded([draft(text, type=type, quotes=said, origin=origin)])
    assert kept.weak is weak


def test_a_task_is_not_doubted_but_a_belief_behind_a_text_is() -> None:
    text = "Their notice reads:\nWe decided to use Redis."
    turn = Turn(1, NOON, Role.USER, text)
    belief = draft("We decided to use Redis.", type=CardType.DECISION)
    task = draft("We decided to use Redis.", type=CardType.TASK_STATE)
    assert with_doubt(belief, {1: turn}).weak
    assert not with_doubt(task, {1: turn}).weak


@pytest.mark.parametrize(
    ("head", "weak"),
    [
        ("Tom's list:", True),
        ("老王的清单：", True),
        ("Today's list:", False),
        ("我们的清单：", False),
    ],
)
def test_a_task_on_the_list_of_another_waits(head: str, weak: bool) -> None:
    said = "I need to pay the rent by Friday."
    task = draft(said, type=CardType.TASK_STATE, quotes=(Quote("s", 1, said),))
    assert with_doubt(task, dict([turn(1, Role.USER, f"{head}\n{said}")])).weak is weak


def talk(memory: Memory, *turns: tuple[str, str]) -> dict[tuple[CardType, Status], str]:
    session = memory.session("s")
    for role, text in turns:
        session.turn(role, text)
    session.end()
    cards = (filed.note for filed in Shelf(memory.store).notes("card"))
    return {(card.type, card.status): card.value for card in cards}


def chat(memory: Memory, text: str) -> dict[tuple[CardType, Status], str]:
    return talk(memory, ("user", "Hi there"), ("assistant", "Hello."), ("user", text))


@pytest.mark.parametrize(
    ("text", "type"),
    [
        ("Never use the word artisan in my texts.", CardType.RULE),
        ("菜谱里不许放香菜。", CardType.RULE),
        ("The deploy port of Heron is 8080.", CardType.FACT),
        ("I'm a vegetarian, I can eat eggs.", CardType.FACT),
        ("My sister Nele studies medicine in Graz until July 2029.", CardType.FACT),
        ("I prefer trains to planes.", CardType.PREFERENCE),
        ("We decided to use Postgres for the shop.", CardType.DECISION),
        ("Remember that the boiler code is inside the pantry door.", CardType.FACT),
    ],
)
def test_a_plain_act_is_an_active_card(memory: Memory, text: str, type: CardType) -> None:
    assert (type, Status.ACTIVE) in chat(memory, text)


@pytest.mark.parametrize(
    "text",
    [
        "I have the meeting room on Sept 11th from 11:30 to 3pm, for the interviews.",
        "I noticed that the archetypes of your draft are structural personas.",
        "now imagine that everything we spoke about, where the firm is, how we got here and where"
        " we always wanted to be, goes into a letter to our guests",
    ],
)
def test_what_is_said_by_the_way_waits_as_a_candidate(memory: Memory, text: str) -> None:
    assert not [key for key in chat(memory, text) if key[1] is Status.ACTIVE]


def test_an_option_picked_in_a_chat_waits_as_a_candidate(memory: Memory) -> None:
    picked = [("user", "the shed roof leaks"), ("assistant", OFFER), ("user", "B, it should last")]
    assert (CardType.DECISION, Status.CANDIDATE) in talk(memory, *picked)


def test_who_somebody_is_in_a_game_waits_and_what_they_ask_to_remember_counts(
    memory: Memory,
) -> None:
    played = talk(
        memory,
        ("user", "You are the dungeon master. I'm a blacksmith from the north."),
        ("assistant", "Welcome."),
        ("user", "Remember that we play on the terrace when it is warm."),
    )
    active = [value for (_, status), value in played.items() if status is Status.ACTIVE]
    assert len(active) == 1 and "terrace" in active[0]


TRAINS = "I hate crowded trains and now this one is late again."
PLANKS = "Let's use the cedar planks because they last."


def test_what_was_kept_at_once_is_read_again_with_its_session(memory: Memory) -> None:
    session = memory.session("s")
    session.turn("user", TRAINS)
    session.turn("assistant", "I see.")
    session.turn("user", PLANKS)
    session.turn("user", "不用了不用了！")
    by_turn = {card.value: card.status for card in cards(memory)}
    session.end()
    by_session = {card.value: card.status for card in cards(memory)}
    assert by_turn == {TRAINS: Status.ACTIVE, PLANKS: Status.CANDIDATE}
    assert by_session == {TRAINS: Status.CANDIDATE, PLANKS: Status.ACTIVE}


def test_what_somebody_asked_to_remember_stays(memory: Memory, clock: Clock) -> None:
    for text in ("Let's use the cedar planks.", "我喜欢慢慢来。", "do not make a page"):
        memory.remember(text)
    clock.move(hours=14)
    memory.end(cards(memory)[0].quotes[0].session)
    assert {card.status for card in cards(memory)} == {Status.ACTIVE}


def test_what_took_the_place_of_something_known_stays(memory: Memory) -> None:
    session = memory.session("s")
    for text in ("我喜欢深色主题。", "我不再喜欢深色主题了，我喜欢浅色主题。"):
        session.turn("user", text)
        session.turn("assistant", "好的。")
    session.end()
    [left] = [card for card in cards(memory) if card.status is Status.ACTIVE]
    assert "浅色" in left.value


def test_what_a_person_changed_meanwhile_is_not_read_again(memory: Memory, clock: Clock) -> None:
    session = memory.session("s")
    session.turn("user", TRAINS)
    session.turn("assistant", "I see.")
    clock.move(minutes=1)
    [card] = cards(memory)
    memory.run(
        Correct(memory, card.id, card.value, replace(CardFields.of(card), tags=("commute",)))
    )
    session.end()
    assert [(card.tags, card.status) for card in cards(memory)] == [(("commute",), Status.ACTIVE)]


def in_chat(text: str, type: CardType, key: str, **rest: object) -> bool:
    """Whether a draft of a chat is plain enough to be an active card."""
    made = draft(text, type=type, key=key, lang=Lang(language_of(text)), **rest)
    (kept,), _ = graded([with_chat_doubt(made)])
    return not kept.weak


@pytest.mark.parametrize(
    ("text", "type", "key"),
    [
        ("My bike is a red Koga.", CardType.FACT, "user.bike"),
        ("The port of Borealis is 9091.", CardType.FACT, "borealis.port"),
        ("青鸾的吉祥物是刺猬。", CardType.FACT, "青鸾.mascot"),
        ("let's use the cedar planks", CardType.DECISION, "decision.planks"),
        ("always give prices with tax", CardType.RULE, "rule.prices"),
        ("我习惯早上跑步", CardType.PREFERENCE, "preference.跑步"),
    ],
)
def test_a_plain_act_of_a_chat_is_active(text: str, type: CardType, key: str) -> None:
    assert in_chat(text, type, key)


@pytest.mark.parametrize(
    ("text", "type", "key"),
    [
        ("I had a long video call with my sister tonight.", CardType.FACT, "user.sister"),
        ("You made the roof, the costs and the order clear to me.", CardType.FACT, "fact.roof"),
        (
            "the end of the film took me back to the day when I decided to quit",
            CardType.DECISION,
            "d.x",
        ),
        ("my coach always says to breathe out first", CardType.RULE, "rule.breathe"),
        ("Ida decides to give up and to tell all", CardType.DECISION, "d.x"),
        ("阿梅决定放弃，全说出来。", CardType.DECISION, "d.x"),
        ("我就是喜欢这种安静。", CardType.PREFERENCE, "preference.安静"),
        ("这样一来，我的偏好就更清楚了。", CardType.PREFERENCE, "user.偏好"),
        ("我倾向于80公里。", CardType.PREFERENCE, "preference.倾向"),
        ("这个思路很好，我也喜欢。", CardType.PREFERENCE, "preference.思路"),
        ("在苏州，我的重心是孩子和作业；", CardType.FACT, "user.重心"),
        ("两步走的原则，记住了！", CardType.FACT, "note.原则"),
        ("这个行程安排挺合理的，预算也在预期内。", CardType.FACT, "fact.budget"),
        (
            "The frame of the roof is set, and the plan of the garden is fine, so they can go on"
            " together now.",
            CardType.FACT,
            "fact.framework",
        ),
    ],
)
def test_a_remark_of_a_chat_waits(text: str, type: CardType, key: str) -> None:
    assert not in_chat(text, type, key)


def test_a_permission_that_frees_nothing_known_is_no_rule() -> None:
    freed = ("order", "change")
    assert not in_chat("现在可以随便吃甜的了", CardType.RULE, "rule.甜", tags=freed, stated=True)
    text = "plastic is fine for guests, just not for us"
    assert in_chat(text, CardType.RULE, "rule.plastic", tags=freed, stated=True)


def test_of_two_candidates_neither_disputes_the_other(memory: Memory) -> None:
    for number, text in enumerate(
        ["You made the framework clear, and the order.", "First the framework, then the walls."]
    ):
        session = memory.session(f"s{number}")
        session.turn("user", text)
        session.turn("assistant", "good")
        session.end()
    assert all(card.status is not Status.CONFLICTED for card in cards(memory))


def turn(n: int, role: Role, text: str) -> tuple[int, Turn]:
    return n, Turn(n, NOON, role, text)


def test_a_lesson_whose_cause_is_the_agents_waits() -> None:
    said = "You wrote the fault down and mended nothing."
    turns = dict([turn(1, Role.ASSISTANT, "The poll was paused."), turn(2, Role.USER, said)])
    quotes = (Quote("s", 1, "The poll was paused."), Quote("s", 2, said))
    assert with_doubt(draft(said, type=CardType.GOTCHA, quotes=quotes), turns).weak
    alone = draft(said, type=CardType.GOTCHA, quotes=quotes[1:])
    assert not with_doubt(alone, turns).weak


@pytest.mark.parametrize(("behind", "weak"), [("：\n- 收入\n- 支出", True), ("。好吗", False)])
def test_what_leads_to_a_list_is_half_of_it(behind: str, weak: bool) -> None:
    said = "账单必须分成三栏"
    made = draft(said, type=CardType.RULE, quotes=(Quote("s", 1, said),))
    assert with_doubt(made, dict([turn(1, Role.USER, f"{said}{behind}")])).weak is weak


def test_who_asks_has_decided_nothing() -> None:
    text = "we settled on the oak floor; which of the three oils is best?"
    (kept,), _ = graded([draft(text, type=CardType.DECISION)])
    assert kept.weak


@pytest.mark.parametrize(
    ("text", "type"),
    [
        ("Stop sawing and tell me why", CardType.RULE),
        ("这次不要上漆", CardType.RULE),
        ("以后都要按这种方式来写", CardType.RULE),
        ("- Seal the oak floor before May", CardType.DECISION),
        ("**Oak floor**: sealed before May", CardType.TASK_STATE),
        ("我是說漆成一樣的", CardType.DECISION),
        ("let's go with another floor", CardType.DECISION),
        ("now let's use the oil I asked for.", CardType.DECISION),
        ("we went with wax and the floor is still broken", CardType.DECISION),
    ],
)
def test_what_is_of_the_hour_of_a_list_or_of_the_talk_waits(text: str, type: CardType) -> None:
    (kept,), _ = graded([draft(text, type=type, lang=language_of(text))])
    assert kept.weak


@pytest.mark.parametrize(
    ("text", "type", "weak"),
    [
        ("don't ever make a page", CardType.RULE, False),
        ("菜谱里不许放香菜", CardType.RULE, False),
        ("License: BSD", CardType.FACT, False),
        ("The port is 8081", CardType.FACT, False),
        ("My title is Grey Heron", CardType.FACT, False),
        ("上述脚本直接帮我生成下", CardType.FACT, True),
        ("导出的图改成了左边，请调整", CardType.DECISION, True),
        ("let's use your search skill to find three papers", CardType.DECISION, True),
        ("let's use Postgres to keep the papers", CardType.DECISION, False),
    ],
)
def test_what_is_of_this_work_waits_and_what_says_that_it_holds_does_not(
    text: str, type: CardType, weak: bool
) -> None:
    (kept,), _ = graded([draft(text, type=type)])
    assert kept.weak is weak


@pytest.mark.parametrize(
    ("text", "weak"), [("License: BSD", False), ("License: BSD\nVersion: 2.3\nState: stable", True)]
)
def test_a_line_of_a_form_waits(text: str, weak: bool) -> None:
    turn = Turn(1, NOON, Role.USER, text)
    one = draft("License: BSD", type=CardType.FACT)
    assert with_doubt(one, {turn.n: turn}).weak is weak


def test_nothing_is_answered_by_a_request(memory: Memory) -> None:
    session = memory.session()
    session.turn(Role.USER, "Are we using Heron as our memory backend? Run checks.")
    session.end()
    assert cards(memory) == []


def test_three_words_in_bold_make_a_page_that_somebody_wrote() -> None:
    said = "we settled on the oak floor"
    made = draft(said, type=CardType.DECISION, quotes=(Quote("s", 1, said),))
    typed = f"{said}. The oil is **hard wax**, and we begin in **May**."
    assert not with_doubt(made, dict([turn(1, Role.USER, typed)])).weak
    assert with_doubt(made, dict([turn(1, Role.USER, f"{typed} **Ida** helps.")])).weak


def test_what_an_agent_recommends_in_a_chat_waits_and_what_it_states_does_not() -> None:
    def kept(text: str) -> Draft:
        made = draft(text, type=CardType.DECISION, origin=Origin.AGENT)
        return with_chat_doubt(made)

    assert kept("I recommend to seal them in a fixed order").weak
    assert not kept("We seal all floors twice").weak


@pytest.mark.parametrize(
    ("text", "type"),
    [
        ("dont make a page", CardType.RULE),
        ("now we look at the next page", CardType.FACT),
        ("call me when the build is done", CardType.RULE),
        ("查看备份选项", CardType.FACT),
        ("lets call it grey-heron-flow", CardType.DECISION),
    ],
)
def test_what_a_reader_would_not_keep_waits(text: str, type: CardType) -> None:
    assert with_odds(draft(text, type=type), chat=True).weak


@pytest.mark.parametrize(
    ("text", "type", "rest"),
    [
        ("From now on give every price in euros.", CardType.RULE, {}),
        ("I'm a vegetarian and I live in Bergen.", CardType.FACT, {"key": "user.diet"}),
        ("The CLI is written in Zig.", CardType.FACT, {}),
        ("From today your name is Rigel.", CardType.FACT, {}),
        ("很好，以后你就叫小舟了", CardType.RULE, {}),
        ("Remember that the gate is blue.", CardType.FACT, {}),
        ("lets call it grey-heron-flow", CardType.DECISION, {"reason": "the bird is our mark"}),
        ("lets call it grey-heron-flow", CardType.DECISION, {"stated": True}),
        ("lets call it grey-heron-flow", CardType.DECISION, {"origin": Origin.AGENT}),
        ("We decided that the shop closes at six.", CardType.DECISION, {}),
        ("我们商定，周五不排课。", CardType.DECISION, {}),
        ("Phones are not allowed in the lab.", CardType.RULE, {}),
        ("教室里不许吃东西。", CardType.RULE, {}),
        ("I hate noisy open offices.", CardType.PREFERENCE, {}),
        ("My bike is a red Koga.", CardType.FACT, {"key": "user.bike"}),
    ],
)
def test_what_is_plain_whole_or_asked_for_does_not_wait(
    text: str, type: CardType, rest: dict[str, object]
) -> None:
    assert not with_odds(draft(text, type=type, **rest), chat=True).weak
