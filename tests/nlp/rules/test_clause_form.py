"""Clauses made ready for forms."""

from __future__ import annotations

import pytest

from kimi_memory.nlp.rules.clause_form import plain_clause, strip_marks, trim_value


@pytest.mark.parametrize(
    ("clause", "plain"),
    [
        ("Actually, I'm based in Cork", "I am based in Cork"),
        ("From next week I get up at six", "I get up at six"),
        ("we've currently got two dogs", "we have got two dogs"),
    ],
)
def test_short_forms_are_written_out_and_lead_ins_go(clause: str, plain: str) -> None:
    assert plain_clause(clause, zh=False) == plain


def test_a_chinese_clause_loses_its_adverbs() -> None:
    assert plain_clause("其实我现在住在苏州", zh=True) == "我住在苏州"
    assert plain_clause("我就职于京东", zh=True) == "我就职于京东"


def test_a_value_ends_where_the_old_one_is_named() -> None:
    assert trim_value("5 March, not 4 March", zh=False) == "5 March"
    assert trim_value("杭州了，不是成都", zh=True) == "杭州"
    assert strip_marks("Cork!! ") == "Cork"
