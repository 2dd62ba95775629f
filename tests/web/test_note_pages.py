"""Pages of one thing: a note in its proof, what it replaced, sessions turn by turn."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from fakes.pages import Pages, Reader


def test_a_card_shows_its_words_in_their_turn_and_what_it_replaced(pages: Pages) -> None:
    listed = pages.read("/ui/held?project=%E5%B0%8F%E7%81%B6&q=SQLite")
    [to] = {link for link in Reader(listed).links() if link.startswith("/ui/note/card-")}
    text = pages.read(to)
    said = " ".join(Reader(text).said.split())
    assert "✓ The words stand there, unchanged" in said
    assert re.search(r"Whose word ?林夏 · a person.s word", said)
    assert "<mark>" in text
    assert "What was so under this key" in said
    assert "<s>" in text
    turn = next(link for link in Reader(text).links() if link.startswith("/ui/sessions/"))
    assert 'id="t1"' in pages.read(turn.partition("#")[0])


def test_a_session_is_searched_and_shown_page_by_page(pages: Pages) -> None:
    assert "talk-2" in pages.read("/ui/sessions")
    assert "1 found" in " ".join(Reader(pages.read("/ui/sessions/talk?q=我来装")).said.split())
    assert "Nothing here" in pages.read("/ui/sessions/talk?from=500")
    assert pages.get("/ui/sessions/tal").status_code == 404


def test_a_session_shows_what_came_of_each_turn(pages: Pages) -> None:
    text = pages.read("/ui/sessions/talk")
    said = " ".join(Reader(text).said.split())
    assert "came of it: 2" in said
    assert "⟶ decision" in said
    assert "⟶ event: decision" in said
    assert {"card", "event"} == {
        link.removeprefix("/ui/note/").partition("-")[0]
        for link in Reader(text).links() if "/note/" in link
    }  # fmt: skip
    only = pages.read("/ui/sessions/talk?led=1")
    assert only.count('id="t') == 1 and 'id="t1"' in only
    assert 'href="/ui/sessions/talk"' in only


def test_sessions_stand_in_the_order_in_which_they_began(fresh: Pages) -> None:
    for id, day in (("a-later", 5), ("z-sooner", 4)):
        with fresh.desk.memory.session(id) as session:
            session.turn("user", "Hello.", at=datetime(2020, 5, day, tzinfo=UTC))
    found = [link for link in Reader(fresh.read("/ui/sessions")).links() if "/sessions/" in link]
    assert [link.rpartition("/")[2] for link in found][-2:] == ["a-later", "z-sooner"]


def test_only_pages_of_the_memory_are_read(pages: Pages) -> None:
    assert "Pages" in pages.read("/ui/file?path=MEMORY.md")
    for path in (
        "memory.toml",
        "../secret.md",
        "/etc/passwd",
        ".git/config",
        "short-term/recalls.jsonl",
    ):
        assert pages.get(f"/ui/file?path={path}").status_code in (400, 404), path
