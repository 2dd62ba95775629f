"""Cases of evals: read strictly, matched by words in both languages."""

from __future__ import annotations

from datetime import date

import pytest

from kimi_memory.errors import FormatError
from kimi_memory.formats.eval_case import Case, found_in, hits_of, is_eval, read_cases


def test_a_case_has_all_its_fields(doc: str) -> None:
    """
    # what the shop memory must know
    cases:
      - name: database
        query: 我们用哪个数据库？
        expect: [PostgreSQL, card-01]
        forbid: MySQL
        valid_at: 2026-02-01
        budget: 300
        limit: 4
      - query: What is the moon made of?
        abstain: true
    """
    first, second = read_cases(doc, "evals/shop.yaml")
    assert first == Case(
        path="evals/shop.yaml", name="database", query="我们用哪个数据库？",
        expect=("PostgreSQL", "card-01"), forbid=("MySQL",), valid_at=date(2026, 2, 1),
        budget=300, limit=4,
    )  # fmt: skip
    assert (second.name, second.abstain) == (second.query, True)


def test_the_old_spelling_of_valid_at_is_read_with_a_note() -> None:
    text = "cases:\n  - {query: q, forbid: x, as_of: 2026-02-01}\n  - {query: q, forbid: x}\n"
    old, plain = read_cases(text, "evals/x.yaml")
    assert old.valid_at == date(2026, 2, 1)
    assert old.note == "evals/x.yaml: case 1: write valid_at for as_of"
    assert not plain.note


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("- query: x", "list of cases|not a mapping|mapping"),
        ("cases: x", "no list of cases"),
        ("cases: []\nmore: 1", "no list of cases"),
        ("cases:\n  - x", "case 1 is no mapping"),
        ("cases:\n  - query: q\n    expects: x", "unknown key 'expects'"),
        ("cases:\n  - expect: x", "has no query"),
        ("cases:\n  - query: q", "tests nothing"),
        ("cases:\n  - query: q\n    expect: x\n    abstain: true", "expects an answer and none"),
        ("cases:\n  - query: [q]\n    expect: x", "query that is no text"),
        ("cases:\n  - query: q\n    expect: [[x]]", "expect that is no text"),
        ("cases:\n  - query: q\n    abstain: yes", "abstain: 'yes'"),
        ("cases:\n  - query: q\n    forbid: x\n    budget: 0", "budget: 0"),
        ("cases:\n  - query: q\n    forbid: x\n    limit: many", "limit: 'many'"),
        ("cases:\n  - query: q\n    forbid: x\n    valid_at: friday", "valid_at: 'friday'"),
        (
            "cases:\n  - {query: q, forbid: x, valid_at: 2026-02-01, as_of: 2026-02-01}",
            "has as_of and valid_at",
        ),
        ("cases:\n  - query: &a q\n    forbid: *a", "anchors"),
        ("cases: [", "not valid YAML"),
    ],
)
def test_a_case_that_cannot_be_understood_is_refused_with_its_place(text: str, why: str) -> None:
    with pytest.raises(FormatError, match=why) as error:
        read_cases(text, "evals/x.yaml")
    assert "evals/x.yaml:" in str(error.value)


@pytest.mark.parametrize(
    ("text", "wanted", "found"),
    [
        ("We moved to PostgreSQL.", "postgresql", True),
        ("We use PyMySQL here", "MySQL", False),
        ("MySQL8 is old", "MySQL", False),
        ("用MySQL的时候", "MySQL", True),
        ("订单库换成了  PostgreSQL", "换成了 PostgreSQL", True),
        ("数据 库", "数据库", True),
        ("ＰｏｓｔｇｒｅＳＱＬ", "PostgreSQL", True),
        ("anything", " ", False),
    ],
)
def test_words_are_found_whole_in_latin_and_anywhere_in_chinese(
    text: str, wanted: str, found: bool
) -> None:
    assert found_in(text, wanted) is found


def test_ids_are_compared_and_not_looked_for_in_texts() -> None:
    texts = [("card-01", "about card-02"), ("session:s#1", "said")]
    assert list(hits_of("card-01", texts)) == ["card-01"]
    assert list(hits_of("card-02", texts)) == []
    assert list(hits_of("session:s#1", texts)) == ["session:s#1"]


def test_cases_lie_in_one_folder() -> None:
    assert is_eval("evals/a.yaml") and is_eval("evals/deep/a.yml")
    assert not is_eval("evals/a.md") and not is_eval("notes/a.yaml")
