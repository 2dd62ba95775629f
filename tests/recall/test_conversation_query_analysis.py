"""A question as scoring sees it."""

from __future__ import annotations

from datetime import datetime, timedelta

from folders import NOW, Folder

from kimi_memory.recall.conversation import BROAD_KIND, Question, read_question


def read(folder: Folder, text: str, now: datetime | None = NOW) -> Question:
    searcher = folder.index().searcher()
    return read_question(searcher, text, searcher.words.split(text), now)


def test_words_bring_what_may_stand_for_them(folder: Folder) -> None:
    folder.session("x", [("Ann", "hello"), ("Ben", "hello")])
    asked = read(folder, "Which instruments has Ann bought?")
    echoes = {term.word: term.echoes for term in asked.terms}
    assert asked.broad
    assert asked.names == {"Ann"}
    assert echoes["ann"] == ()
    assert any("buy" in echo.words for echo in echoes["bought"])
    assert any("violin" in echo.words for echo in echoes["instrument"])
    assert echoes["instrument"][-1].weight == BROAD_KIND


def test_where_nobody_talks_nothing_is_read_into_the_words(folder: Folder) -> None:
    folder.card("db", "Database", "PostgreSQL since March.")
    asked = read(folder, "which movies in March")
    assert [term.word for term in asked.terms] == ["movi", "march"]
    assert not any(term.echoes for term in asked.terms)
    assert asked.days == ()


def test_a_named_month_is_a_stretch_of_days(folder: Folder) -> None:
    folder.session("x", [("user", "hello")])
    for text in ("what happened in January", "一月份发生了什么"):
        (stretch,) = read(folder, text).days
        assert stretch.words == ("m:2026-01",)
        assert stretch.end - stretch.start == timedelta(days=31).total_seconds()
    assert read(folder, "what happened in January", None).days == ()


def test_a_named_day_leaves_out_what_many_days_are(folder: Folder) -> None:
    folder.session("x", [("user", "hello")])
    asked = read(folder, "what happened on 2026-01-05")
    words = [term.word for term in asked.terms]
    assert "d:2026-01-05" in words
    assert not any(word.startswith(("w:", "y:", "m:", "k:")) for word in words)
    assert asked.days[0].words == ("d:2026-01-05",)


def test_what_only_introduces_a_question_is_not_looked_for(folder: Folder) -> None:
    folder.session("x", [("user", "hello"), ("assistant", "hello")])
    asked = read(folder, "Can you remind me which key you recommended?")
    assert {term.word for term in asked.terms} == {"key", "recommend"}
    assert asked.reply
    assert {term.word for term in read(folder, "请问钥匙").terms} == {"钥", "匙", "钥匙"}
    assert [term.word for term in read(folder, "Can you remind me?").terms] == ["remind"]
    assert not read(folder, "Which key did I recommend?").reply
