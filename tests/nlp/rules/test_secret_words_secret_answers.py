"""A secret that is a turn of its own, after words that ask for it or announce it."""

from __future__ import annotations

import pytest

from kimi_memory.nlp.rules.secret_words import find_secret_answer

VALUE = "hunter2-" + "Zx9!kk"


@pytest.mark.parametrize(
    "asked",
    [
        "What is the password?",
        "What's your API key for the mail service?",
        "I can log in for you. Please enter the password for the router.",
        "Could you send me the access token?",
        "Password:",
        "[sudo] password for ann: ",
        "I need the PIN code to go on.",
        "Here is my password",
        "I'll paste the API key now.",
        "My next message is the password.",
        "密码是多少？",
        "密码是什么",
        "请把数据库密码发给我。",
        "请输入验证码：",
        "你的 API key 是多少？",
        "下面是我的密码",
        "密码我发你",
        "这是密码：",
        "麻烦提供一下令牌。",
        "WiFi 密码是啥来着？",
    ],
)
def test_the_answer_to_a_request_for_a_secret_is_one(asked: str) -> None:
    assert find_secret_answer(VALUE, [asked]) == (0, len(VALUE))


@pytest.mark.parametrize(
    "said", [f"`{VALUE}`", f"it's {VALUE}", f"是 {VALUE}", f"“{VALUE}”", f"{VALUE}\n"]
)
def test_quotes_and_short_leads_stay(said: str) -> None:
    place = find_secret_answer(said, ["What is the password?"])
    assert place is not None and said[place[0] : place[1]] == VALUE


@pytest.mark.parametrize("between", ["One moment.", "好的，请发。", "OK, go ahead"])
def test_a_short_turn_may_stand_between(between: str) -> None:
    assert find_secret_answer("7413992", ["密码是多少？", between])


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("What is the password?", "later"),
        ("What is the password?", "I do not know it, ask Tom2!"),
        ("密码是多少？", "不知道"),
        ("密码是多少？", "等我2分钟"),
        ("Which password manager do you use?", "1Password8"),
        ("What is the token limit of the model?", "200k!"),
        ("What is the password policy?", "12chars"),
        ("密码管理器用哪个？", "KeePass2"),
        ("密码长度是多少？", "16位以上"),
        ("密码存在哪里？", "vault2/prod"),
        ("What is the API key stored in?", "OPENAI_API_KEY"),
        ("Please send me the password file name.", "secrets2.yaml"),
        ("When did the password change, please give the password date", "2025-03-01"),
        ("What is the password?", "https://vault.example.org/item2"),
        ("What is the password?", "#4711"),
        ("Which Python do you use?", "python3.12"),
        ("Which port?", "8080"),
        ("端口是多少？", "8080"),
        ("订单号是多少？", "A20250301x"),
        ("I changed my password yesterday.", "done2day"),
        ("The secret of good tests is patience.", "LGTM+1"),
    ],
)
def test_words_names_and_answers_to_other_questions_are_none(asked: str, said: str) -> None:
    assert find_secret_answer(said, [asked]) is None


def test_a_question_that_was_answered_asks_no_more() -> None:
    before = ["What is the password?", "I sent it by mail.", "Which version do you use?"]
    assert find_secret_answer("v12.04b", before) is None
    long = "Thank you. " + "I look at the list of what is to be done for the release. " * 2
    assert find_secret_answer("v12.04b", ["What is the password?", long]) is None


def test_only_the_last_two_turns_and_the_end_of_a_long_one_ask() -> None:
    asked, moment = "What is the password?", "One moment."
    assert find_secret_answer(VALUE, [asked, moment])
    assert find_secret_answer(VALUE, [asked, moment, moment]) is None
    told = "Type the password here. " + "I wait for it, as long as it takes you. " * 9
    assert 200 < len(told) - len("Type the password") < 400 and find_secret_answer(VALUE, [told])
    assert find_secret_answer(VALUE, [told + "I am in no hurry. " * 4]) is None
    # What goes on for more than sixty characters has begun another matter.
    aside = "Let me look at the other things that are still to do first.."
    assert len(aside) == 60
    assert find_secret_answer(VALUE, [asked, aside])
    assert find_secret_answer(VALUE, [asked, f"{aside}."]) is None


def test_a_long_token_is_masked_whole() -> None:
    token = "aB3-" * 50
    assert find_secret_answer(f"it is: '{token}'", ["What is the API key?"]) == (8, 208)
    assert find_secret_answer(f"{token}x", ["What is the API key?"]) is None


def test_without_words_before_it_is_none() -> None:
    assert find_secret_answer(VALUE, []) is None


REPLIES = (
    *("yes!", "OK!!", "done.", "later", "none", "never", "nope!", "Thanks!", "skip", "maybe..."),
    *("python3.12", "main.py", "config2.yaml", "v1.2.3", "2025-03-01", "10:30:00", "#4711", "8080"),
    *("GPT-4o", "utf-8", "SHA-256", "1Password", "KeePass2", "x86_64", "room_12", "C++17", "100%"),
    *(
        "https://example.org/a1",
        "src/app2.ts",
        "README.md",
        "A4-paper",
        "H2O2",
        "COVID-19",
        "iPhone15",
    ),
    *("好的", "不用了", "明天吧", "三点", "可以！", "2号楼", "第3个", "没问题", "B座12层", "下周2"),
)
QUESTIONS = (
    *("Which file?", "What is next?", "Which password manager do you use?", "Are you sure?"),
    *("What is the token limit?", "How long must passwords be?", "Where is the API key read?"),
    *("What are tokens?", "Which room?", "I changed the password page.", "Shall I delete it?"),
    *("用哪个版本？", "密码管理器用哪个？", "密码要多少位？", "令牌存在哪里？", "几点开会？"),
    *("在哪个房间？", "密码页面改好了。", "要继续吗？", "文件叫什么？", "哪一个？"),
)


def test_at_most_one_in_two_hundred_ordinary_replies_is_taken_for_a_secret() -> None:
    pairs = [(asked, said) for asked in QUESTIONS for said in REPLIES]
    flagged = [pair for pair in pairs if find_secret_answer(pair[1], [pair[0]])]
    assert len(pairs) >= 800 and len(flagged) <= 0.005 * len(pairs), flagged
