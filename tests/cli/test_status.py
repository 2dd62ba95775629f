"""``status`` after many files were copied in: what waits is counted, not listed to its end."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kimi_memory.cli import run

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
