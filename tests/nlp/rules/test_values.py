"""Values and claims compared: the same, finer, opposite, swapped, another."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.nlp.rules.values import (
    Relation,
    compare_claims,
    compare_statements,
    compare_values,
    same_told,
    tells_more,
)

SAME, FINER, COARSER = Relation.SAME, Relation.FINER, Relation.COARSER
OPPOSITE, SWAPPED, VALUE, OTHER = (
    Relation.OPPOSITE,
    Relation.SWAPPED,
    Relation.VALUE,
    Relation.OTHER,
)


@pytest.mark.parametrize(
    ("old", "new", "relation"),
    [
        ("5,000 euros", "€5000", SAME),
        ("五千块", "5000元", SAME),
        ("12 June", "June 12", SAME),
        ("4 March", "March 4th", SAME),
        ("30 seconds", "30 s", SAME),
        ("六点半", "6:30", SAME),
        ("half an hour", "two hours", OTHER),
        ("Postgres", "Postgres 16", FINER),
        ("成都", "成都武侯区", FINER),
        ("Postgres 16", "Postgres", COARSER),
        ("30 seconds", "45 seconds", VALUE),
        ("Go", "Rust", OTHER),
        ("成都", "成华区都江堰路", OTHER),
        ("", "", OTHER),
    ],
)
def test_two_values_of_one_slot_are_compared(old: str, new: str, relation: Relation) -> None:
    assert compare_values(old, new) is relation


@pytest.mark.parametrize(
    ("old", "new", "relation"),
    [
        ("The gate opens at dawn", "The gate doesn't open at dawn", OPPOSITE),
        ("The vault is open", "The vault is not open", OPPOSITE),
        ("Invoices are kept", "Invoices are never kept", OPPOSITE),
        ("Sort the list ascending", "Sort the list descending", OPPOSITE),
        ("我们收押金", "我们不收押金", OPPOSITE),
        ("店里开着空调", "店里没开着空调", OPPOSITE),
        ("Iris outranks Noah", "Noah outranks Iris", SWAPPED),
        ("甲队赢了乙队", "乙队赢了甲队", SWAPPED),
        ("The lift holds 8 people", "The lift holds 12 people", VALUE),
        ("The lift holds people", "The lift holds people and bikes", FINER),
        ("Call the plumber", "Feed the cat", OTHER),
    ],
)
def test_two_claims_are_compared_in_order(old: str, new: str, relation: Relation) -> None:
    assert compare_claims(old, new) is relation


def test_statements_of_one_slot_are_compared_by_their_values() -> None:
    assert compare_statements("I live in Porto", "My home is in Porto") is SAME


def test_a_statement_may_tell_more_of_the_same_value() -> None:
    assert tells_more("I take insulin", "I take insulin every evening")
    assert not tells_more("My wife is called Hannah", "My wife's name is Hannah")
    assert not tells_more("My wife is called Hannah", "My wife is called Hannah")


def test_what_is_told_of_a_subject_may_have_another_form() -> None:
    first, second = "Keep in mind: Cinder's owner is Priya", "The owner for Cinder is Priya"
    assert same_told(first, second, "Cinder owner")
    assert not same_told(first, "The owner for Cinder is Tom", "Cinder owner")
    assert same_told("Note: Cinder's port is 80", "For Cinder we set 80 as port", "Cinder port")


@given(st.text(max_size=80), st.text(max_size=80))
def test_only_the_same_words_agree_whatever_the_order_of_asking(old: str, new: str) -> None:
    assert (compare_claims(old, new) is SAME) == (compare_claims(new, old) is SAME)


@pytest.mark.parametrize(
    ("old", "new", "subjects"),
    [
        ("The day off of Ines is Monday.", "Ines's day off is Monday.", "Ines day off"),
        (
            "For Heron, the owner is Odile",
            "They fixed the owner of Heron at Odile.",
            "Heron owner",
        ),
    ],
)
def test_a_subject_put_otherwise_leaves_the_value(old: str, new: str, subjects: str) -> None:
    assert same_told(old, new, subjects)
    assert not same_told(old, new.replace("Odile", "Vera").replace("Monday", "Friday"), subjects)
