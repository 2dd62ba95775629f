"""Notes of an agent: what a person forgot does not come back in them."""

from __future__ import annotations

import pytest

from kimi_memory import Memory
from kimi_memory.domain.operation_types import Wanted
from kimi_memory.errors import UsageError
from kimi_memory.operations.agent_files import Folder
from kimi_memory.operations.forget import forget

SAID = {
    "en": (
        "My dentist is Doctor Abernathy in Oslo.",
        "Remember this. {} It matters.",
        "Tea is fine.",
    ),
    "zh": ("我的牙医是奥斯陆的阿伯纳西医生。", "记住。{}很重要。", "茶也可以。"),
}


@pytest.fixture(params=SAID)
def lang(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


def test_what_was_forgotten_is_refused_in_every_way_of_writing(memory: Memory, lang: str) -> None:
    said, around, harmless = SAID[lang]
    notes = Folder(memory, "helper", "notes")
    notes.apply([notes.made("old.md", around.format(said)), notes.made("tea.md", harmless)])
    memory.remember(said, key="health.dentist")
    report = forget(memory, Wanted(key="health.dentist"))
    [line] = [line for line in report.left_out if "agents" in line]
    assert line.startswith("mid-term/agents/helper/notes/old.md: ")
    for text in (said, said.upper(), around.format(said), f'{{"value": "{said}"}}'):
        with pytest.raises(UsageError, match="forgotten on purpose"):
            notes.made("new.md", text)
        with pytest.raises(UsageError, match="forgotten on purpose"):
            notes.changed(notes.read("tea.md"), text)
    notes.apply([notes.changed(notes.read("old.md"), harmless)])
    assert notes.read("old.md").body == harmless
    hits = memory.recall(said).hits
    assert not [hit for hit in hits if said.casefold() in hit.unit.text.casefold()]


def test_undoing_the_forgetting_allows_it_again(memory: Memory, lang: str) -> None:
    said = SAID[lang][0]
    notes = Folder(memory, "helper", "notes")
    memory.remember(said, key="health.dentist")
    memory.undo(forget(memory, Wanted(key="health.dentist")).id)
    notes.apply([notes.made("new.md", said)])
    assert notes.read("new.md").body == said
