"""Cards edited in their own files: a person's word, with a place, or something to review."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.domain.note import Card, CardType, Origin, Rel, Role, Status
from kimi_memory.domain.pages import Todo
from kimi_memory.operations.doctor import verify
from kimi_memory.operations.open_questions import asking
from kimi_memory.operations.projects import projects
from kimi_memory.operations.review_queue import Answer, answer, review
from kimi_memory.store.notes.notes import Shelf
from tests.conftest import Clock
from tests.jobs.edited_pages import TEXTS, card, edit, fill, page, write
from tests.jobs.test_runner import tree

EDITS = [("editor.theme", "暗色", "亮色"), ("health.dentist", "Abernathy in Oslo", "Berg in Turku")]
PATH = "mid-term/projects/atlas.md"
FIRST = (
    "We still need to move the nightly export to the new bucket.",
    "We decided to use SQLite for the cache because one file is enough.",
    "迁移脚本还没写。",
)


def rewrite(memory: Memory, key: str, old: str, new: str) -> str:
    """Change the value of a card in its own file, and return the path."""
    path, value = memory.get(card(memory, key).id).path, TEXTS[key]
    head, rule, body = page(memory, path).rpartition("\n---\n")
    # The value stands above the words it rests on, which stay as they are.
    text = head + rule + body.replace(value, value.replace(old, new), 1)
    assert text != page(memory, path)
    (memory.root / path).write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def paged(memory: Memory) -> Memory:
    """A memory of cards that quote what was said."""
    fill(memory, TEXTS)
    return memory


@pytest.mark.parametrize(("key", "old", "new"), EDITS)
def test_it_is_a_persons_word_with_path_and_line(
    paged: Memory, clock, key: str, old: str, new: str
) -> None:
    clock.move(hours=2)
    path = rewrite(paged, key, old, new)
    paged.store.reconcile()
    assert [f.path for f in verify(paged) if f.check == "cards"] == [path]
    assert asking(paged)["review pages"] == 1
    left = tree(paged.root)

    report = paged.take_edits()
    now = card(paged, key)
    assert (now.confidence, now.trust, now.verified) == (1.0, Origin.HUMAN, clock())
    assert [source.rel for source in now.sources] == [Rel.CONTRADICTS, Rel.UPDATES]
    proof = [one for one in paged.trace(now.id).evidence if one.source.by_hand]
    assert [one.verified for one in proof] == [True]
    place, _, line = proof[0].turns[0].ref.rpartition(":")
    assert place == path
    assert new in (paged.root / path).read_text(encoding="utf-8")
    assert int(line) > 1
    assert new in page(paged)
    assert not [f for f in verify(paged) if f.check in ("cards", "quotes", "sessions")]
    assert not paged.take_edits().id

    paged.undo(report.id)
    assert tree(paged.root) == left
    assert asking(paged)["review pages"] == 1


@pytest.mark.parametrize(("key", "old", "new"), EDITS)
def test_one_made_while_an_agent_was_at_work_waits(
    paged: Memory, opening: Opening, key: str, old: str, new: str
) -> None:
    with (paged.root / "memory.toml").open("a", encoding="utf-8") as file:
        file.write('\n[consolidation]\nexternal_edits = "review"\n')
    with Memory.open(paged.root, opening) as memory:
        path = rewrite(memory, key, old, new)
        memory.take_edits()
        assert new in (memory.root / path).read_text(encoding="utf-8")
        assert card(memory, key).value == TEXTS[key]
        [waits] = [one for one in review(memory) if one.path == path]
        assert new in waits.text
        answer(memory, waits.id, Answer(accept=True))
        memory.take_edits()
        now = card(memory, key)
        assert now.value == TEXTS[key].replace(old, new)
        assert now.sources[-1].by_hand
        assert not memory.take_edits().id


def test_what_its_words_say_needs_no_other_proof(paged: Memory) -> None:
    path = rewrite(
        paged, "health.dentist", "My dentist is Doctor Abernathy in Oslo.", "Doctor Abernathy"
    )
    assert path
    assert not paged.take_edits().id
    assert not [f for f in verify(paged) if f.check == "cards"]


def test_without_history_it_is_named(paged: Memory, opening: Opening) -> None:
    with (paged.root / "memory.toml").open("a", encoding="utf-8") as file:
        file.write("\n[history]\ngit = false\n")
    with Memory.open(paged.root, opening) as memory:
        rewrite(memory, "health.dentist", "Oslo", "Turku")
        assert not memory.take_edits().id
        [found] = [f for f in verify(memory) if f.check == "cards"]
        assert "not known" in found.remedy


@pytest.mark.parametrize(("key", "old", "new"), EDITS)
def test_an_edited_line_has_a_source_of_its_own(
    paged: Memory, clock, key: str, old: str, new: str
) -> None:
    clock.move(hours=2)
    edit(paged, old, new)
    number = next(n for n, line in enumerate(page(paged).splitlines(), 1) if new in line)
    paged.take_edits()
    now = card(paged, key)
    assert [source.rel for source in now.sources] == [Rel.CONTRADICTS, Rel.UPDATES]
    own = list(paged.trace(now.id).evidence)[-1]
    assert (own.verified, own.turns[0].ref, own.turns[0].at) == (
        True,
        f"MEMORY.md:{number}",
        clock(),
    )
    assert own.quote == now.value


def test_a_new_line_has_one_too_and_still_waits(paged: Memory) -> None:
    with (paged.root / "MEMORY.md").open("a", encoding="utf-8") as file:
        file.write("- db.pool: twenty connections\n")
    paged.take_edits()
    now = card(paged, "db.pool")
    assert now.status is Status.CANDIDATE
    assert [(s.by_hand, s.rel) for s in now.sources] == [(True, Rel.SUPPORTS)]
    assert "twenty connections" in page(paged)
    [waits] = review(paged)
    assert [said.text for said in waits.evidence] == ["twenty connections"]
    answer(paged, waits.id, Answer(accept=True, text="thirty connections"))
    now = card(paged, "db.pool")
    assert (now.value, now.status) == ("thirty connections", Status.ACTIVE)
    assert [(s.rel, s.by_hand) for s in now.sources] == [
        (Rel.CONTRADICTS, True),
        (Rel.UPDATES, True),
    ]
    assert isinstance(now, Card)
    assert not [f for f in verify(paged) if f.check == "quotes"]
    assert paged.waiting() == []


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


def find_card(memory: Memory, words: str) -> Card:
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
    assert any(one.endswith(f"^{find_card(lived, 'SQLite').id}") for one in project.decisions)
    assert "because one file is enough" in project.decisions[0]


def test_talk_ticks_the_one_to_do_it_names(lived: Memory, clock: Clock) -> None:
    clock.move(hours=2)
    talk(lived, "t", "The nightly export is done.", "迁移脚本写完了")
    lived.consolidate("daily")
    assert find_card(lived, "nightly export").status is Status.SUPERSEDED
    [project] = projects(lived)
    assert [todo.done for todo in project.todos] == [True, True]
    assert not project.finished
    assert find_card(lived, "nightly export").id not in lived.store.read("MEMORY.md").decode()


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
    assert find_card(lived, "nightly export").status is Status.SUPERSEDED
    assert find_card(lived, "nightly export").id not in lived.store.read("MEMORY.md").decode()
    lived.consolidate("daily")
    lived.consolidate("weekly")
    [project] = projects(lived)
    assert project.todos[0].done and not project.finished


def test_a_line_that_is_taken_out_archives_its_card(lived: Memory, clock: Clock) -> None:
    for words in ("nightly export", "SQLite"):
        gone = line(lived, words)
        change(lived, lambda text, gone=gone: text.replace(f"{gone}\n", ""))
    lived.take_edits()
    assert {find_card(lived, words).status for words in ("nightly export", "SQLite")} == {
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
    found = find_card(lived, "Oslo bucket")
    assert (found.value, found.confidence) == ("move the nightly export to the Oslo bucket", 1.0)
    assert line(lived, "Oslo").endswith(f"^{found.id}")


def test_a_new_to_do_of_a_person_is_a_card_of_the_project(lived: Memory, clock: Clock) -> None:
    first = line(lived, "nightly export")
    change(lived, lambda text: text.replace(first, f"{first}\n- [ ] order the new disks"))
    lived.take_edits()
    found = find_card(lived, "order the new disks")
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
    assert find_card(memory, "alpha").status is Status.ACTIVE


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
