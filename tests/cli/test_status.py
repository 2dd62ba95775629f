"""``status`` after many files were copied in: what waits is counted, not listed to its end."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kimi_memory.api.memory import Memory
from kimi_memory.api.options import Opening
from kimi_memory.cli import run
from kimi_memory.operations.memory_state import status
from tests.opened_files import opened_files

CARD = """---
id: card-{number:026d}
kind: card
type: fact
key: port.n{number}
created: 2026-03-01T09:00:00
---

# Port {number}

The port of service {number} is {number}.
"""


def test_files_that_wait_are_named_up_to_ten(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(12):
        file = folder / f"semantic/ports/port-{number}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(CARD.format(number=number), "utf-8")
        os.utime(file, (1_700_000_000, 1_700_000_000))
    assert run(["status"]) == 0
    said = capsys.readouterr().out
    assert said.count("it was written elsewhere and copied here") == 10
    assert "… and 2 more" in said
    assert "12 for you: kimi-memory review" in said


def test_what_was_counted_once_is_not_read_again(memory: Memory, opening: Opening) -> None:
    store = memory.root / "semantic/ports"
    store.mkdir(parents=True)
    for number in range(300):  # Enough to be worth a file.
        (store / f"port-{number}.md").write_text(CARD.format(number=number), "utf-8")
    (store / "port-7.md").write_text("---\nid: card-7\nkind: card\ntype: fat\n---\n", "utf-8")
    memory.index.refresh()  # Without one, status looks itself for what can be found.
    first = status(memory)
    assert (first.notes["card"]["fact"], len(first.broken)) == (299, 1)
    with Memory.open(memory.root, opening) as other, opened_files() as names:
        second = status(other)
    assert (second.notes, second.broken, second.links) == (first.notes, first.broken, first.links)
    assert (second.bands, second.temperatures) == (first.bands, first.temperatures)
    assert not [name for name in names if "port-" in name]
