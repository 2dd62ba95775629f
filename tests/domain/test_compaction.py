"""Limits of a chat: what makes no sense is refused."""

from __future__ import annotations

import pytest

from kimi_memory.domain.compaction import Limits
from kimi_memory.errors import UsageError


@pytest.mark.parametrize(
    "wrong", [(0, 0.6, 5), (10**400, 0.6, 5), (100, 0.0, 5), (100, 1.1, 5), (100, 0.5, 0)]
)
def test_limits_out_of_range_are_refused(wrong: tuple[int, float, int]) -> None:
    with pytest.raises(UsageError, match="window above 0"):
        Limits(*wrong)


def test_a_chat_may_take_its_share_of_the_window() -> None:
    assert Limits().budget == 76_800
    assert Limits(1000, 0.5).budget == 500
    assert Limits(1, 0.5).budget == 1
