"""Labels of fields: the contract names each."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from kimi_memory.domain.note import (
    Card,
    Lang,
    Note,
)
from kimi_memory.domain.pages import Event
from kimi_memory.formats.labels import label


@pytest.mark.parametrize(("kind", "heading"), [(Card, "Cards"), (Event, "Events")])
def test_the_contract_names_every_field(kind: type[Note], heading: str) -> None:
    page = (Path(__file__).parents[2] / "docs/file-format.md").read_text(encoding="utf-8")
    section = page.split(f"### {heading}\n")[1].split("\n### ")[0]
    own = {field.name for field in fields(kind)} - {field.name for field in fields(Note)}
    words = {n: [label(n, lang) for lang in Lang] for n in (*kind.body_fields, "quotes")}
    words |= {"title": ["title"]}
    missing = [n for n in own if not all(w in section for w in words.get(n, [f"`{n}`"]))]
    assert not missing, f"{heading} in docs/file-format.md: {', '.join(missing)}"
