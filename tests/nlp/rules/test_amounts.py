"""Figures in every way they are written, and dates worked out of the day of the talk."""

# ruff: noqa: E501  what is said stands in one line

from __future__ import annotations

from datetime import date

import pytest

from kimi_memory.nlp.rules.amounts import amounts_in, is_among

DAY = date(2026, 3, 20)


@pytest.mark.parametrize(
    ("figure", "said"),
    [
        ("62000", "报价6万2"),
        ("6000", "it is 6,000 now"),
        ("6", "there are six more"),
        ("60", "学生有六十个"),
        ("9:00", "from 9 to 4"),
        ("16:00", "from 9 to 4"),
        ("2025", "去年12月买的"),
        ("2026-03-20", "it broke today"),
        ("8.5", "version 8.5"),
    ],
)
def test_a_figure_is_known_however_it_was_said(figure: str, said: str) -> None:
    assert is_among(figure, amounts_in(said), [DAY])


@pytest.mark.parametrize(
    ("figure", "said"),
    [("9", "on the fifth"), ("7", "six more"), ("8.6", "version 8.5"), ("2019", "去年12月"), ("17:00", "from 9 to 4"), ("63000", "6万2")],
)  # fmt: skip
def test_another_figure_is_not(figure: str, said: str) -> None:
    assert not is_among(figure, amounts_in(said), [DAY], dated=False)


def test_a_bare_number_is_no_day() -> None:
    said = amounts_in("we met today")
    assert is_among("20", said, [DAY])
    assert not is_among("20", said, [DAY], dated=False)
    assert amounts_in("at 3月5号, on may 7").dated == {"3", "5", "7"}
