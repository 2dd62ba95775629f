"""Marked words are required: phrases, beginnings and exclusions, as the texts have them."""

from __future__ import annotations

import pytest
from folders import NOW, Folder
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kimi_memory.errors import UsageError
from kimi_memory.recall import phrases
from kimi_memory.recall.query_parser import parse

PAGES = {
    "a": "We chose PostgreSQL 16.2 for the billing service.",
    "b": "The deployment failed; deploy it again.",
    "c": "数据库用了主从复制，部署在两台机器上。",
    "d": "資料庫 用 數據 備份。",
    "e": "Don't redeploy the node.js-based billing-service on Friday.",
    "f": "To be or not to be.",
}


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
    monkeypatch.setattr(phrases, "MOST_BEGUN", 1)
    assert found(paged, "postgre*") == "a"
    with pytest.raises(UsageError, match=r"'no\*' begins more than 1 words"):
        found(paged, "no*")


def test_a_beginning_does_not_read_the_files_it_does_not_stand_in(
    paged: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    index, read = paged.index(), list[str]()
    index.refresh()
    index.searcher()
    monkeypatch.setattr(phrases, "_has_word", lambda files, path, word: read.append(path))
    assert [h.unit.path for h in paged.recall(index).search(parse("postgre*", NOW)).hits]
    assert read == []
