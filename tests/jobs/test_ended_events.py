"""The event of a replaced card says in its file, on its page and in a block that it is over."""

from __future__ import annotations

from kimi_memory import Memory
from kimi_memory.domain.ids import new_id
from kimi_memory.domain.job import JobReport
from kimi_memory.domain.note import Role, Status
from kimi_memory.domain.pages import Event
from kimi_memory.domain.search_types import Query
from kimi_memory.jobs.correct import Correct
from kimi_memory.store.notes.notes import Shelf
from tests.conftest import Clock
from tests.jobs.edited_pages import card

OLD = "Let's use Postgres for the database, because the club already pays for a hosted one."
NEW = (
    "I changed my mind about the database: we switch from Postgres to SQLite, because one file is"
    " easy to back up and nobody has to pay for it."
)
OTHER = "We decided to host the site in Falkenstein, because it costs four euros a month."


def talk(memory: Memory, id: str, *said: str) -> None:
    session = memory.session(id)
    for text in said:
        session.turn(Role.USER, text)
        session.turn(Role.ASSISTANT, "Noted.")
    session.end()


def events(memory: Memory) -> dict[str, Status]:
    notes = (filed.note for filed in Shelf(memory.store).notes(Event.kind))
    return {note.content: note.status for note in notes if isinstance(note, Event)}


def correct(memory: Memory, value: str) -> JobReport:
    return memory.run(Correct(memory, card(memory, "decision.database").id, value))


def status_of(memory: Memory, words: str) -> Status:
    [found] = [status for text, status in events(memory).items() if words in text]
    return found


def test_the_event_of_a_replaced_decision_is_superseded(memory: Memory, clock: Clock) -> None:
    talk(memory, "a", OLD, OTHER)
    assert status_of(memory, "Postgres for the database") is Status.ACTIVE
    clock.move(days=1)
    talk(memory, "b", NEW)
    assert status_of(memory, "Postgres for the database") is Status.SUPERSEDED
    assert status_of(memory, "Falkenstein") is Status.ACTIVE
    assert status_of(memory, "switch from Postgres") is Status.ACTIVE


def test_it_is_still_found_and_says_so(memory: Memory, clock: Clock) -> None:
    talk(memory, "a", OLD)
    clock.move(days=1)
    talk(memory, "b", NEW)
    hits = memory.recall(Query(text="hosted Postgres database of the club", kind=("event",))).hits
    assert any("already pays" in hit.unit.text for hit in hits)
    lines = memory.context("task", "which database does the club pay for?").text.splitlines()
    told = [line for line in lines if "already pays" in line and "episodic/2" in line]
    assert all("replaced" in line for line in told)


def test_the_page_of_its_day_says_so(memory: Memory, clock: Clock) -> None:
    talk(memory, "a", OLD)
    memory.consolidate("daily")
    clock.move(days=1)
    talk(memory, "b", NEW)
    memory.consolidate("daily")
    pages = memory.root.glob("episodic/daily/*.md")
    lines = [line for page in pages for line in page.read_text("utf-8").splitlines()]
    [line] = [line for line in lines if "already pays" in line and "^event-" in line]
    assert "(replaced since)" in line


def test_a_correction_ends_the_event_too(memory: Memory) -> None:
    talk(memory, "a", OLD)
    correct(memory, "The club uses SQLite.")
    assert status_of(memory, "Postgres for the database") is Status.SUPERSEDED


def test_an_undone_job_brings_the_event_back(memory: Memory) -> None:
    talk(memory, "a", OLD)
    report = correct(memory, "The club uses SQLite.")
    memory.undo(report.id)
    assert status_of(memory, "Postgres for the database") is Status.ACTIVE


def test_a_file_with_a_turn_of_a_number_too_long_stops_no_job(memory: Memory, clock: Clock) -> None:
    talk(memory, "a", OLD, OTHER)
    texts = (page.read_text("utf-8") for page in memory.root.glob("episodic/*.md"))
    event = next(text for text in texts if "kind: event" in text)
    id = event.partition("id: ")[2].partition("\n")[0]
    strange = event.replace(id, new_id("event", clock())).replace(
        "session:a#", f"session:a#{'1' * 5000}"
    )
    (memory.root / "episodic" / "20260101_strange.md").write_text(strange, encoding="utf-8")
    clock.move(days=1)
    talk(memory, "b", NEW)
    assert status_of(memory, "Postgres for the database") is Status.SUPERSEDED
