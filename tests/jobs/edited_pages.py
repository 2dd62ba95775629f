"""Pages with the lines of cards, and edits of them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from kimi_memory import Memory
from kimi_memory.domain.note import Card, Role
from kimi_memory.store.notes.notes import Shelf

ZH, EN = "我的编辑器配色一直用 Solarized 暗色。", "My dentist is Doctor Abernathy in Oslo."


TEXTS = {
    "editor.theme": ZH,
    "health.dentist": EN,
    "trip.train": "The night train to Bergen leaves at eleven.",
    "码头.钥匙": "码头的备用钥匙放在红色的盒子里。",
}


def fill(memory: Memory, texts: Mapping[str, str]) -> None:
    """Remember some texts by key, on a day of which the daily job makes pages."""
    for key, text in texts.items():
        memory.remember(text, key=key)
    memory.session("day").turn(Role.USER, "今天天气不错，我们随便聊聊。")
    memory.mark_ended("day")
    memory.distil("day")
    memory.consolidate("daily")


def cards(memory: Memory) -> list[Card]:
    found = (filed.note for filed in Shelf(memory.store).notes("card"))
    return [note for note in found if isinstance(note, Card)]


def card(memory: Memory, key: str) -> Card:
    [found] = [one for one in cards(memory) if one.key == key]
    return found


def page(memory: Memory, path: str = "MEMORY.md") -> str:
    return (memory.root / path).read_text(encoding="utf-8")


def write(memory: Memory, text: str, path: str = "MEMORY.md") -> None:
    (memory.root / path).write_bytes(text.encode())


def edit(memory: Memory, old: str, new: str, path: str = "MEMORY.md") -> None:
    text = page(memory, path)
    assert old in text
    write(memory, text.replace(old, new), path)


def without_line(text: str, id: str) -> str:
    return re.sub(rf"^- .*\^{id}\n", "", text, flags=re.MULTILINE)
