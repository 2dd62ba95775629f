"""Proposals for the identity page: told by a person, or held all week."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime

import pytest
from kimi_memory.plugins.identity import consolidate_week

from kimi_memory.domain.job import WeekView
from kimi_memory.domain.note import Card, CardType, Lang
from kimi_memory.domain.pages import Digest, DigestLine, Identity, Part, Proposal

NOON = datetime(2026, 2, 27, 12, tzinfo=UTC)
WHO = Identity(id="identity-1", created=NOON, updated=NOON, name="K", who="An agent.")


def week(**parts: object) -> WeekView:
    base = WeekView(
        first=date(2026, 2, 23),
        last=date(2026, 3, 1),
        now=NOON,
        lang=Lang.EN,
        events=(),
        cards=(),
        projects=(),
        identity=WHO,
    )
    return replace(base, **parts)


def talk(*texts: str, part: Part = Part.ASKED, who: str = "", at: datetime = NOON) -> Digest:
    lines = tuple(DigestLine(part, text, n, n, who) for n, text in enumerate(texts, 1))
    return Digest(
        id=f"digest-{at:%H}", created=at, updated=at, title="t", session="s", at=at, lines=lines
    )


def proposed(*digests: Digest, identity: Identity = WHO) -> list[tuple[str, str]]:
    steps = consolidate_week(week(digests=digests, identity=identity))
    notes = [step.note for step in steps if isinstance(step.note, Proposal)]
    return [(note.section, note.text) for note in notes]


@pytest.mark.parametrize(
    ("said", "section", "text"),
    [
        ("You are Kimi, my backend assistant.", "who", "Kimi, my backend assistant"),
        ("you're our release engineer for the shop", "who", "our release engineer for the shop"),
        ("From now on you are a patient tutor.", "who", "a patient tutor"),
        ("You will be the editor of my novel.", "who", "the editor of my novel"),
        ("Your name is Iris.", "who", "Iris"),
        ("I'll call you Max from now on.", "who", "Max"),
        ("你是小克，我的后端助手。", "who", "小克，我的后端助手"),
        ("以后你就是我们家的管家。", "who", "我们家的管家"),
        ("你叫阿福。", "who", "阿福"),
        ("你的名字是小舟。", "who", "小舟"),
        ("我叫你老王吧。", "who", "老王"),
        ("Your job is to keep the shop running.", "mission", "keep the shop running"),
        ("your purpose is to help me write clearly", "mission", "help me write clearly"),
        ("You are here to teach me Spanish.", "mission", "teach me Spanish"),
        ("Your overall mission is fewer failed releases.", "mission", "fewer failed releases"),
        ("你的任务是让诊所系统稳定运行。", "mission", "让诊所系统稳定运行"),
        ("你的使命：帮我坚持锻炼。", "mission", "帮我坚持锻炼"),
        ("你的职责就是守住数据安全。", "mission", "守住数据安全"),
    ],
)
def test_what_a_person_tells_an_agent_about_itself_is_proposed(
    said: str, section: str, text: str
) -> None:
    assert proposed(talk(f"{said}\nLet us begin.")) == [(section, text)]


@pytest.mark.parametrize(
    "said",
    [
        "You are right about the index.",
        "You are a great assistant, thanks!",
        "You are not my assistant.",
        "Are you my assistant?",
        "You are here.",
        "Your job is to review this pull request.",
        "Your role is to fix the failing test below.",
        "Your job failed last night.",
        "You are missing the point, the assistant role is wrong here?",
        "My assistant is called Iris.",
        "You're right, every small act of an assistant counts.",
        "You're welcome, Jon!",
        "I'll call you again tonight.",
        "Your role is to have the slides ready by Friday.",
        "你作为投资顾问，这种态度非常可贵。",
        "你的任务是更新产品池，周三上午前完成。",
        "你是对的。",
        "你是助手吗？",
        "你真是个好棒的助手。",
        "你的任务是把这个文件改完。",
        "你的工作是先跑测试，再提交。",
        "他是我的助手。",
        "你的代码是错的。",
    ],
)
def test_other_words_to_an_agent_are_none_of_its_identity(said: str) -> None:
    assert proposed(talk(said)) == []


def test_the_last_word_of_the_week_counts_and_what_is_known_is_not_proposed() -> None:
    early, late = talk("You are my tutor."), talk("You are my coach.", at=NOON.replace(hour=15))
    assert proposed(late, early) == [("who", "my coach")]
    assert proposed(late, early, identity=replace(WHO, who="I am my coach, so to say.")) == []


def test_neither_the_agents_account_nor_a_talk_of_two_people_is_proposed() -> None:
    assert proposed(talk("You are my tutor.", part=Part.FOUND)) == []
    assert proposed(talk("You are my tutor.", who="Tom")) == []


def test_a_proposal_names_the_turn_that_told_it() -> None:
    [step] = consolidate_week(week(digests=(talk("Hello there.", "Your name is Iris."),)))
    assert isinstance(step.note, Proposal)
    assert [source.place for source in step.note.sources] == ["session:s#2"]
    assert step.note.target == "long-term/IDENTITY.md"


def test_nothing_is_proposed_where_there_is_no_page() -> None:
    assert consolidate_week(week(identity=None, digests=(talk("You are my tutor."),))) == []


def rule(**more: object) -> Card:
    base = Card(
        id="card-1",
        created=NOON,
        updated=NOON,
        title="Fridays",
        type=CardType.RULE,
        key="rule.friday",
        value="Never deploy on Friday.",
        confidence=0.9,
        verified=NOON,
    )
    return replace(base, **more)


def test_a_sure_rule_is_proposed_as_a_belief_and_changes_nothing_itself() -> None:
    [step] = consolidate_week(week(cards=(rule(),)))
    assert isinstance(step.note, Proposal)
    assert (step.note.section, step.note.text) == ("beliefs", "Never deploy on Friday.")
    assert step.note.target == "long-term/IDENTITY.md"


@pytest.mark.parametrize(
    "other",
    [
        rule(confidence=0.5),
        rule(type=CardType.FACT),
        rule(verified=datetime(2026, 1, 1, tzinfo=UTC)),
    ],
)
def test_others_are_not_proposed(other: Card) -> None:
    assert consolidate_week(week(cards=(other,))) == []


def test_what_is_believed_already_is_not_proposed() -> None:
    believer = replace(WHO, beliefs=("Never deploy on Friday.",))
    assert consolidate_week(week(cards=(rule(),), identity=believer)) == []


def test_only_the_order_of_a_card_is_proposed_and_each_once() -> None:
    long = rule(value="Never deploy on Friday. We use Argo because it is simple.")
    steps = consolidate_week(week(cards=(rule(), replace(long, id="card-2"))))
    assert [step.note.text for step in steps if isinstance(step.note, Proposal)] == [
        "Never deploy on Friday."
    ]
