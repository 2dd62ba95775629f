"""What recall keeps to itself: words that were forgotten, wherever they stand."""

from __future__ import annotations

import pytest

from kimi_memory import Memory
from kimi_memory.domain.origin import Role
from kimi_memory.domain.search_types import Query
from kimi_memory.operations.forget import Wanted, forget

SAID = {
    "zh": ("我的牙医是奥斯陆的陈医生。", "陈医生", "今天下雨，所以我们坐地铁去。"),
    "en": ("My dentist is Doctor Abernathy in Oslo.", "Abernathy", "It rained in Oslo all day."),
}


@pytest.mark.parametrize("lang", SAID)
def test_a_page_of_ones_own_and_a_long_turn_say_the_rest_only(memory: Memory, lang: str) -> None:
    text, word, other = SAID[lang]
    memory.remember(text, key="health.dentist")
    (memory.root / "USER.md").write_text(f"# 我\n\n{other}\n{text}\n", encoding="utf-8")
    memory.session("s").turn(Role.USER, f"{other} {text}")

    def shown(status: tuple[str, ...] = ()) -> list[str]:
        query = Query(text=f"{text} {other}", limit=20, status=status)
        return [hit.unit.text + hit.snippet for hit in memory.recall(query).hits]

    assert sum(word in one for one in shown()) >= 3
    job = forget(memory, Wanted(key="health.dentist"))
    assert not [one for one in shown() if word in one]
    assert [one for one in shown() if other.rstrip("。.") in one]
    assert [one for one in shown(("archived",)) if word in one]
    memory.undo(job.id)
    assert sum(word in one for one in shown()) >= 3


def test_a_broken_tombstone_does_not_stop_recall(memory: Memory) -> None:
    memory.remember("My dentist is Doctor Abernathy in Oslo.", key="health.dentist")
    stones = memory.root / "mid-term" / "tombstones.jsonl"
    stones.parent.mkdir(exist_ok=True)
    stones.write_text("no tombstone\n", encoding="utf-8")
    assert memory.recall("dentist Oslo").hits
