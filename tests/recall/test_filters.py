"""Filters and scores: whatever the memory and the filters, the parts of a hit give its score."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest
from folders import NOW, Folder, seen
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from kimi_memory.domain.note import CardType, Status
from kimi_memory.domain.search_types import Query
from kimi_memory.errors import UsageError
from kimi_memory.index.searcher import VIEWS
from kimi_memory.recall import filters
from kimi_memory.recall.engine import SUMMANDS, total
from kimi_memory.recall.filters import restrict_to_caller
from kimi_memory.recall.query_parser import parse

PAGES = {
    "a": "We chose PostgreSQL 16.2 for the billing service.",
    "b": "The deployment failed; deploy it again.",
    "c": "数据库用了主从复制，部署在两台机器上。",
    "d": "資料庫 用 數據 備份。",
    "e": "Don't redeploy the node.js-based billing-service on Friday.",
    "f": "To be or not to be.",
}
WORDS_FILTERS = [
    *("database", "PostgreSQL", "deploy", "Friday", "tea", "Bob", "Alice", "March 3", "16.2"),
    *("数据库", "部署", "乌龙茶", "失败", "上周五", "因为", "日志"),
]
SAID_FILTERS = st.lists(st.sampled_from(WORDS_FILTERS), min_size=1, max_size=6).map(" ".join)
TURN = st.tuples(st.sampled_from(["user", "assistant", "Alice", "Bob"]), SAID_FILTERS)
SESSIONS = st.lists(st.lists(TURN, min_size=1, max_size=4), max_size=3)
CARDS = st.lists(
    st.fixed_dictionaries(
        {
            "title": SAID_FILTERS,
            "value": SAID_FILTERS,
            "confidence": st.sampled_from([0.1, 0.5, 1.0]),
            "status": st.sampled_from([Status.ACTIVE, Status.STALE, Status.SUPERSEDED]),
            "type": st.sampled_from([CardType.FACT, CardType.PREFERENCE]),
            "tags": st.sampled_from([(), ("drink",)]),
        }
    ),
    max_size=3,
)
FILTERS = st.fixed_dictionaries(
    {},
    optional={
        "kind": st.sampled_from([("turn",), ("card",), ("turn", "card")]),
        "tier": st.sampled_from([("short-term",), ("semantic",)]),
        "status": st.just(("active", "superseded")),
        "tag": st.just(("drink",)),
        "speaker": st.just(("bob",)),
        "since": st.just(NOW - timedelta(days=1)),
        "phrases": st.sampled_from([("tea",), ("乌龙茶",), ("data*",)]),
        "excluded": st.sampled_from([("deploy",), ("部署",)]),
        "min_score": st.sampled_from([0.1, 0.5]),
    },
)


def found(folder: Folder, line: str) -> str:
    """Return the names of the pages a line finds."""
    hits = folder.recall().search(parse(line, NOW)).hits
    return "".join(sorted(hit.unit.path[6] for hit in hits))


@pytest.fixture
def paged(folder: Folder) -> Folder:
    """A memory of one-line pages."""
    for name, text in PAGES.items():
        folder.write(f"notes/{name}.md", text + "\n")
    return folder


@pytest.mark.parametrize(
    ("line", "pages"),
    [
        ('"billing service"', "a"),
        ('"BILLING  Service"', "a"),
        ("billing", "ae"),
        ("billing -postgresql", "e"),
        ("billing -postgres", "ae"),
        ('billing -"node.js"', "a"),
        ("“主从复制”", "c"),
        ("部署 -主从", ""),
        ("「数据」", "cd"),
        ("「資料庫」", "d"),
        ("deploy*", "b"),
        ("postgre*", "a"),
        ("部署*", "c"),
        ('"PostgreSQL 16"', "a"),
        ('"to be or not"', "f"),
        ('"don\'t redeploy"', "e"),
        ('"no such words"', ""),
        ('billing -"to be"', "ae"),
        ('billing ""', "ae"),
    ],
)
def test_marked_words_are_required(paged: Folder, line: str, pages: str) -> None:
    assert found(paged, line) == pages
    paged.index().refresh()
    assert found(paged, line) == pages


def test_a_title_says_a_phrase_too(folder: Folder) -> None:
    folder.card("port", "The port of staging", "It is 8080.")
    assert [h.unit.id for h in folder.recall().search(parse('"port of staging"', NOW)).hits]


WORDS = [
    *(
        "PostgreSQL",
        "node.js-based",
        "user_id",
        "Bob's",
        "数据库",
        "部署",
        "16.2",
        "e-mail",
        "URLs",
    ),
    *("don't", "iPhone", "the", "資料庫", "C++", "running", "café", "utf8", "的", "お茶", "x"),
]
SAID = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(SAID, st.integers(0, 5), st.integers(1, 6))
def test_what_was_said_is_found_by_its_own_words(
    folder: Folder, words: list[str], first: int, count: int
) -> None:
    folder.write("notes/a.md", " ".join(words) + "\n")
    phrase = " ".join(words[first % len(words) :][:count])
    assert found(folder, f'"{phrase}"') == "a"
    assert found(folder, f'"{phrase.upper()}"') == "a"
    assert found(folder, f'words -"{phrase}" path:notes') == ""


BEGUN = [
    "deployments",
    "happiness",
    "happily",
    "probability",
    "reliability",
    "dying",
    "lying",
    "tying",
    "skies",
    "hoping",
    "running",
    "generalizations",
    "relational",
    "relationally",
    "gently",
    "early",
    "news",
    "internationalisation",
    "e-mailing",
    "utf8mb4",
    "PostgreSQL",
    "deployScript",
    "billing-service",
    "user_id42",
    "v16.2",
    "running's",
    "café",
]
"""Words whose stems differ from them in every way, and names that are several words at once."""


@pytest.mark.parametrize("word", BEGUN)
def test_a_word_is_found_by_each_of_its_beginnings(folder: Folder, word: str) -> None:
    folder.write("notes/a.md", f"It says {word} here.\n")
    folder.write("notes/b.md", "Nothing of the kind, 没有。\n")
    index = folder.index()
    for _ in range(2):
        for end in range(2, len(word) + 1):
            line = f'"{word[:end]}*"'
            assert [h.unit.path for h in folder.recall(index).search(parse(line, NOW)).hits] == [
                "notes/a.md"
            ], line
        index.refresh()


def test_a_beginning_is_no_part_within_a_word(paged: Folder) -> None:
    assert found(paged, "eploy*") == ""
    assert found(paged, "deploy* -redeploy") == "b"
    assert found(paged, "billing -postgre*") == "e"


def test_words_on_disk_and_words_of_the_day_count_alike(folder: Folder) -> None:
    folder.write("notes/a.md", "The deployment failed.\n")
    folder.index().refresh()
    folder.write("notes/b.md", "We deployed it by hand.\n")
    assert found(folder, "deploy*") == "ab"
    (folder.root / "notes/a.md").write_text("Nothing.\n")
    assert found(folder, "deploy*") == "b"


def test_a_beginning_of_too_many_words_is_refused_by_name(
    paged: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(filters, "MOST_BEGUN", 1)
    assert found(paged, "postgre*") == "a"
    with pytest.raises(UsageError, match=r"'no\*' begins more than 1 words"):
        found(paged, "no*")


def test_a_beginning_does_not_read_the_files_it_does_not_stand_in(
    paged: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    index, read = paged.index(), list[str]()
    index.refresh()
    index.searcher()
    monkeypatch.setattr(filters, "_has_word", lambda files, path, word: read.append(path))
    assert [h.unit.path for h in paged.recall(index).search(parse("postgre*", NOW)).hits]
    assert read == []


def fill(folder: Folder, sessions: Sequence[Sequence[tuple[str, str]]], cards) -> None:
    for n, turns in enumerate(sessions):
        folder.session(f"s{n}", turns, at=NOW - timedelta(days=n))
    for n, card in enumerate(cards):
        folder.card(f"c{n}", **card)


@settings(max_examples=40)
@given(st.tuples(SESSIONS, CARDS), st.one_of(SAID_FILTERS, st.just("")), FILTERS, st.booleans())
def test_parts_give_the_score(
    tmp_path_factory: pytest.TempPathFactory,
    notes: tuple[list[list[tuple[str, str]]], list[dict[str, object]]],
    text: str,
    filters: dict[str, object],
    on_disk: bool,
) -> None:
    folder = Folder(tmp_path_factory.mktemp("memory"))
    fill(folder, *notes)
    index = folder.index()
    if on_disk:
        index.refresh()
        folder.session("late", [("Bob", text or "tea")])
    hits = folder.recall(index).search(Query(text=text, limit=50, **filters)).hits
    index.close()
    for hit in hits:
        assert total(hit.parts) == pytest.approx(hit.score, abs=1e-12)
        added = sum(value for name, value in hit.parts.items() if name in SUMMANDS)
        assert added > 0
        assert 0 < hit.score <= 1
        assert hit.score >= filters.get("min_score", 0)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


OWNERS = st.sampled_from(["", "a", "b"])


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(OWNERS, st.lists(TURN, min_size=1, max_size=4)), max_size=4),
    st.lists(st.tuples(OWNERS, SAID_FILTERS), max_size=4),
    SAID_FILTERS,
    st.booleans(),
)
@example([("b", [("user", "database")])], [("", "database")], "database PostgreSQL", False)
def test_no_score_speaks_of_what_may_not_be_seen(
    tmp_path_factory: pytest.TempPathFactory,
    sessions: list[tuple[str, list[tuple[str, str]]]],
    cards: list[tuple[str, str]],
    text: str,
    on_disk: bool,
) -> None:
    whole, own = (Folder(tmp_path_factory.mktemp("memory")) for _ in range(2))
    for n, (owner, turns) in enumerate(sessions):
        for folder in (whole, own) if owner != "b" else (whole,):
            area = {"area": "agent", "agent": owner} if owner else {}
            folder.session(f"s{n}", turns, at=NOW - timedelta(hours=n), **area)
    for n, (owner, value) in enumerate(cards):
        for folder in (whole, own) if owner != "b" else (whole,):
            scope = f"agent:{owner}" if owner else ""
            folder.card(f"c{n}", f"Note {n}", value, scope=scope)
    asked = Query(text=text, limit=50, within=("agent:a",))
    answers = []
    for folder in (whole, own):
        index = folder.index()
        if on_disk:
            index.refresh()
        recall = folder.recall(index)
        # What the owner asks in between is another question.
        recall.search(Query(text=text))
        answers.append(seen(recall.search(asked)))
        assert answers[-1] == seen(recall.search(asked))
        index.close()
    assert answers[0] == answers[1]


def test_views_of_those_who_may_not_see_all_are_few(folder: Folder) -> None:
    folder.session("s", [("Bob", "tea")], area="agent", agent="a")
    folder.card("c", "Tea", "tea")
    searcher = folder.index().searcher()
    for n in range(3 * VIEWS):
        view = restrict_to_caller(searcher, Query(text="tea", within=(f"agent:{n}",)))
        assert len(view.living()) == 1
        assert restrict_to_caller(searcher, Query(text="tea", within=(f"agent:{n}",))) is view
        assert restrict_to_caller(view, Query(text="tea", within=(f"agent:{n}",))) is view
    assert len(searcher._views) == VIEWS
    assert restrict_to_caller(searcher, Query(text="tea", within=("agent:a",))) is searcher
    assert restrict_to_caller(searcher, Query(text="tea")) is searcher


@pytest.mark.parametrize("on_disk", [False, True])
def test_talk_that_is_gone_leaves_notes_as_if_there_never_was_any(
    tmp_path_factory: pytest.TempPathFactory, *, on_disk: bool
) -> None:
    gone, never = (Folder(tmp_path_factory.mktemp("memory")) for _ in range(2))
    for folder in (gone, never):
        folder.card("c", "Choice", "The database is PostgreSQL")
    path = gone.session("s", [("user", "database")])
    index = gone.index()
    if on_disk:
        index.refresh()
    assert len(index.searcher().living()) == 2
    (gone.root / path).unlink()
    found = gone.recall(index).search(Query(text="database of Bob"))
    assert seen(found) == seen(never.ask("database of Bob"))
    index.close()
