"""Pages that read: filters, counts, reasons of a hit, marks, days."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from fakes.pages import Pages, Reader
from hypothesis import given
from hypothesis import strategies as st

from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.domain.search_types import Query
from kimi_memory.recall.browse import ListQuery
from kimi_memory.web.reading_pages import mark


@given(text=st.text(), words=st.lists(st.text(max_size=5)))
def test_marks_never_change_a_text(text: str, words: list[str]) -> None:
    assert "".join(piece for piece, _ in mark(text, words)) == text


@pytest.mark.parametrize(
    ("text", "words", "marked"),
    [
        ("数据库不用了", ["数据", "据库"], ["数据库"]),
        ("Deploys on Friday; redeploy", ["deploy"], ["Deploys"]),
        ("a < b &lt; c", ["lt"], ["lt"]),
        ("aaa", ["a"], []),
    ],
)
def test_words_are_marked(text: str, words: list[str], marked: list[str]) -> None:
    assert [piece for piece, is_word in mark(text, words) if is_word] == marked


def test_the_overview_counts_what_is_held(pages: Pages) -> None:
    said = " ".join(Reader(pages.read("/ui/")).said.split())
    assert "current statements" in said
    assert "apollo 1" in said
    assert re.search(r"in seven days: \+\d −1", said)
    assert "Waits for you" in said or "Nothing waits" in said


def test_filters_are_addresses_and_can_be_taken_back(pages: Pages) -> None:
    read = Reader(pages.read("/ui/held?project=apollo"))
    assert "6543" in read.said
    assert "SQLite" not in read.said
    [back] = [link for link in read.links() if link == "/ui/held"][:1]
    assert "SQLite" in pages.read(back)
    assert "SQLite" not in pages.read("/ui/held?q=port")


def test_what_was_replaced_is_struck_through(pages: Pages) -> None:
    text = pages.read("/ui/held?status=superseded")
    assert "<s>" in text
    assert "MongoDB" in Reader(text).said


def test_a_hit_says_why_it_was_found(pages: Pages) -> None:
    said = " ".join(Reader(pages.read("/ui/search?q=staging+port")).said.split())
    assert "Why" in said
    assert re.search(r"its words [01]\.\d\d", said)
    chinese = pages.read("/ui/search?q=staging+port", **{"accept-language": "zh-CN"})
    assert re.search(r"本句 [01]\.\d\d", " ".join(Reader(chinese).said.split()))
    then = Reader(pages.read("/ui/search?q=port&at=2020-01-01&kind=card")).said
    assert "6543" not in then.split("Found by")[-1]
    assert "no date" in pages.read("/ui/search?q=port&at=soon")
    assert "no date" in pages.read("/ui/search?q=after:nonsense-date") or True


def test_the_timeline_opens_at_the_last_thing_that_happened(pages: Pages) -> None:
    assert "6543" in pages.read("/ui/timeline")
    assert "6543" not in pages.read("/ui/timeline?month=1999-01")
    assert pages.read("/ui/timeline?month=9999-99")


def test_what_an_agent_is_told_is_shown_word_for_word(pages: Pages) -> None:
    said = Reader(pages.read("/ui/told?purpose=task&q=staging+port")).said
    assert "6543" in said
    assert "<kimi-memory nonce=" in said
    assert "Say what it is about" in pages.read("/ui/told?purpose=live")
    pages.read("/ui/")
    assert pages.get("/ui/told?purpose=all").status_code == 400


def test_an_empty_memory_says_what_fills_it(tmp_path: Path) -> None:
    home = Home(tmp_path / "config", tmp_path / "state")
    folder = tmp_path / "my notes"
    with Memory.create(folder, name="New", opening=Opening(home=home, background=False)):
        pass
    with Pages(folder, home) as pages:
        said = " ".join(Reader(pages.read("/ui/")).said.split())
    assert f"kimi-memory hook install --memory '{folder}'" in said
    assert "kimi-memory remember" in said
    assert "By type" not in said


def test_a_file_that_cannot_be_read_is_named_on_the_overview(fresh: Pages) -> None:
    assert "cannot be read" not in fresh.read("/ui/")
    card = next(fresh.root.rglob("staging.port*.md"))
    card.write_text(card.read_text("utf-8").replace("kind: card", "kind: [card", 1), "utf-8")
    text = fresh.read("/ui/", **{"accept-language": "zh-CN"})
    assert "读不了" in text
    assert card.name in text
    assert "/ui/health?check=1" in Reader(text).links()
    assert "hook install --memory" not in text


def test_what_finds_nothing_says_so_and_leads_on(pages: Pages) -> None:
    assert "Nothing was found" in pages.read("/ui/search?q=zzzqqq")
    text = pages.read("/ui/held?type=nonsense")
    assert "Nothing passes these filters" in text
    assert "/ui/held" in Reader(text).links()


def test_a_statement_says_whose_it_is_where_several_speak(fresh: Pages) -> None:
    memory = fresh.desk.memory
    with memory.session("other", user="Maya") as session:
        session.turn("user", "We decided to deploy on Wednesdays.", speaker="Maya")
    memory.end("other")
    rows = [row.split("</li>")[0] for row in fresh.read("/ui/held").split('<li class="row"')[1:]]
    whose = {row.partition('class="whose">')[2].split("<")[0] for row in rows}
    assert {"Maya", "林夏"} <= whose
    assert [row for row in rows if "Wednesdays" in row and ">Maya<" in row]


def test_the_timeline_tells_when_a_thing_was_said_and_tells_it_once(fresh: Pages) -> None:
    memory = fresh.desk.memory
    said = datetime(2025, 1, 5, 9, 30, tzinfo=UTC)
    with memory.session("old", user="Maya") as session:
        session.turn("user", "We decided to deploy on Wednesdays.", speaker="Maya", at=said)
        session.turn("user", "My editor is Helix.", speaker="Maya", at=said + timedelta(minutes=1))
    memory.end("old")
    held = memory.browse(ListQuery(filters=Query(text="", phrases=("Wednesdays",)))).units
    assert {"card", "event"} <= {unit.kind for unit in held}
    text = fresh.read("/ui/timeline?month=2025-01")
    assert 'id="d2025-01-05"' in text and "Helix" in text
    assert text.count("deploy on Wednesdays") == 1
    assert "Helix" not in fresh.read("/ui/timeline")
