"""Renaming a key."""

from __future__ import annotations

import pytest

from kimi_memory import Memory
from kimi_memory.domain.operation_types import Wanted
from kimi_memory.errors import NotFoundError, UsageError
from kimi_memory.jobs.rename import Rename
from kimi_memory.operations.forget import forget
from kimi_memory.store.notes.notes import Shelf


def keys(memory: Memory) -> dict[str, str]:
    return {head.text: head.key for head in Shelf(memory.store).heads()}


def test_all_that_is_known_under_a_key_goes_on_under_another(memory: Memory) -> None:
    memory.remember("部署端口是 8080。", key="deploy.port")
    memory.remember("The office is in Leeds.", key="office.city")
    report = memory.run(Rename(memory, "deploy.port", "部署.端口"))
    assert keys(memory) == {
        "部署端口是 8080。": "部署.端口",
        "The office is in Leeds.": "office.city",
    }
    [card] = Shelf(memory.store).cards("部署.端口")
    assert "aliases:\n  - 部署.端口\n" in memory.get(card.id).text
    assert "端口是 8080" in memory.store.text("semantic/general.md")
    memory.undo(report.id)
    assert keys(memory)["部署端口是 8080。"] == "deploy.port"


def test_what_was_forgotten_stays_forgotten_under_the_new_key(memory: Memory) -> None:
    memory.remember("My dentist is Doctor Abernathy.", key="health.dentist")
    forget(memory, Wanted(key="health.dentist"))
    memory.remember("My dentist is Doctor Berg.", key="health.dentist")
    memory.run(Rename(memory, "health.dentist", "teeth"))
    memory.remember("My dentist is Doctor Abernathy.", key="teeth")
    live = [c.value for c in Shelf(memory.store).cards("teeth") if c.status == "active"]
    assert live == ["My dentist is Doctor Berg."]


@pytest.mark.parametrize("new", ["", "two words", ".hidden", "a" * 300, "a\nb", "甲 乙"])
def test_what_is_no_key_is_refused(memory: Memory, new: str) -> None:
    with pytest.raises(UsageError, match="cannot be a key"):
        Rename(memory, "a.b", new)


def test_a_key_that_is_taken_the_same_or_unknown_is_refused(memory: Memory) -> None:
    memory.remember("One.", key="a.one")
    memory.remember("Two.", key="a.two")
    with pytest.raises(UsageError, match=r"a\.two is the key of card-"):
        memory.run(Rename(memory, "a.one", "a.two"))
    with pytest.raises(UsageError, match="already"):
        Rename(memory, "a.one", "a.one")
    with pytest.raises(NotFoundError):
        memory.run(Rename(memory, "nobody", "somebody"))
