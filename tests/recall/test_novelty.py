"""What a turn brings that was not said just before it, and lists made of it."""

from __future__ import annotations

import pytest
from folders import Folder

from kimi_memory.recall.engine import total
from kimi_memory.recall.novelty import BACK, LEAST, POWER, fresh

CHATS = {
    "en": [
        ("Ann", "Which books did you take to the island this summer, Ben?"),
        ("Ben", "I read an old book about lighthouses and their keepers."),
        ("Ann", "An old book about lighthouses and their keepers!"),
        ("Ben", "Yes, an old book about lighthouses and their keepers."),
        ("Ann", "My brother bakes bread with walnuts every Sunday."),
        ("Ben", "Later came a book on whales, borrowed from the harbour library."),
    ],
    "zh": [
        ("林夏", "今年夏天你带了哪些书去岛上，陈默？"),
        ("陈默", "读了一本讲灯塔和守塔人的旧书。"),
        ("林夏", "一本讲灯塔和守塔人的旧书！"),
        ("陈默", "对，一本讲灯塔和守塔人的旧书。"),
        ("林夏", "我哥哥每个星期天烤核桃面包。"),
        ("陈默", "后来又从港口图书馆借来讲鲸鱼的书。"),
    ],
}


@pytest.mark.parametrize("language", CHATS)
def test_what_repeats_counts_less_than_what_is_new(folder: Folder, language: str) -> None:
    folder.session("chat", CHATS[language])
    folder.card("sea", "Sea", "A book on whales 讲鲸鱼的书.")
    searcher = folder.index().searcher()
    rows = list(range(len(searcher)))
    told = dict(zip(searcher.column("n"), fresh(searcher, rows).tolist(), strict=True))
    assert told[1] == 1.0
    assert told[2] > told[3]
    assert told[4] == pytest.approx(LEAST**POWER, abs=0.3)
    assert told[6] > told[4]
    assert fresh(searcher, rows)[[n == 0 for n in searcher.column("n")]].tolist() == [1.0]


def test_what_was_said_long_before_is_new_again(folder: Folder) -> None:
    between = [("Ann", f"Nothing of the kind, number {n}.") for n in range(BACK)]
    again = ("Ben", "The lighthouse keeper paints boats.")
    folder.session("chat", [("Ann", "Well then."), again, *between, again])
    searcher = folder.index().searcher()
    factor = fresh(searcher, range(len(searcher)))
    assert factor[-1] == 1.0


def test_rows_that_are_not_looked_at_keep_one(folder: Folder) -> None:
    folder.session("chat", CHATS["en"])
    searcher = folder.index().searcher()
    assert fresh(searcher, []).tolist() == [1.0] * len(searcher)


@pytest.mark.parametrize(
    ("language", "question"),
    [("en", "Which books has Ben read?"), ("zh", "陈默读过哪些书？")],
)
def test_a_list_is_made_of_what_is_new_and_explains_itself(
    folder: Folder, language: str, question: str
) -> None:
    folder.session("chat", CHATS[language])
    hits = folder.ask(question).hits
    order = [hit.unit.n for hit in hits]
    assert set(order[:3]) >= {2, 6}
    assert order.index(6) < order.index(3)
    assert any("fresh" in hit.parts for hit in hits)
    for hit in hits:
        assert total(hit.parts) == pytest.approx(hit.score, abs=1e-12)
