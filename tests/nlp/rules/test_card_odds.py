"""The odds that a reader keeps a card."""

from __future__ import annotations

import pytest

from kimi_memory.nlp.rules.card_odds import card_odds

MARK = "The mark of the club is a heron."


@pytest.mark.parametrize(
    ("more", "less"),
    [
        ("Always print the price in euros.", "The price in euros was printed."),
        ("Reports are sealed without exception.", "Reports are sealed."),
        ("I live in Bergen, by the sea.", "We walked in Bergen, by the sea."),
    ],
)
def test_what_orders_holds_on_or_lasts_is_kept_sooner(more: str, less: str) -> None:
    assert card_odds(more, "fact", chat=False) > card_odds(less, "fact", chat=False)


def test_talk_of_work_a_taste_and_what_is_of_the_user_count_for_more() -> None:
    plain = card_odds(MARK, "fact", chat=False)
    assert card_odds(MARK, "fact", chat=True) < plain
    assert card_odds(MARK, "preference", chat=False) > plain
    assert card_odds(MARK, "fact", chat=False, of_user=True) > plain


def test_a_long_story_counts_for_less_and_not_without_end() -> None:
    odds = [card_odds("the boat " * n, "fact", chat=False) for n in (10, 40, 80)]
    assert odds[0] > odds[1] == pytest.approx(odds[2], abs=1.0)
