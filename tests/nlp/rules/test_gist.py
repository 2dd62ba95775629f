"""The gist of an errand: how it begins, and its answer."""

from __future__ import annotations

import pytest

from kimi_memory.nlp.rules.gist import gist_of

FACT = "`queue.py` drops a message when 2 workers hold the lock of `shelf.db`"


@pytest.mark.parametrize(
    "line",
    [
        "mend the queue",
        "mend the queue → it was the lock",
        "修好队列 → 锁没有释放 … 已改 `queue.py`",
    ],
)
def test_a_short_line_stays(line: str) -> None:
    assert gist_of(line) == line


def test_of_a_long_answer_the_parts_stay_that_tell_most_in_their_order() -> None:
    filler = [
        f"it is what it is and so we did as one does, number {n} of them all" for n in range(6)
    ]
    line = " … ".join(["mend the queue → " + filler[0], *filler[1:3], FACT, *filler[3:]])
    gist = gist_of(line)
    assert FACT in gist and len(gist) < len(line)
    kept = gist.removeprefix("mend the queue → ").split(" … ")
    assert kept == [part for part in [*filler[:3], FACT, *filler[3:]] if part in kept]
    assert gist_of(gist) == gist


def test_a_part_that_leads_to_a_list_says_nothing_without_it() -> None:
    assert (
        gist_of("mend it → I've updated the page with … the `lid` closes")
        == "mend it → the `lid` closes"
    )
    assert gist_of("修好 → 主要改动如下 … 去掉了 `lid`") == "修好 → 去掉了 `lid`"
    assert gist_of("mend it → the plan covers") == "mend it → the plan covers"


def test_of_a_long_request_the_beginning_stays() -> None:
    parts = [f"part {n} of what the shelf shall hold, with tins of size {n}" for n in range(8)]
    gist = gist_of(" … ".join(parts))
    assert gist.startswith(parts[0])
    assert parts[-1] not in gist


def test_one_long_part_is_not_cut() -> None:
    assert gist_of(FACT * 9) == FACT * 9
