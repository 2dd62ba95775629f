"""Marks of a merge: a file with them is neither used nor rewritten until a person settles it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.domain.note import Role
from kimi_memory.errors import WaitingError
from kimi_memory.operations.doctor import doctor, verify
from kimi_memory.operations.memory_state import status
from kimi_memory.store.notes import sessions
from kimi_memory.store.notes.notes import Shelf
from kimi_memory.store.reading import Companions
from tests.test_copies import git

DENTIST = "My dentist is Doctor Abernathy in Oslo."


@pytest.fixture
def lived(memory: Memory, clock) -> Memory:
    clock.set(datetime.now(UTC) - timedelta(days=2))
    memory.remember(DENTIST, key="health.dentist")
    memory.session("talk", host="claude").turn(Role.USER, "The kiln is fired on Mondays.")
    memory.batch.flush()
    clock.move(days=2)
    return memory


def path_of(memory: Memory, key: str) -> str:
    return next(e.path for e in Shelf(memory.store).entries().values() if e.key == key)


def torn(text: str, old: str, new: str) -> str:
    line = next(line for line in text.splitlines() if old in line)
    both = f"<<<<<<< HEAD\n{line}\n=======\n{line.replace(old, new)}\n>>>>>>> theirs"
    return text.replace(line, both, 1)


def texts(memory: Memory, question: str) -> str:
    return "\n".join(hit.unit.text for hit in memory.recall(question).hits)


def test_the_last_committed_version_of_a_card_is_served(lived: Memory, clock) -> None:
    path = path_of(lived, "health.dentist")
    place, whole = lived.root / path, lived.store.read(path).decode()
    marked = torn(whole, "Abernathy", "Berg")
    place.write_text(marked, encoding="utf-8")
    assert "Abernathy" in texts(lived, "my dentist")
    assert "Berg" not in texts(lived, "my dentist")
    assert "Abernathy" in lived.context("start").text
    assert "<<<<" not in lived.context("task", "who is my dentist").text
    report = lived.remember(DENTIST, key="health.dentist")
    assert any(path in line for line in report.left_out)
    for period in ("daily", "weekly"):
        clock.move(days=1)
        lived.consolidate(period)
    assert place.read_text(encoding="utf-8") == marked
    for findings in (verify(lived), doctor(lived)):
        [found] = [one for one in findings if one.check == "merge"]
        assert found.path == path
        assert "line" in found.message
        assert "doctor --fix" in found.remedy
    assert any(path in line for line in status(lived).merging)
    place.write_text(whole.replace("Abernathy", "Berg"), encoding="utf-8")
    assert "Berg" in texts(lived, "my dentist")
    assert not [one for one in verify(lived) if one.check == "merge"]
    assert not status(lived).merging


def test_a_version_with_marks_that_was_committed_is_passed_by(lived: Memory) -> None:
    path = path_of(lived, "health.dentist")
    text = lived.store.read(path).decode()
    (lived.root / path).write_text(torn(text, "Abernathy", "Berg"), encoding="utf-8")
    git(lived.root, "commit", "-qam", "Oops")
    assert "Abernathy" in texts(lived, "my dentist")
    assert "Berg" not in texts(lived, "my dentist")


def test_a_real_merge_takes_nothing_from_the_agent(lived: Memory) -> None:
    path = path_of(lived, "health.dentist")
    place, text = lived.root / path, lived.store.read(path).decode()
    git(lived.root, "checkout", "-qb", "aside")
    place.write_text(text.replace("Abernathy", "Berg"), encoding="utf-8")
    git(lived.root, "commit", "-qam", "Berg")
    git(lived.root, "checkout", "-q", "main")
    place.write_text(text.replace("Abernathy", "Carr"), encoding="utf-8")
    git(lived.root, "commit", "-qam", "Carr")
    assert "Carr" in texts(lived, "my dentist")
    git(lived.root, "merge", "-q", "aside", check=False)
    assert "<<<<<<<" in place.read_text(encoding="utf-8")
    assert "Carr" in texts(lived, "my dentist")
    assert "Berg" not in texts(lived, "my dentist")
    place.write_text(text.replace("Abernathy", "Dahl"), encoding="utf-8")
    assert "Dahl" in texts(lived, "my dentist")
    git(lived.root, "commit", "-qam", "Settled")
    lived.store.reconcile()
    lived.store.folder_scan.drop()
    [card] = [hit.unit for hit in lived.recall("dentist Dahl").hits if hit.unit.kind == "card"]
    assert (card.trust, card.status) == ("human", "active")


@pytest.mark.parametrize("page", ["long-term/IDENTITY.md", "USER.md"])
def test_pages_that_everybody_reads_are_served_whole(lived: Memory, page: str) -> None:
    place = lived.root / page
    whole = place.read_text(encoding="utf-8") + "\nI keep bees.\n"
    place.write_text(whole, encoding="utf-8")
    lived.store.reconcile()
    lived.batch.note()
    lived.batch.flush()
    marked = torn(whole, "bees", "wasps")
    place.write_text(marked, encoding="utf-8")
    assert "wasps" not in lived.context("start", budget=9000).text
    assert "wasps" not in texts(lived, "which wasps do I keep")
    assert "bees" in texts(lived, "which bees do I keep")
    lived.consolidate("weekly")
    assert place.read_text(encoding="utf-8") == marked


def test_a_session_goes_on_beside_a_torn_file(lived: Memory) -> None:
    path = sessions.find(lived.store, "talk").path
    place = lived.root / path
    marked = torn(place.read_text(encoding="utf-8"), "Mondays", "Fridays")
    place.write_text(marked, encoding="utf-8")
    assert "Mondays" in texts(lived, "when is the kiln fired")
    assert "Fridays" not in texts(lived, "when is the kiln fired")
    handle = lived.session("talk", host="claude")
    handle.turn(Role.USER, "The glaze is mixed on Tuesdays.")
    assert handle.id == "talk.2"
    assert "Tuesdays" in texts(lived, "when is the glaze mixed")
    with pytest.raises(WaitingError, match="marks"):
        lived.distil("talk")
    assert place.read_text(encoding="utf-8") == marked


def test_without_history_it_is_not_read_and_said(tmp_path: Path, opening: Opening, clock) -> None:
    clock.set(datetime.now(UTC))
    Memory.create(tmp_path / "m", opening=opening).close()
    with (tmp_path / "m" / "memory.toml").open("a", encoding="utf-8") as settings:
        settings.write("\n[history]\ngit = false\n")
    with Memory.open(tmp_path / "m", opening) as memory:
        memory.remember(DENTIST, key="health.dentist")
        path = path_of(memory, "health.dentist")
        place = memory.root / path
        place.write_text(torn(place.read_text("utf-8"), "Abernathy", "Berg"), encoding="utf-8")
        said = [
            hit.unit.text for hit in memory.recall("my dentist").hits if hit.unit.kind != "turn"
        ]
        assert "Berg" not in str(said)
        assert path in str(status(memory).merging)
        assert path not in {entry.path for entry in Shelf(memory.store).entries().values()}


class _Listing:
    """Something that is read once."""


class _Other:
    """Something else."""


def test_all_who_ask_get_the_same_and_it_is_made_once() -> None:
    companions, made = Companions(), list[_Listing]()

    def make() -> _Listing:
        made.append(_Listing())
        return made[-1]

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: companions.find(_Listing, make), range(64)))
    assert len(made) == 1 and all(one is made[0] for one in found)


def test_each_class_and_each_store_has_its_own() -> None:
    one, two = Companions(), Companions()
    assert isinstance(one.find(_Other, _Other), _Other)
    assert one.find(_Listing, _Listing) is not two.find(_Listing, _Listing)
