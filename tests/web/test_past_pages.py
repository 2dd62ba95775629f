"""Pages of the past: the states of a note, the origin of each line, receipts."""

from __future__ import annotations

import re

from fakes.pages import Pages, Reader

from kimi_memory.domain.job import Actor


def test_a_note_shows_every_state_it_had(fresh: Pages) -> None:
    note = re.search(r"/ui/note/(card-\w+)", fresh.read("/ui/held?q=6543"))
    assert note
    before = " ".join(Reader(fresh.read(f"/ui/note/{note[1]}/history")).said.split())
    assert "It says so since" in before
    assert "learned" in before
    done = fresh.post(f"/ui/note/{note[1]}", {"value": "The staging port is 7000.", "sure": "1"})
    assert done.status_code == 303
    after = Reader(fresh.read(f"/ui/note/{note[1]}/history"))
    assert "was so" in after.said
    assert "s" in [tag for tag, _ in after.tags]
    assert [link for link in after.links() if link.startswith("/ui/jobs/correct-")]


def test_each_line_of_a_page_leads_to_its_turn_and_its_job(pages: Pages) -> None:
    read = Reader(pages.read("/ui/blame?path=MEMORY.md"))
    assert "SQLite" in read.said
    links = read.links()
    assert [link for link in links if link.startswith("/ui/sessions/talk-2")]
    assert [link for link in links if link.startswith("/ui/jobs/")]
    pages.read("/ui/")
    assert pages.get("/ui/blame").status_code == 400
    assert pages.get("/ui/blame?path=../../etc/passwd").status_code == 404


def test_receipts_show_what_was_destroyed_and_what_agents_got(fresh: Pages) -> None:
    empty = fresh.read("/ui/receipts")
    assert "Nothing was destroyed" in empty
    assert "No agent was shown anything" in empty
    fresh.desk.memory.actor = Actor("mcp:claude")
    fresh.desk.memory.recall("staging port")
    assert fresh.post("/ui/purge", {"text": "6543", "word": "DESTROY"}).status_code == 200
    shown = Reader(fresh.read("/ui/receipts"))
    assert "purge-" in shown.said
    assert "6543" not in shown.said
    assert "mcp:claude" in shown.said


def test_a_correction_of_what_has_changed_is_shown_beside_it(fresh: Pages) -> None:
    note = re.search(r"/ui/note/(card-\w+)", fresh.read("/ui/held?q=6543"))
    assert note
    was = re.search(r'name="was" value="(\w+)"', fresh.read(f"/ui/note/{note[1]}"))
    assert was
    path = next((fresh.root / "semantic").rglob("staging.port*.md"))
    path.write_text(path.read_text("utf-8").replace("6543", "6544"), "utf-8")
    form = {"value": "The staging port is 7000.", "was": was[1], "sure": "1"}
    shown = fresh.post(f"/ui/note/{note[1]}", form)
    assert shown.status_code == 200
    assert "It was changed after you had opened it" in shown.text
    assert "6544" in shown.text
    assert "7000" in shown.text
    assert "7000" not in path.read_text("utf-8")
