"""Views of open sessions: what becomes of a turn whose view cannot be written."""

from __future__ import annotations

from kimi_memory import Memory
from kimi_memory.capture.views import Views
from kimi_memory.domain.note import Role
from kimi_memory.store.notes import sessions

VIEW = "short-term/session_s.json"


def test_a_turn_whose_view_cannot_be_written_is_answered_as_stored(memory: Memory) -> None:
    (memory.root / VIEW).mkdir(parents=True)
    turn = memory.session("s").turn(Role.USER, "We decided to use SQLite as the database.")
    assert turn is not None
    [stored] = sessions.read(memory.store, "short-term/session_s.jsonl").turns
    assert stored.text == turn.text


def test_a_view_that_cannot_be_written_later_holds_up_no_other(memory: Memory) -> None:
    (memory.root / VIEW).mkdir(parents=True)
    views = Views(memory.store, pause_seconds=60)
    views.show(VIEW, lambda: b"{}")
    views.show("short-term/session_t.json", lambda: b"{}")
    views.close()
    assert memory.store.read("short-term/session_t.json") == b"{}"
