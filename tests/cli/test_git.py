"""The program that git runs to merge a generated page."""

from __future__ import annotations

from pathlib import Path

import pytest

from kimi_memory import Memory
from kimi_memory.cli import run
from tests.jobs.edited_pages import TEXTS, fill


@pytest.mark.parametrize(
    ("edited", "code", "kept"),
    [("", 0, "ours"), ("theirs", 0, "theirs"), ("ours", 0, "ours"), ("ours theirs", 1, "ours")],
)
def test_a_page_that_a_person_edited_is_kept(
    memory: Memory, tmp_path: Path, edited: str, code: int, kept: str
) -> None:
    fill(memory, TEXTS)
    page = (memory.root / "MEMORY.md").read_text(encoding="utf-8")
    places = [tmp_path / name for name in ("base", "ours", "theirs")]
    texts = {p.name: page.replace("Oslo", p.name) if p.name in edited else page for p in places}
    for place in places:
        place.write_text(texts[place.name], encoding="utf-8")
    assert run(["git", "merge-file", *map(str, places), "MEMORY.md"]) == code
    assert (tmp_path / "ours").read_text(encoding="utf-8") == texts[kept]
