"""Conversations: who talks with whom, on which day, what asks and what tells."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from folders import NOW, Folder

from kimi_memory.recall.conversation import STREAM_DAYS, days, dialogue, follows_question, telling

CHAT = [
    ("Ann", "Which instrument do you play?"),
    ("Ben", "The oboe, since I was a child in Graz. [shares a photo]"),
    ("Ann", "你也喜欢音乐吗？"),
    ("Ben", "喜欢，每个星期天都和朋友一起拉小提琴。"),
    ("Ann", "Nice."),
    ("Ben", "Come and listen to us some day in the old town hall."),
]


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
