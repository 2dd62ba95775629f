"""What the clauses of a turn do, in Chinese and English."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.nlp.rules.utterance import Act, act_of, clauses, is_order, of_work


@pytest.mark.parametrize(
    ("text", "act"),
    [
        ("how much is a ferry to Dover", Act.QUESTION),
        ("which of the two is cheaper in winter?", Act.QUESTION),
        ("do we need a permit for that", Act.QUESTION),
        ("any tips for a rainy weekend", Act.QUESTION),
        ("i don't know which socket fits", Act.QUESTION),
        ("这种灯一般用几瓦合适", Act.QUESTION),
        ("阳台要不要封", Act.QUESTION),
        ("快递什么时候能到", Act.QUESTION),
        ("can you draw up a shopping list", Act.REQUEST),
        ("please write the landlord a letter", Act.REQUEST),
        ("show me the last three invoices", Act.REQUEST),
        ("帮我查一下明天的车次", Act.REQUEST),
        ("你先列个提纲", Act.REQUEST),
        ("go through the list once more", Act.REQUEST),
        ("go with rye for the bread", Act.STATEMENT),
        ("don't see a single crumb on the tray", Act.STATEMENT),
        ("don't understand why the oven stops", Act.QUESTION),
        ("等我量好尺寸，你再订木板", Act.STATEMENT),
        ("from now on answer in French", Act.ORDER),
        ("never book anything before nine", Act.ORDER),
        ("whenever i send a draft, check the spelling first", Act.ORDER),
        ("please don't use emojis", Act.ORDER),
        ("以后回答都用中文", Act.ORDER),
        ("do not touch the budget sheet until I approve it", Act.ORDER),
        ("if something is not clear, ask me first", Act.ORDER),
        ("for Rust stuff: show me the signature first", Act.ORDER),
        ("画海报的时候请尽量用我们的配色", Act.ORDER),
        ("新的页面都要先给我看过再做", Act.ORDER),
        ("拿不准的地方先问我", Act.ORDER),
        ("没有我的同意不要发出去", Act.ORDER),
        ("你还没听完的时候，不要下结论", Act.ORDER),
        ("wait until I say go", Act.ORDER),
        ("from now on when you bake for guests leave the nuts out please", Act.ORDER),
        ("and pls from now on letters of one page, I read them on the bus", Act.ORDER),
        ("please weigh it and show me before baking going forward", Act.ORDER),
        ("I'd like to see the recipe and approve it each time", Act.ORDER),
        ("every time you finish a loaf, clean the table", Act.ORDER),
        ("each time you finish a loaf please clean the table", Act.ORDER),
        ("commit after each finished subtask", Act.ORDER),
        ("from now on we bake on Fridays", Act.ORDER),
        ("you should never use the old oven", Act.ORDER),
        ("for bread we always take rye, never wheat", Act.ORDER),
        ("keys must hang at the door, they never go into a bag", Act.ORDER),
        ("when I open the oven I see the same loaf every time", Act.STATEMENT),
        ("every time we bake, it doubles the loaves on the shelf", Act.STATEMENT),
        ("I keep getting more and more loaves each time", Act.STATEMENT),
        ("otherwise the oven would never update its clock", Act.STATEMENT),
        ("the guests never edit the list directly", Act.STATEMENT),
        ("you will need the oven which I will get in the future", Act.STATEMENT),
        ("Any loaf you make will remain", Act.STATEMENT),
        ("I think we should weigh the loaf each time we change the flour", Act.ORDER),
        ("always good to hear from you", Act.STATEMENT),
        ("my mother bakes with us from now on", Act.STATEMENT),
        ("Sarah calls me every time", Act.STATEMENT),
        ("you can see the same loaf every time", Act.STATEMENT),
        ("you can call me any time", Act.STATEMENT),
        ("I need glasses every time", Act.STATEMENT),
        ("right now we only bake rye, but in the future it will be extended", Act.STATEMENT),
        ("change the shelf so that it shows the new loaf each time", Act.REQUEST),
        ("no it is still burnt please look at how the book does it", Act.STATEMENT),
        ("no jokes in the minutes unless I ask for one", Act.ORDER),
        ("I want minutes like these always: numbered, on one page", Act.ORDER),
        ("the boat had left before we said goodbye", Act.STATEMENT),
        ("the rent goes up unless we ask for a meeting", Act.STATEMENT),
        ("去体检都得先给我妈打电话", Act.STATEMENT),
        ("排练的时候请别人代班", Act.STATEMENT),
        ("搬家的时候请先生看过日子", Act.STATEMENT),
        ("房东说没有我的签字不能退房", Act.STATEMENT),
        ("I cannot travel until I tell my boss", Act.STATEMENT),
        ("点按钮的时候，不要弹窗", Act.STATEMENT),
        ("你之前说的那家店不能去", Act.STATEMENT),
        ("别再给我推荐咖啡了", Act.ORDER),
        ("凡是超过一百块的都要先问我", Act.ORDER),
        ("Thanks a lot!", Act.REMARK),
        ("ok, got it", Act.REMARK),
        ("好的，谢谢", Act.REMARK),
        ("哈哈哈", Act.REMARK),
        ("we moved to Graz in March", Act.STATEMENT),
        ("where we live there is no bus", Act.STATEMENT),
        ("what i like is the smell", Act.STATEMENT),
        ("my sister is a baker", Act.STATEMENT),
        ("我们上个月搬到了苏州", Act.STATEMENT),
        ("我爸每天早上六点去钓鱼", Act.STATEMENT),
        ("i've always wanted a boat", Act.STATEMENT),
        ("it never rains here in May", Act.STATEMENT),
    ],
)
def test_a_clause_does_one_thing(text: str, act: Act) -> None:
    assert act_of(text) is act


@pytest.mark.parametrize(
    "text",
    [
        "My cousin Bea, who's a vet, looks after him",
        "The older boats, though slow, are built of oak.",
        "We met Jan, who has sailed round the world",
        "I use the blue pan, which is not for the oven",
        "My brother Ole, whose shop is closed, is here.",
    ],
)
def test_a_part_that_goes_on_asks_nothing(text: str) -> None:
    (found,) = clauses(text)
    assert (found.text, found.act) == (text, Act.STATEMENT)


@pytest.mark.parametrize(
    "text",
    [
        "I like the song, who wrote it?",
        "we leave at ten, are you coming",
        "it rains, is it cold there",
    ],
)
def test_a_question_behind_a_statement_stays_one(text: str) -> None:
    assert clauses(text)[-1].act is Act.QUESTION


def test_a_request_beside_a_statement_is_cut_off() -> None:
    found = clauses("I keep my recipes in Notion, can you help me sort them?")
    assert [(one.act, one.text) for one in found] == [
        (Act.STATEMENT, "I keep my recipes in Notion"),
        (Act.QUESTION, "can you help me sort them?"),
    ]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("Bakers should NEVER open, move the oven at night.", ""),
        ("i want you to weigh, mix and bake the dough", ""),
        ("guests must not touch, copy or print the list, can you write that down?", "guests must"),
        ("I'd like to know, can you weigh it?", "I'd like to know"),
    ],
)
def test_verbs_with_one_object_stay_together(text: str, first: str) -> None:
    found = [clause.text for clause in clauses(text)]
    if first:
        assert len(found) == 2
        assert found[0].startswith(first)
    else:
        assert found == [text]


def test_sentences_may_begin_in_lower_case() -> None:
    found = clauses("the boiler is from 2009. where do i get parts for it")
    assert [one.act for one in found] == [Act.STATEMENT, Act.QUESTION]


def test_nothing_begins_inside_of_code() -> None:
    text = "the call `make(a, what is b)` panics in the worker"
    assert [one.text for one in clauses(text)] == [text]


def test_directions_of_programs_are_not_spoken() -> None:
    assert clauses("[shares a photo of a dog]") == []
    assert [one.text for one in clauses("We got a puppy! [shares a photo]")] == ["We got a puppy!"]


@pytest.mark.parametrize(
    "text",
    ["i never said that", "they always come late", "以后再说吧", "i'm always tired in winter"],
)
def test_what_always_was_is_no_order(text: str) -> None:
    assert not is_order(text)


@given(st.text(max_size=300))
def test_clauses_are_parts_of_the_text_in_order(text: str) -> None:
    at = 0
    for clause in clauses(text):
        assert clause.start >= at
        assert text[clause.start : clause.end] == clause.text
        at = clause.end


@pytest.mark.parametrize(
    "text",
    [
        "when i ask about trains, give the platform",
        "If I send a photo, describe it first",
        "mark peanuts in every menu you suggest",
        "keep your answers under a page",
        "stop suggesting new frameworks",
        "you don't need to repeat the disclaimer every time",
        "can you always list the sources?",
        "from now on, can you reply in Dutch?",
        'label tables in the form "Tab. 2 | Name. Unit.", always',
        "leave the lunch hour free, always",
        "要是我问起房租，你先提醒我押二付一",
        "你推荐的菜都要标热量",
        "回答短一点，用大白话就行，回答尽量简短",
        "你不用每次都道歉",
        "以后能不能先给结论再解释？",
    ],
)
def test_orders_come_in_many_forms(text: str) -> None:
    assert Act.ORDER in {clause.act for clause in clauses(text)}


@pytest.mark.parametrize(
    "text",
    [
        "when i ask my boss, he shrugs",
        "if I send it by post, how long does it take?",
        "every train you take is late",
        "keep the change",
        "it will not stop raining",
        "he doesn't need to come every time",
        "can you list the sources?",
        '"from now on all staff wear badges", says the notice',
        "there is always a queue",
        "要是我妈问起，我就说不知道",
        "菜都凉了",
        "她回答得很短",
        "以后可能会搬家，要不要先租？",
        "不用再挤地铁了",
        "你周五提醒我交电费",
        "每次改菜单还要手动改两个文件",
        "每次上线又要重新登录，太麻烦",
        "每次又要用户从头点一遍，能否改一下",
        "下次开会才会定下来",
    ],
)
def test_what_only_sounds_like_an_order_is_none(text: str) -> None:
    assert Act.ORDER not in {clause.act for clause in clauses(text)}


def test_nothing_begins_inside_of_a_quotation() -> None:
    (one,) = clauses('the sign said "No entry. Always ring." in red')
    assert one.act is Act.STATEMENT


@pytest.mark.parametrize(
    "text",
    [
        "put the address into a variable in case we want another one in the future",
        "clean up my git so that going forward we don't have them any more",
        "we might need a second server in the future",
        "don't implement the plan yet",
        "don't touch the tests for now",
    ],
)
def test_what_may_come_and_what_waits_is_no_order_for_always(text: str) -> None:
    assert act_of(text) is not Act.ORDER


@pytest.mark.parametrize(
    "text",
    [
        "in the future, put the address into a variable",
        "going forward, use small commits",
        "please sort the imports in the future",
        "don't push to main without asking",
        "never deploy on a Friday",
    ],
)
def test_what_holds_from_now_on_is_an_order(text: str) -> None:
    assert act_of(text) is Act.ORDER


def test_what_is_said_to_the_program_is_nobodys_clause() -> None:
    said = "/drop src/a.py /add src/b.py\n/model some/model\n/clear\n/ask I want one class, not two"
    assert [clause.text for clause in clauses(said)] == ["I want one class, not two"]
    assert [clause.text for clause in clauses("use /tmp or /var for it")] == [
        "use /tmp or /var for it"
    ]


@pytest.mark.parametrize(
    "text",
    [
        "这样对吧",
        "这个能同步推送吧",
        "现在这两个窗口可以关掉了吧",
        "应该没问题吧",
    ],
)
def test_who_wants_a_yes_asks(text: str) -> None:
    assert clauses(text)[-1].act is Act.QUESTION


@pytest.mark.parametrize("text", ["那就算了吧", "我们先去吃饭吧", "就用第二套吧", "还是坐火车吧"])
def test_a_soft_word_is_no_question(text: str) -> None:
    assert clauses(text)[-1].act is not Act.QUESTION


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("2.我在腾讯云注册的域名", ["我在腾讯云注册的域名"]),
        (
            "1. We moved to Basel.\n2) The rent is lower.",
            ["We moved to Basel.", "The rent is lower."],
        ),
        ("3、端口用 6419", ["端口用 6419"]),
        ("2.5 kg are enough", ["2.5 kg are enough"]),
    ],
)
def test_the_number_of_a_list_is_no_part_of_a_clause(text: str, words: list[str]) -> None:
    assert [clause.text for clause in clauses(text)] == words


def test_a_question_may_be_announced() -> None:
    for text in ["honest question do you think I should go", "caffeine question: I have 2 a day"]:
        assert act_of(text) is Act.QUESTION
    assert act_of("the open question is settled") is Act.STATEMENT


def test_a_question_about_an_address_needs_no_mark() -> None:
    (clause,) = clauses("Should https://shop.example.org/play and the old page show one stock")
    assert clause.act is Act.QUESTION


@pytest.mark.parametrize(
    "text",
    [
        "For the login page, can we make the form wider?",
        "Could you also add a filter for the 3 oaks?",
        "能不能把左边的菜单加宽一点？",
    ],
)
def test_a_polite_question_to_an_agent_at_work_is_an_errand(text: str) -> None:
    (clause,) = of_work(clauses(text))
    assert (clause.text, clause.act) == (text, Act.REQUEST)


@pytest.mark.parametrize(
    "text", ["Can you explain the oak?", "Can we see both?", "能不能解释一下？"]
)
def test_who_wants_to_know_asks_for_no_work(text: str) -> None:
    assert {clause.act for clause in of_work(clauses(text))} == {Act.QUESTION}


def test_a_phrase_stays_with_what_is_asked_of_it() -> None:
    (clause,) = clauses("With the new parser, is it faster?")
    assert clause.act is Act.QUESTION
    first, _ = clauses("For our wedding we have 40 guests, can you help me?")
    assert first.act is Act.STATEMENT


@pytest.mark.parametrize(
    "text",
    [
        "每次见到他我都很难受",
        "每次开会我就犯困",
        "每次下雨他都迟到",
        "以后我可以请你帮我挑书",
        "下次我会早点出门",
        "以后我能来找你聊吗",
        "每当想起她，我总是睡不着",
    ],
)
def test_what_the_speaker_does_each_time_is_no_order(text: str) -> None:
    assert act_of(text) is not Act.ORDER


@pytest.mark.parametrize(
    "text",
    [
        "每次提交前都要跑一遍测试",
        "以后我说周报，你就按模板写",
        "每次我发图，请先描述一下",
        "以后都用公制单位",
        "下次别再给我推荐香菜",
        "每次发布我们都要先备份",
    ],
)
def test_what_is_to_be_done_each_time_is_an_order(text: str) -> None:
    assert act_of(text) is Act.ORDER


def test_at_work_a_bound_of_the_moment_is_an_errand() -> None:
    said = "The shelf of `sketch.js` is empty."
    *_, now = of_work(clauses(f"{said} Please limit your fixes to `sketch.js`."))
    assert now.act is Act.REQUEST
    *_, always = of_work(clauses(f"{said} Always limit your fixes to one file."))
    assert always.act is Act.ORDER
    *_, place = of_work(clauses(f"{said} Do NOT change any files outside sketches/."))
    assert place.act is Act.ORDER
