"""Numbers of cards, people and locks, and the numbers that only look so."""

from __future__ import annotations

import pytest

from kimi_memory.nlp.rules import private_numbers


def test_an_offset_before_a_date_is_no_telephone_number() -> None:
    line = "My time zone is UTC+9 (2025-05-05, 0.75)"
    assert not private_numbers.is_phone(line, line.index("+"), line.index(","))
    number = "+49 30 901820 11"
    assert private_numbers.is_phone(number, 0, len(number))


@pytest.mark.parametrize(
    ("line", "number"),
    [
        ("4033216 0 4033216 0% /dev", "4033216 0 4033216 0"),
        ("36013 2015-09-30 11:52 a.png", "36013 2015-09-30 11"),
        ("23 24 25 26 27 28 29", "23 24 25 26 27 28 29"),
    ],
)
def test_columns_of_numbers_are_no_card(line: str, number: str) -> None:
    assert not private_numbers.is_card_number(line, 0, len(number))


@pytest.mark.parametrize("line", ["4539 1488 0343 6467", "4539-1488-0343-6467 exp 09/29"])
def test_a_card_in_its_groups_is_one(line: str) -> None:
    assert private_numbers.is_card_number(line, 0, 19)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("4711, please", True),
        ("7-2-9-4", True),
        ("3690 再按井号", True),
        ("1200 euros", False),
        ("2019", False),
        ("12", False),
    ],
)
def test_a_number_opens_something_where_it_counts_nothing(line: str, expected: bool) -> None:
    end = next((at for at, sign in enumerate(line) if sign not in "0123456789-"), len(line))
    assert private_numbers.is_lock_number(line, 0, end) is expected
