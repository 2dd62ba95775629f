"""Cards of another system, and the cards that they become."""

from __future__ import annotations

from kimi_memory import Memory
from kimi_memory.domain.note import Card
from kimi_memory.store.notes.notes import Shelf

POSTGRES = """\
---
title: 选用 PostgreSQL
created: 2026-01-05
tags: [数据库]
---
我们选了 PostgreSQL，因为 [[json-support|JSON 支持]] 好。见 [[No Such]]。
"""


JSONB = """\
---
title: JSON support
---
PostgreSQL stores JSON in binary form, see [[postgres-choice]].
"""


def cards(memory: Memory) -> dict[str, Card]:
    notes = [filed.note for filed in Shelf(memory.store).notes("card")]
    return {note.key: note for note in notes if isinstance(note, Card)}
