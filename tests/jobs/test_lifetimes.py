"""How long notes hold: events end with their card, and cards are kept as long as [ttl] says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.config import parse_settings
from kimi_memory.domain.agent_run import AgentRun
from kimi_memory.domain.ids import new_id
from kimi_memory.domain.job import JobReport, Op, Step
from kimi_memory.domain.note import Card, Role, Status
from kimi_memory.domain.pages import Event
from kimi_memory.domain.search_types import Query
from kimi_memory.errors import FormatError
from kimi_memory.jobs.correct import Correct
from kimi_memory.jobs.lifetimes import with_ended_events
from kimi_memory.operations.expired import purge_expired
from kimi_memory.operations.forget import purge
from kimi_memory.runs.run_records import count_skills
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


@pytest.mark.parametrize("by", ["key", "name", "neither"])
def test_what_replaces_a_card_has_its_key_or_names_it(memory: Memory, by: str) -> None:
    talk(memory, "a", OLD)
    old = card(memory, "decision.database")
    [event] = [filed.note for filed in Shelf(memory.store).notes(Event.kind)]
    assert isinstance(event, Event)
    new = replace(
        old,
        id=new_id("card", old.created),
        key=old.key if by == "key" else "decision.store",
        supersedes=(old.id,) if by == "name" else (),
        quotes=(),
    )
    steps = (
        Step(Op.SUPERSEDE, replace(old, status=Status.SUPERSEDED), "replaced"),
        Step(Op.ADD, new, "said"),
    )
    ended = {event.id} if by != "neither" else set()
    found = with_ended_events(steps, Shelf(memory.store))
    assert {step.note.id for step in found[2:]} == ended
    # An event that the same plan makes ends with it as well; one that it ends is let be.
    for status, over in ((Status.ACTIVE, ended), (Status.ARCHIVED, set())):
        made = Step(Op.ADD, replace(event, status=status), "said")
        found = with_ended_events((*steps, made), Shelf(memory.store))
        assert {step.note.id for step in found[3:]} == over


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


START = datetime(2026, 2, 2, 9, tzinfo=UTC)
Open = Callable[..., Memory]


@pytest.fixture
def opened(tmp_path: Path, clock: Clock) -> Open:
    """Opens one memory, with the lines of [ttl] that are given."""
    clock.set(START)

    def open_memory(*lines: str) -> Memory:
        home = Home(tmp_path / "config", tmp_path / "state")
        opening = Opening(home=home, background=False, clock=clock)
        folder = tmp_path / "memory"
        if not folder.exists():
            Memory.create(folder, opening=opening).close()
        text = (folder / "memory.toml").read_text("utf-8").partition("[ttl]")[0]
        (folder / "memory.toml").write_text("\n".join([text, "[ttl]", *lines, ""]), "utf-8")
        return Memory.open(folder, opening)

    return open_memory


def card_of(memory: Memory, key: str) -> Card:
    [card] = Shelf(memory.store).cards(key)
    return card


def test_a_card_says_until_when_it_is_kept_and_is_gone_after_that(
    opened: Open, clock: Clock
) -> None:
    with opened('knowledge = "30d"', 'preference = "2w"') as memory:
        memory.remember("The mast is 21 m high.", key="mast.height", type="fact")
        memory.remember("I prefer tea in the morning.", key="tea", type="preference")
        assert card_of(memory, "mast.height").expires == START + timedelta(days=30)
        assert card_of(memory, "tea").expires == START + timedelta(weeks=2)
        clock.now += timedelta(days=29)
        assert memory.recall("mast high").hits
        clock.now += timedelta(days=2)
        shown = [hit for hit in memory.recall("mast high").hits if hit.unit.kind == "card"]
        assert not shown
        memory.consolidate("daily")
        assert card_of(memory, "mast.height").status == "archived"


def test_said_again_it_is_kept_longer_and_a_persons_word_stays(opened: Open, clock: Clock) -> None:
    with opened('knowledge = "30d"') as memory:
        memory.remember("The mast is 21 m high.", key="mast.height", type="fact")
        clock.now += timedelta(days=20)
        memory.remember("The mast is 21 m high.", key="mast.height", type="fact")
        assert card_of(memory, "mast.height").expires == clock.now + timedelta(days=30)
        [path] = (memory.root / "semantic").rglob("mast.height*.md")
        text = path.read_text("utf-8")
        line = next(one for one in text.splitlines() if one.startswith("expires:"))
        path.write_text(text.replace(line, "expires: 2027-01-01T00:00:00Z"), "utf-8")
        memory.store.reconcile()
        clock.now += timedelta(days=5)
        memory.remember("The mast is 21 m high.", key="mast.height", type="fact")
        assert card_of(memory, "mast.height").expires == datetime(2027, 1, 1, tzinfo=UTC)


def test_without_a_setting_nothing_expires(opened: Open) -> None:
    with opened() as memory:
        memory.remember("The mast is 21 m high.", key="mast.height", type="fact")
        assert card_of(memory, "mast.height").expires is None


def test_old_turns_are_found_by_their_time_alone(opened: Open, clock: Clock) -> None:
    with opened('conversation = "90d"') as memory:
        memory.session("s").turn("user", "Zephyr walked the dog along the canal.")
        assert memory.recall("Zephyr canal").hits
        clock.now += timedelta(days=91)
        assert not memory.recall("Zephyr canal").hits
        assert memory.recall("since:2026-02-01 Zephyr canal").hits
    with opened() as memory:
        assert memory.recall("Zephyr canal").hits


@pytest.mark.parametrize("value", ["soon", "90", "0d", "-3d", ""])
def test_what_is_no_time_is_named_with_its_line(value: str) -> None:
    with pytest.raises(FormatError, match="Write never, or days such as 90d") as raised:
        parse_settings(f'[ttl]\nconversation = "{value}"\n')
    assert raised.value.line == 2


def test_runs_count_for_a_skill_for_some_time() -> None:
    old, new = (
        AgentRun(f"run-{day}", "m", "t", skills=("python",), outcome="done", stopped=day)
        for day in ("2025-01-05T10:00:00Z", "2026-01-05T10:00:00Z")
    )
    assert count_skills([old, new])[0].runs == 2
    assert count_skills([old, new], "2025-02-02")[0].runs == 1


def test_an_old_task_of_an_open_session_is_shown_no_more(opened: Open, clock: Clock) -> None:
    with opened() as memory:
        handle = memory.session("s")
        handle.turn("user", "Zephyr walked the dog along the canal.")
        handle.state(task={"goal": "paint the boat"}, variables={"colour": "blue"})
        clock.now += timedelta(days=6)
        assert "paint the boat" in memory.context("live").text
        clock.now += timedelta(days=2)
        block = memory.context("live").text
        assert "paint the boat" not in block and "blue" not in block
        assert "the canal" in block
    with opened('context = "never"') as memory:
        assert "paint the boat" in memory.context("live").text


def test_something_to_do_expires_only_where_that_is_said(opened: Open, clock: Clock) -> None:
    with opened('context = "1d"') as memory:
        memory.remember("The boat has to be painted.", key="boat", type="task-state")
        assert card_of(memory, "boat").expires is None
    with opened('todos = "30d"') as memory:
        memory.remember("The mast has to be oiled.", key="mast", type="task-state")
        assert card_of(memory, "mast").expires == START + timedelta(days=30)


def run_daily(memory: Memory) -> list[JobReport]:
    memory.consolidate("daily")
    return purge_expired(memory, lambda memory, doomed: purge(memory, doomed, yes=True))


def find_words(memory: Memory, words: str) -> list[Path]:
    files = (path for path in memory.root.rglob("*") if path.is_file())
    return [path for path in files if words.encode() in path.read_bytes()]


def test_what_expired_is_destroyed_a_day_later_where_that_is_wanted(
    opened: Open, clock: Clock
) -> None:
    said, kept = "The guests sleep in the yellow room upstairs.", "The mast is 21 m high."
    with opened('knowledge = "3d"', "purge_on_expiry = true") as memory:
        memory.remember(said, key="guests.room", type="fact")
        clock.now += timedelta(days=2)
        memory.remember(kept, key="mast.height", type="fact")
        clock.now += timedelta(days=2)
        assert not run_daily(memory) and find_words(memory, said)
        clock.now += timedelta(days=1)
        [report] = run_daily(memory)
        assert report.id and not report.failed
        assert not find_words(memory, "yellow room") and find_words(memory, kept)
        assert not memory.recall("yellow room upstairs").hits
        # Its own end comes later; nothing is destroyed twice.
        assert not run_daily(memory)


def test_words_that_another_card_rests_on_stay(opened: Open, clock: Clock) -> None:
    said = "The guests sleep in the yellow room upstairs."
    with opened('knowledge = "3d"', "purge_on_expiry = true") as memory:
        memory.remember(said, key="guests.room", type="fact")
        [path] = (memory.root / "semantic").rglob("guests.room*.md")
        lines = path.read_text("utf-8").replace("guests.room", "guests.habit").splitlines()
        other = [one for one in lines if not one.startswith(("expires:", "id:"))]
        other.insert(1, "id: card-01m8hp0r51fmveej58ry9tq3qk")
        (path.parent / "guests.habit.md").write_text("\n".join([*other, ""]), "utf-8")
        memory.store.reconcile()
        clock.now += timedelta(days=4)
        run_daily(memory)
        clock.now += timedelta(days=2)
        run_daily(memory)
        assert find_words(memory, said)
        assert card_of(memory, "guests.habit").status == "active"


def test_nothing_is_destroyed_unless_that_is_said(opened: Open, clock: Clock) -> None:
    with opened('knowledge = "3d"') as memory:
        memory.remember("They sleep in the yellow room.", key="guests.room", type="fact")
        for _ in range(2):
            clock.now += timedelta(days=4)
            assert not run_daily(memory)
        assert find_words(memory, "yellow room")
