"""Conversations: who talks with whom, on which day, what asks and what tells."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from folders import NOW, Folder

from kimi_memory.recall.conversation import (
    BACK,
    LEAST,
    POWER,
    STREAM_DAYS,
    days,
    dialogue,
    follows_question,
    fresh,
    telling,
)
from kimi_memory.recall.engine import total

CHAT = [
    ("Ann", "Which instrument do you play?"),
    ("Ben", "The oboe, since I was a child in Graz. [shares a photo]"),
    ("Ann", "你也喜欢音乐吗？"),
    ("Ben", "喜欢，每个星期天都和朋友一起拉小提琴。"),
    ("Ann", "Nice."),
    ("Ben", "Come and listen to us some day in the old town hall."),
]
CHATS = {
    "en": [
        ("Ann", "Which books did you take to the island this summer, Ben?"),
        ("Ben", "I read an old book about lighthouses and their keepers."),
        ("Ann", "An old book about lighthouses and their keepers!"),
        ("Ben", "Yes, an old book about lighthouses and their keepers."),
        ("Ann", "My brother bakes bread with walnuts every Sunday."),
        ("Ben", "Later came a book on whales, borrowed from the harbour library."),
    ],
    "zh": [
        ("林夏", "今年夏天你带了哪些书去岛上，陈默？"),
        ("陈默", "读了一本讲灯塔和守塔人的旧书。"),
        ("林夏", "一本讲灯塔和守塔人的旧书！"),
        ("陈默", "对，一本讲灯塔和守塔人的旧书。"),
        ("林夏", "我哥哥每个星期天烤核桃面包。"),
        ("陈默", "后来又从港口图书馆借来讲鲸鱼的书。"),
    ],
}


def test_what_people_say_to_each_other_is_a_dialogue(folder: Folder) -> None:
    folder.session("chat", CHAT)
    folder.session("work", [("user", "Why?"), ("assistant", "So."), ("user", "Thanks.")] * 3)
    folder.session("notes", [("Ann", "One."), ("Ben", "Two.")], at=NOW + timedelta(days=2))
    searcher = folder.index().searcher()
    sessions = list(searcher.column("session"))
    assert [s == "chat" for s in sessions] == dialogue(searcher).tolist()


def test_questions_are_followed_by_answers_and_tell_less(folder: Folder) -> None:
    folder.session("chat", CHAT)
    searcher = folder.index().searcher()
    assert follows_question(searcher).tolist() == [False, True, False, True, False, False]
    told = dict(enumerate(telling(searcher).tolist(), start=1))
    assert told[4] > told[3]
    assert told[2] > told[1]
    assert told[6] > told[5]


def test_an_assistant_chat_is_left_as_it_is(folder: Folder) -> None:
    folder.session("work", [("user", "Why does it fail?"), ("assistant", "Disk full.")] * 4)
    searcher = folder.index().searcher()
    assert not follows_question(searcher).any()
    assert (telling(searcher) == 1.0).all()


def test_sittings_of_one_day_are_together(folder: Folder) -> None:
    first = datetime(2026, 1, 5, 22, tzinfo=UTC)
    later = [timedelta(days=n) for n in range(STREAM_DAYS)]
    mails = ["We meet at the harbour.", "A quiet day.", "Rain."]
    folder.stream("mail", [(first + by, text) for by, text in zip(later, mails, strict=True)])
    calls = ["On the way.", "Nobody there.", "Wrong number."]
    by_night = first + timedelta(hours=5)
    folder.stream("call", [(by_night + 2 * by, t) for by, t in zip(later, calls, strict=True)])
    searcher = folder.index().searcher()
    named = zip(searcher.column("session"), searcher.column("n"), strict=True)
    found = dict(zip(named, days(searcher).of.tolist(), strict=True))
    assert found["mail", 1] == found["call", 1] >= 0
    assert found["mail", 3] == found["call", 2] != found["mail", 1]
    assert found["mail", 2] == found["call", 3] == -1
    assert folder.ask("harbour").hits[0].unit.session == "mail"
    hits = {hit.unit.id: hit for hit in folder.ask("harbour way").hits}
    assert hits["session:call#1"].parts["day"] > 0


def test_a_memory_without_turns_has_no_days(folder: Folder) -> None:
    folder.card("db", "Database", "PostgreSQL.")
    searcher = folder.index().searcher()
    assert days(searcher).total == 0
    assert not dialogue(searcher).any()


@pytest.mark.parametrize("language", CHATS)
def test_what_repeats_counts_less_than_what_is_new(folder: Folder, language: str) -> None:
    folder.session("chat", CHATS[language])
    folder.card("sea", "Sea", "A book on whales 讲鲸鱼的书.")
    searcher = folder.index().searcher()
    rows = list(range(len(searcher)))
    told = dict(zip(searcher.column("n"), fresh(searcher, rows).tolist(), strict=True))
    assert told[1] == 1.0
    assert told[2] > told[3]
    assert told[4] == pytest.approx(LEAST**POWER, abs=0.3)
    assert told[6] > told[4]
    assert fresh(searcher, rows)[[n == 0 for n in searcher.column("n")]].tolist() == [1.0]


def test_what_was_said_long_before_is_new_again(folder: Folder) -> None:
    between = [("Ann", f"Nothing of the kind, number {n}.") for n in range(BACK)]
    again = ("Ben", "The lighthouse keeper paints boats.")
    folder.session("chat", [("Ann", "Well then."), again, *between, again])
    searcher = folder.index().searcher()
    factor = fresh(searcher, range(len(searcher)))
    assert factor[-1] == 1.0


def test_rows_that_are_not_looked_at_keep_one(folder: Folder) -> None:
    folder.session("chat", CHATS["en"])
    searcher = folder.index().searcher()
    assert fresh(searcher, []).tolist() == [1.0] * len(searcher)


@pytest.mark.parametrize(
    ("language", "question"),
    [("en", "Which books has Ben read?"), ("zh", "陈默读过哪些书？")],
)
def test_a_list_is_made_of_what_is_new_and_explains_itself(
    folder: Folder, language: str, question: str
) -> None:
    folder.session("chat", CHATS[language])
    hits = folder.ask(question).hits
    order = [hit.unit.n for hit in hits]
    assert set(order[:3]) >= {2, 6}
    assert order.index(6) < order.index(3)
    assert any("fresh" in hit.parts for hit in hits)
    for hit in hits:
        assert total(hit.parts) == pytest.approx(hit.score, abs=1e-12)
