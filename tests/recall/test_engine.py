"""Recall in both languages: what is found, why, where it stands, and what is left out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from folders import NOW, QUERIES, Folder, fill, make_host, seen
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kimi_memory.config import RecallTable
from kimi_memory.domain.engine import Embedding
from kimi_memory.domain.note import CardType, Status
from kimi_memory.domain.search_types import Query
from kimi_memory.errors import UsageError
from kimi_memory.hooks.specs import hookimpl
from kimi_memory.recall.engine import total
from kimi_memory.recall.ranking import ROLE, SPEAKER, TIME


@pytest.mark.parametrize(
    ("question", "id"),
    [
        ("Which database do we use for billing?", "session:a#1"),
        ("why not SQLite", "session:a#2"),
        ("部署脚本为什么失败", "session:b#1"),
        ("磁盘空间", "session:b#2"),
        ("喜欢喝什么茶", "session:b#4"),
        ("what about the expired token", "session:c#2"),
        ("資料庫", ""),
    ],
)
def test_questions_find_the_turn(filled: Folder, question: str, id: str) -> None:
    hits = filled.ask(question, kind=("turn",)).hits
    assert (hits[0].unit.id if hits else "") == id


@pytest.mark.parametrize(
    ("weight", "fusion", "told"),
    [
        (1.7, "70/30", "share: 1.7 is not"),
        (-0.1, "", "Give 0 to 10"),
        (float("nan"), "70/30", "Give 0 to 10"),
        (0.5, "60/40", "Use one of"),
    ],
)
def test_a_weight_that_means_nothing_is_refused(
    filled: Folder, weight: float, fusion: str, told: str
) -> None:
    with pytest.raises(UsageError, match=told):
        filled.ask("deploy", vector_weight=weight, fusion=fusion)
    assert filled.ask("database", vector_weight=1.7, fusion="rrf").hits


def test_traditional_characters_find_simplified_ones(filled: Folder) -> None:
    assert filled.ask("喜歡喝烏龍茶").hits[0].unit.id == "session:b#4"


def test_a_citation_names_the_line_of_the_file(filled: Folder) -> None:
    for question in QUERIES:
        for hit in filled.ask(question).hits:
            path, _, lines = hit.citation.partition("#L")
            first, _, last = lines.partition("-L")
            content = (filled.root / path).read_text(encoding="utf-8").splitlines()
            shown = content[int(first) - 1 : int(last or first)]
            if hit.unit.kind == "turn":
                assert json.loads(shown[0])["text"] == hit.unit.text
            elif hit.unit.kind == "page":
                assert hit.unit.text.splitlines()[-1] in shown


def test_turns_of_a_day_are_found_by_their_date(folder: Folder) -> None:
    folder.session("x", [("user", "We fed the ducks.")], at=datetime(2026, 1, 5, 9, tzinfo=UTC))
    folder.session("y", [("user", "We fed the geese.")], at=datetime(2026, 2, 20, 9, tzinfo=UTC))
    assert folder.ask("what did we do on January 5, 2026").hits[0].unit.id == "session:x#1"
    assert folder.ask("what did we do last Friday").hits[0].unit.id == "session:y#1"
    assert folder.ask("上周五我们做了什么").hits[0].unit.id == "session:y#1"
    assert folder.ask("2026年1月5日做了什么").hits[0].unit.id == "session:x#1"


def test_relative_dates_in_a_turn_count_from_the_turn(folder: Folder) -> None:
    folder.session(
        "x",
        [("user", "Yesterday we moved house.")],
        at=datetime(2026, 1, 5, 9, tzinfo=UTC),
    )
    folder.session("y", [("user", "We painted it.")], at=datetime(2026, 1, 9, 9, tzinfo=UTC))
    assert folder.ask("2026-01-04").hits[0].unit.id == "session:x#1"


def test_a_named_speaker_is_favoured_only_when_one_is_named(folder: Folder) -> None:
    folder.session("x", [("Ann", "I like tea."), ("Ben", "I like tea.")])
    assert folder.ask("does Ben like tea").hits[0].unit.speaker == "Ben"
    assert folder.ask("does Ben like tea").hits[0].parts["speaker"] == SPEAKER
    both = folder.ask("do Ben and Ann like tea").hits
    assert not any("speaker" in hit.parts for hit in both)


def test_a_person_is_favoured_over_the_assistant(folder: Folder) -> None:
    folder.session("x", [("user", "乌龙茶"), ("assistant", "乌龙茶")])
    folder.session("y", [("user", "龙井茶")])
    hits = {hit.unit.id: hit for hit in folder.ask("乌龙茶").hits}
    assert hits["session:x#1"].parts["role"] == ROLE
    assert "role" not in hits["session:x#2"].parts
    assert "role" not in folder.ask("龙井").hits[0].parts


def test_pauses_cut_a_long_session_into_sittings(folder: Folder) -> None:
    from kimi_memory.domain.note import Role
    from kimi_memory.domain.session import Session, Turn
    from kimi_memory.formats.jsonl import session_line, turn_line

    days = [(0, "the harbour"), (0, "good"), (9, "nothing"), (9, "more")]
    lines = [session_line(Session(id="x", started=NOW))]
    for n, (day, text) in enumerate(days, start=1):
        lines.append(turn_line(Turn(n, NOW + timedelta(days=day, seconds=n), Role.USER, text)))
    folder.write("short-term/session_x.jsonl", b"".join(lines))
    hits = {hit.unit.id: hit for hit in folder.ask("harbour").hits}
    assert hits["session:x#2"].parts["session"] > 0
    assert "session" not in hits["session:x#3"].parts
    assert "session:x#4" not in hits


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"kind": ("card",)}, {"card-tea", "card-tea-zh"}),
        ({"tier": ("short-term",)}, {"session:s#1"}),
        ({"type": ("preference",)}, {"card-tea"}),
        ({"tag": ("drink",)}, {"card-tea"}),
        ({"project": "kitchen"}, {"card-tea", "session:s#1"}),
        ({"agent": "claude"}, {"session:s#1"}),
        ({"status": ("superseded",)}, {"card-old"}),
        ({"since": NOW + timedelta(days=1)}, {"session:s#1"}),
        ({"until": NOW + timedelta(days=1)}, {"card-tea", "card-tea-zh"}),
        ({}, {"card-tea", "card-tea-zh", "session:s#1", "PAGE.md#L1"}),
    ],
    ids=lambda value: ",".join(sorted(value)) or "none",
)
def test_filters_leave_only_what_was_asked_for(
    folder: Folder, filters: dict[str, object], expected: set[str]
) -> None:
    folder.card(
        "tea", "Tea", "Tea 茶", type=CardType.PREFERENCE, tags=("drink",), project="kitchen"
    )
    folder.card("tea-zh", "茶", "乌龙茶 tea")
    folder.card("old", "Old tea", "Tea once 茶", status=Status.SUPERSEDED)
    later = NOW + timedelta(days=2)
    folder.session("s", [("user", "tea 茶")], at=later, project="kitchen", agent="claude")
    folder.write("PAGE.md", "# Tea 茶\n\ntea\n")
    for question in ("tea", "茶"):
        assert {hit.unit.id for hit in folder.ask(question, **filters).hits} == expected
    folder.index().refresh()
    assert {hit.unit.id for hit in folder.ask("tea", **filters).hits} == expected


def test_doubted_and_expired_cards_come_after_sure_ones(folder: Folder) -> None:
    folder.card("a-doubted", "Port", "The port is 8080.", confidence=0.2)
    folder.card("b-expired", "Port", "The port is 8080.", valid_to=NOW - timedelta(days=1))
    folder.card("c-sure", "Port", "The port is 8080.")
    hits = folder.ask("which port").hits
    assert [hit.unit.id for hit in hits] == ["card-c-sure", "card-a-doubted", "card-b-expired"]
    assert hits[1].parts["confidence"] < 1
    assert hits[2].parts["validity"] < 1


def test_ties_stand_by_id(folder: Folder) -> None:
    for slug in ("c", "a", "b"):
        folder.card(slug, "Port", "The port is 8080.")
    assert [hit.unit.id for hit in folder.ask("port").hits] == ["card-a", "card-b", "card-c"]


def test_nothing_is_found_for_words_nobody_said(filled: Folder) -> None:
    for question in ("zeppelin", "齐柏林", "", "   ", "???", "的"):
        assert filled.ask(question).hits == ()


def test_min_score_and_limit_cut_the_answer(filled: Folder) -> None:
    every = filled.ask("tea 茶 database").hits
    assert len(every) > 2
    assert filled.ask("tea 茶 database", limit=2).hits == every[:2]
    floor = every[1].score
    assert all(hit.score >= floor for hit in filled.ask("tea 茶 database", min_score=floor).hits)


WORDS = st.lists(
    st.sampled_from(["database", "茶", "Bob", "PostgreSQL", "部署", "日志", "token", "March", "I"]),
    min_size=1,
    max_size=6,
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(WORDS)
def test_the_parts_of_a_hit_add_up_to_its_score(filled: Folder, words: list[str]) -> None:
    hits = filled.ask(" ".join(words)).hits
    for hit in hits:
        assert total(hit.parts) == pytest.approx(hit.score, abs=1e-12)
        assert 0 < hit.score <= 1
        assert hit.lanes == ("keyword",)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


MEANINGS = {"feline": (1.0, 0.0, 0.0), "cat": (0.96, 0.28, 0.0), "猫": (0.96, 0.0, 0.28)}


class Meaning:
    """A stand-in for an embedding model: it knows that a cat is a feline."""

    def __init__(self, model: str = "meaning-1") -> None:
        self.model, self.asked, self.silent = model, 0, False

    @hookimpl
    def embed_texts(self, texts: Sequence[str], purpose: str) -> Embedding | None:
        if purpose == "similarity" or self.silent:
            return None
        self.asked += len(texts)
        return Embedding(self.model, [self._vector(text) for text in texts])

    def _vector(self, text: str) -> tuple[float, ...]:
        return next((v for word, v in MEANINGS.items() if word in text), (0.0, 0.0, 1.0))


def test_a_model_finds_what_shares_no_word(folder: Folder) -> None:
    model = Meaning()
    folder = Folder(folder.root, make_host((model, "meaning")))
    folder.session("x", [("user", "My cat sleeps."), ("user", "A stone lies there.")])
    folder.session("y", [("user", "我的猫睡了。")])
    index = folder.index()
    assert index.refresh().embedded > 0
    answer = folder.ask("feline", index)
    assert {hit.unit.id for hit in answer.hits} >= {"session:x#1", "session:y#1"}
    assert answer.lanes == ("keyword", "vector")
    assert all("vector" in hit.lanes and hit.parts["vector"] > 0 for hit in answer.hits)
    assert all(total(hit.parts) == pytest.approx(hit.score) for hit in answer.hits)


@pytest.mark.parametrize(
    ("asked", "vector"),
    [
        ({}, RecallTable().vector_weight / (1 + RecallTable().vector_weight)),
        ({"vector_weight": 3.0}, 0.75),
        ({"vector_weight": 0.0}, 0.0),
        ({"fusion": "70/30"}, 0.7),
        ({"fusion": "70/30", "vector_weight": 0.2}, 0.2),
        ({"fusion": "rrf"}, 0.5),
    ],
)
def test_a_question_has_its_own_weights_and_the_answer_says_them(
    folder: Folder, asked: dict[str, Any], vector: float
) -> None:
    folder = Folder(folder.root, make_host((Meaning(), "meaning")))
    folder.session("x", [("user", "My cat sleeps."), ("user", "A stone lies there.")])
    folder.index().refresh()
    answer = folder.ask("feline stone", **asked)
    assert answer.weights.get("vector", 0.0) == pytest.approx(vector)
    assert sum(answer.weights.values()) == pytest.approx(1)
    assert set(answer.lanes) == set(answer.weights)
    # The nearest line has all that its lane can give.
    nearest = max((hit.parts.get("vector", 0.0) for hit in answer.hits), default=0.0)
    assert nearest == pytest.approx(vector)


def test_only_new_units_are_embedded_and_another_model_embeds_all(folder: Folder) -> None:
    model = Meaning()
    folder = Folder(folder.root, make_host((model, "meaning")))
    folder.session("x", [("user", f"line {n}") for n in range(40)])
    folder.index().refresh()
    before = model.asked
    folder.session("y", [("user", "my cat")])
    folder.index().refresh()
    assert model.asked - before < 6
    other = Meaning("meaning-2")
    again = Folder(folder.root, make_host((other, "meaning")))
    answer = again.ask("feline")
    assert answer.lanes == ("keyword",)
    assert "meaning-2" in answer.notes[0]
    again.index().refresh()
    assert other.asked > 41
    assert again.ask("feline").hits[0].unit.id == "session:y#1"


def test_a_model_that_goes_silent_leaves_the_keywords(folder: Folder) -> None:
    model = Meaning()
    folder = Folder(folder.root, make_host((model, "meaning")))
    folder.session("x", [("user", "My cat sleeps."), ("user", "A stone.")])
    folder.index().refresh()
    model.silent = True
    answer = folder.ask("stone")
    assert answer.lanes == ("keyword",)
    assert answer.hits[0].unit.id == "session:x#2"
    folder.session("y", [("user", "new stone")])
    folder.index().refresh()
    model.silent = False
    assert folder.ask("feline").hits[0].unit.id == "session:x#1"


def test_an_index_without_vectors_says_so(folder: Folder) -> None:
    folder.session("x", [("user", "My cat sleeps.")])
    answer = Folder(folder.root, make_host((Meaning(), "meaning"))).ask("cat")
    assert answer.hits
    assert "no vectors" in answer.notes[0]


def test_a_file_that_vanishes_during_a_search_is_left_out(filled: Folder) -> None:
    searcher = filled.index().searcher()
    (filled.root / "short-term/session_a.jsonl").unlink()
    rows = range(len(searcher))
    assert not [unit for unit in searcher.units(rows).values() if unit.session == "a"]


def test_a_line_that_changed_during_a_search_is_left_out(filled: Folder) -> None:
    searcher = filled.index().searcher()
    (filled.root / "short-term/session_a.jsonl").write_bytes(b"garbage\n")
    assert not [u for u in searcher.units(range(len(searcher))).values() if u.session == "a"]


@pytest.mark.parametrize("reranks", [False, True], ids=["plain", "reranked"])
@pytest.mark.parametrize("now", ["# Harbour 港口\n\nThe heron has left. 苍鹭走了。\n", ""])
def test_what_is_shown_is_what_a_file_says_when_it_is_shown(
    folder: Folder, now: str, *, reranks: bool
) -> None:
    page = folder.write("notes/a.md", "# Harbour 港口\n\nThe heron stands here. 苍鹭在此。\n")
    for n in range(3):
        folder.write(f"notes/b{n}.md", f"# Pier {n}\n\nA heron was seen here, said {n}.\n")
    folder.index().refresh()

    class Editor:
        """Somebody who saves the page between the look at the folder and the answer."""

        @hookimpl
        def expand_query(self, query: Query, now: datetime) -> list[str]:
            page.write_text(edited, encoding="utf-8") if edited else page.unlink()
            return []

    class Reranker:
        """A model that finds the last of all texts the best."""

        @hookimpl
        def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
            return [float(place) for place in range(len(texts))]

    edited, extra = now, [(Reranker(), "again")] if reranks else []
    host = make_host((Editor(), "editor"), *extra)
    hits = Folder(folder.root, host).ask("heron harbour 港口 苍鹭", limit=4).hits
    said = {hit.unit.path: hit.snippet for hit in hits}
    assert ("notes/a.md" in said) is bool(now)
    assert "stands" not in said.get("notes/a.md", "")
    assert len(said) == (4 if now else 3)


def test_two_memories_of_the_same_files_answer_alike(filled: Folder, tmp_path_factory) -> None:
    other = Folder(tmp_path_factory.mktemp("other"))
    fill(other)
    other.index().refresh()
    for question in QUERIES:
        assert seen(filled.ask(question)) == seen(other.ask(question))


def test_many_threads_may_ask_one_recall(filled: Folder) -> None:
    from concurrent.futures import ThreadPoolExecutor

    index = filled.index()
    index.refresh()
    recall = filled.recall(index)
    expected = [seen(recall.search(Query(text=text))) for text in QUERIES]

    def ask(number: int) -> bool:
        if number % 10 == 0:
            index.refresh(full=True)
        at = number % len(QUERIES)
        return seen(recall.search(Query(text=QUERIES[at]))) == expected[at]

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(ask, range(60)))


def test_a_search_that_writes_the_index_never_waits_for_the_model(folder: Folder) -> None:
    model = Meaning()
    folder = Folder(folder.root, make_host((model, "meaning")))
    folder.session("x", [("user", f"stone {n}") for n in range(600)])
    answer = folder.ask("stone")
    assert answer.hits
    assert model.asked == 1
    assert "no vectors" in answer.notes[0]
    folder.index().refresh()
    assert folder.ask("stone").lanes == ("keyword", "vector")


def test_what_was_said_in_the_named_time_is_favoured(folder: Folder) -> None:
    folder.session("x", [("user", "We fed the ducks. 喂了鸭子。")], at=NOW - timedelta(days=45))
    folder.session("y", [("user", "We fed the ducks. 喂了鸭子。")], at=NOW - timedelta(days=5))
    for question in ("who fed the ducks in mid-January", "一月中旬谁喂了鸭子"):
        hits = folder.ask(question).hits
        assert hits[0].unit.id == "session:x#1"
        assert hits[0].parts["time"] == TIME
        assert "time" not in hits[1].parts


def test_answers_stand_behind_their_question(folder: Folder) -> None:
    folder.session(
        "x",
        [
            *[("Ann", "Do you play an instrument?"), ("Ben", "The oboe, every day.")],
            *[("Ann", "And where do you live?"), ("Ben", "In a small town near Graz.")],
            *[("Ann", "I see."), ("Ben", "Come and see us.")],
        ],
    )
    hits = {hit.unit.id: hit for hit in folder.ask("which instrument").hits}
    assert hits["session:x#2"].parts["answer"] > 0
    assert "answer" not in hits["session:x#3"].parts


def test_a_question_for_several_things_looks_into_several_sittings(folder: Folder) -> None:
    for n, thing in enumerate(("violin", "oboe", "drum")):
        turns = [("Ann", f"My instrument is the {thing}."), ("Ben", "A fine instrument.")]
        folder.session(f"s{n}", turns, at=NOW - timedelta(days=n))
    hits = folder.ask("Which instruments has somebody played?").hits
    assert len({hit.unit.session for hit in hits[:3]}) == 3
    assert any(hit.parts.get("spread", 1.0) < 1.0 for hit in hits)
    assert not any("spread" in hit.parts for hit in folder.ask("my instrument").hits)


def test_things_are_found_by_their_kind(folder: Folder) -> None:
    folder.session("x", [("user", "I carry my violin everywhere."), ("user", "周末去跑步。")])
    assert folder.ask("which instrument do I play").hits[0].unit.id == "session:x#1"
    assert folder.ask("做什么运动").hits[0].unit.id == "session:x#2"


def test_scores_tell_what_the_memory_can_speak_to(filled: Folder) -> None:
    for known, unknown in (
        ("Which database do we use for billing?", "Which database do penguins of Chile prefer?"),
        ("部署脚本为什么失败", "部署企鹅要什么护照"),
    ):
        sure, unsure = filled.ask(known).hits[0], filled.ask(unknown).hits[0]
        assert sure.score > 2 * unsure.score
        assert unsure.parts["cover"] < 0.5
        assert not filled.ask(unknown, min_score=0.5).hits
        assert filled.ask(known, min_score=0.5).hits


def test_somebody_else_covers_less_of_a_question_about_a_speaker(folder: Folder) -> None:
    folder.session("x", [("Ann", "I keep bees."), ("Ben", "I keep goats."), ("Ann", "Good.")])
    assert (
        folder.ask("does Ann keep bees").hits[0].score
        > folder.ask("does Ben keep bees").hits[0].score
    )


def test_the_course_of_things_is_told_from_all_its_stretches(folder: Folder) -> None:
    said = ["The roof leaks again, the roof leaks so badly.", "Noted.", "Hm.", "Fine."] * 4
    for month in range(4):
        folder.session(
            f"m{month}",
            [("user" if n % 2 == 0 else "assistant", text) for n, text in enumerate(said)]
            + [("user", f"We paid the roofer of the roof for part {month}.")],
            at=NOW + timedelta(days=30 * month),
        )
    hits = folder.ask("Summarise how the work on the roof went over time", limit=8).hits
    assert {hit.unit.session for hit in hits[:4]} == {"m0", "m1", "m2", "m3"}
    stretches = {(hit.unit.session, hit.unit.n // 12) for hit in hits}
    assert len(stretches) == 8


def test_a_card_loses_a_little_of_its_score_with_age_and_a_turn_nothing(folder: Folder) -> None:
    old, new = datetime(2025, 1, 5, tzinfo=UTC), NOW
    folder.card("a-old", "Ducks", "The ducks get bread at noon.", valid_from=old, verified=old)
    folder.card("b-new", "Ducks", "The ducks get bread at noon.", valid_from=new, verified=new)
    folder.session("s", [("user", "We fed the ducks bread.")], at=old)
    query = Query(text="ducks bread")
    hits = {hit.unit.id: hit for hit in folder.recall().search(query).hits}
    assert hits["card-b-new"].score > hits["card-a-old"].score
    assert hits["card-a-old"].parts["recency"] == pytest.approx(0.95, abs=0.01)
    assert "recency" not in hits["session:s#1"].parts
    without = folder.recall(recency=0.0).search(query).hits
    assert all("recency" not in hit.parts for hit in without)
    assert len(folder.recall(recency=9, recency_days=0).search(query).hits) == 3


def test_turns_of_the_last_days_alone_where_a_person_wants_that(folder: Folder) -> None:
    folder.session("old", [("user", "We fed the ducks.")], at=datetime(2026, 1, 5, 9, tzinfo=UTC))
    folder.session("new", [("user", "We fed the geese.")], at=NOW - timedelta(days=2))
    folder.card("ducks", "Ducks", "The ducks are fed at noon.")
    week = folder.recall(turn_days=7)
    found = {hit.unit.id for hit in week.search(Query(text="who fed the ducks")).hits}
    assert "session:old#1" not in found
    assert {"session:new#1", "card-ducks"} <= found
    for query in (
        Query(text="what did we feed on January 5, 2026"),
        Query(text="ducks", since=datetime(2026, 1, 1, tzinfo=UTC)),
        Query(text="ducks", turn_days=400),
    ):
        assert "session:old#1" in {hit.unit.id for hit in week.search(query).hits}
