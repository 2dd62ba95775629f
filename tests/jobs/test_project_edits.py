"""Edits of project pages: ticks, deletions, new words and new lines reach the cards."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.domain.note import Card, CardType, Role, Status
from kimi_memory.domain.pages import Todo
from kimi_memory.operations.projects import projects
from kimi_memory.store.notes.notes import Shelf
from tests.conftest import Clock
from tests.jobs.test_import_edits import page, write

PATH = "mid-term/projects/atlas.md"
FIRST = (
    "We still need to move the nightly export to the new bucket.",
    "We decided to use SQLite for the cache because one file is enough.",
    "迁移脚本还没写。",
)


def talk(memory: Memory, id: str, *texts: str) -> None:
    session = memory.session(id, project="atlas")
    for text in texts:
        session.turn(Role.USER, text)
        session.turn(Role.ASSISTANT, "ok")
    session.end()


@pytest.fixture
def lived(memory: Memory) -> Memory:
    talk(memory, "s", *FIRST)
    memory.consolidate("daily")
    return memory


def card(memory: Memory, words: str) -> Card:
    notes = (filed.note for filed in Shelf(memory.store).notes("card"))
    cards = [note for note in notes if isinstance(note, Card) and note.type is not CardType.FACT]
    [found] = [note for note in cards if words in note.value]
    return found


def change(memory: Memory, edit: Callable[[str], str]) -> None:
    write(memory, edit(page(memory, PATH)), PATH)


def line(memory: Memory, words: str) -> str:
    """Return the line of a card on the page of the project."""
    lines = page(memory, PATH).splitlines()
    [found] = [one for one in lines if words in one and "^card-" in one]
    return found


def test_talk_makes_to_dos_of_the_project(lived: Memory) -> None:
    [project] = projects(lived)
    assert [todo.text for todo in project.todos] == [
        "move the nightly export to the new bucket",
        "迁移脚本还没写",
    ]
    assert any(one.endswith(f"^{card(lived, 'SQLite').id}") for one in project.decisions)
    assert "because one file is enough" in project.decisions[0]


def test_talk_ticks_the_one_to_do_it_names(lived: Memory, clock: Clock) -> None:
    clock.move(hours=2)
    talk(lived, "t", "The nightly export is done.", "迁移脚本写完了")
    lived.consolidate("daily")
    assert card(lived, "nightly export").status is Status.SUPERSEDED
    [project] = projects(lived)
    assert [todo.done for todo in project.todos] == [True, True]
    assert not project.finished
    assert card(lived, "nightly export").id not in lived.store.read("MEMORY.md").decode()


def test_what_names_no_to_do_or_two_ticks_nothing(lived: Memory, clock: Clock) -> None:
    clock.move(hours=2)
    talk(lived, "t", "We still need to move the weekly export to S3.", "What now?")
    talk(lived, "u", "The export is done.", "The invoice is done.", "Done with it.")
    lived.consolidate("daily")
    [project] = projects(lived)
    assert [todo.done for todo in project.todos] == [False, False, False]


def test_a_tick_on_the_page_ends_the_task_and_not_the_project(lived: Memory) -> None:
    change(lived, lambda text: text.replace("- [ ] move", "- [x] move"))
    lived.take_edits()
    assert card(lived, "nightly export").status is Status.SUPERSEDED
    assert card(lived, "nightly export").id not in lived.store.read("MEMORY.md").decode()
    lived.consolidate("daily")
    lived.consolidate("weekly")
    [project] = projects(lived)
    assert project.todos[0].done and not project.finished


def test_a_line_that_is_taken_out_archives_its_card(lived: Memory, clock: Clock) -> None:
    for words in ("nightly export", "SQLite"):
        gone = line(lived, words)
        change(lived, lambda text, gone=gone: text.replace(f"{gone}\n", ""))
    lived.take_edits()
    assert {card(lived, words).status for words in ("nightly export", "SQLite")} == {
        Status.ARCHIVED
    }
    clock.move(hours=2)
    talk(lived, "t", "The rate limiter isn't tested yet.")
    lived.consolidate("daily")
    tasks = page(lived, PATH).partition("## To do")[2]
    assert "nightly export" not in tasks and "rate limiter" in tasks


def test_new_words_of_a_line_are_those_of_its_card(lived: Memory) -> None:
    change(lived, lambda text: text.replace("to the new bucket", "to the Oslo bucket"))
    lived.take_edits()
    found = card(lived, "Oslo bucket")
    assert (found.value, found.confidence) == ("move the nightly export to the Oslo bucket", 1.0)
    assert line(lived, "Oslo").endswith(f"^{found.id}")


def test_a_new_to_do_of_a_person_is_a_card_of_the_project(lived: Memory, clock: Clock) -> None:
    first = line(lived, "nightly export")
    change(lived, lambda text: text.replace(first, f"{first}\n- [ ] order the new disks"))
    lived.take_edits()
    found = card(lived, "order the new disks")
    assert (found.project, found.status, str(found.type)) == (
        "atlas", Status.ACTIVE, "task-state",
    )  # fmt: skip
    lived.consolidate("daily")
    clock.move(hours=2)
    talk(lived, "t", "ok, the new disks are done", "what now?")
    lived.consolidate("daily")
    [project] = projects(lived)
    done = [todo for todo in project.todos if "disks" in todo.text]
    assert done == [Todo("order the new disks", done=True, id=found.id)]


def test_taking_edits_twice_does_nothing_more(lived: Memory) -> None:
    change(lived, lambda text: text.replace("- [ ] move", "- [x] move"))
    assert lived.take_edits().id
    assert not lived.take_edits().id


def test_most_of_a_page_gone_is_an_accident(memory: Memory, clock: Clock) -> None:
    names = ("alpha", "beta", "gamma", "delta", "zeta", "omega", "kappa", "sigma", "theta")
    talk(memory, "s", *(f"We still need to move the {name} job to S3." for name in names))
    memory.consolidate("daily")
    kept = [one for one in page(memory, PATH).splitlines() if "- [ ]" not in one]
    write(memory, "\n".join(kept) + "\n", PATH)
    report = memory.take_edits()
    assert any("nothing was archived" in one for one in report.left_out)
    assert card(memory, "alpha").status is Status.ACTIVE


def test_people_who_talk_with_each_other_leave_no_to_dos(memory: Memory) -> None:
    session = memory.session("s", project="atlas")
    session.turn(Role.USER, FIRST[0], speaker="Ann")
    session.turn(Role.USER, "The nightly export is done.", speaker="Bob")
    session.end()
    notes = (filed.note for filed in Shelf(memory.store).notes("card"))
    assert not [note for note in notes if str(getattr(note, "type", "")) == "task-state"]


def test_without_a_history_a_page_stays_a_persons(tmp_path: Path, opening: Opening) -> None:
    with Memory.create(tmp_path / "m", opening=opening) as memory:
        marker = memory.root / "memory.toml"
        marker.write_text(marker.read_text("utf-8") + "\n[history]\ngit = false\n", "utf-8")
    with Memory.open(tmp_path / "m", opening) as memory:
        talk(memory, "s", *FIRST)
        memory.consolidate("daily")
        change(memory, lambda text: text.replace("- [ ] move", "- [x] move"))
        memory.take_edits()
        assert "- [x] move" in page(memory, PATH)
