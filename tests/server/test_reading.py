"""Reading over HTTP: what is hidden answers like what is not there."""

from __future__ import annotations

import pytest

from kimi_memory import Memory
from kimi_memory.errors import NotFoundError
from kimi_memory.server.principal import Caller, Namespace, Scope
from kimi_memory.server.reading import text_of
from tests.jobs.notes import card, put


def test_a_hidden_note_answers_like_one_that_is_not_there(memory: Memory) -> None:
    put(memory, card("aa1", "Hermes ships on Friday.", project="hermes"))
    put(memory, card("ab1", "Apollo ships on Monday.", project="apollo"))
    (memory.root / "semantic/general/broken.md").write_text("---\nproject: hermes\n", "utf-8")
    bound = Caller("b", frozenset({Scope.READ}), Namespace("apollo"))
    hidden = ("card-aa1", "card-a" + "a", "semantic/general/k.aa1.md", "semantic/general/broken.md")
    for what in (*hidden, "card-zz", "semantic/general/k.zz.md"):
        with pytest.raises(NotFoundError) as told:
            text_of(memory, bound, what)
        assert str(told.value) == str(NotFoundError("note or file", what))
    for what in ("card-ab1", "card-ab", "card-a"):
        assert text_of(memory, bound, what)[0] == "semantic/general/k.ab1.md"


@pytest.mark.parametrize("path", [".kimi/lost+found/a.md", ".kimi/undo/session_a.jsonl"])
def test_what_a_machine_keeps_for_itself_is_not_read_from_outside(
    memory: Memory, path: str
) -> None:
    place = memory.root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("set aside\n", encoding="utf-8")
    with pytest.raises(NotFoundError):
        text_of(memory, Caller("all", frozenset({Scope.READ})), path)
