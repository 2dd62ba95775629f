"""The table says what was tried and what held, and never more."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hostile import table
from tests.hostile.table import Group, Outcome, outcome_of, run

PASSED = '<testcase name="a"/>'
FAILED = '<testcase name="a"><failure message="no"/></testcase>'
COUNTED = (
    '<testcase name="a"><properties><property name="tried" value="300"/>'
    '<property name="held" value="300"/></properties>{}</testcase>'
)
SKIPPED = '<testcase name="a"><skipped message="no loop device"/></testcase>'


@pytest.mark.parametrize(
    ("cases", "outcome", "ok"),
    [
        (PASSED * 2, Outcome(2, 2), True),
        (PASSED + FAILED, Outcome(2, 1), False),
        (COUNTED.format(""), Outcome(300, 300), True),
        (COUNTED.format('<failure message="4 of 30"/>'), Outcome(300, 299), False),
        (PASSED + SKIPPED, Outcome(1, 1, ("no loop device",)), True),
        (SKIPPED, Outcome(0, 0, ("no loop device",)), True),
        ("", Outcome(0, 0), False),
    ],
    ids=["passed", "failed", "counted", "counted, then failed", "some skipped", "skipped", "none"],
)
def test_a_row_that_did_not_do_what_it_claims_fails(
    tmp_path: Path, cases: str, outcome: Outcome, ok: bool
) -> None:
    report = tmp_path / "report.xml"
    report.write_text(f"<testsuites><testsuite>{cases}</testsuite></testsuites>", encoding="utf-8")
    assert outcome_of(report) == outcome
    assert outcome.holds() == ok


def test_a_row_may_ask_for_less_than_all() -> None:
    assert Outcome(251, 250).holds(0.97)
    assert not Outcome(100, 96).holds(0.97)


def test_a_group_whose_tests_are_not_there_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    gone = Group("gone", ("tests/hostile/no_such_test.py",))
    nothing = Group("nothing", ("tests/hostile/test_table.py",), only="no_such_name")
    assert not run(gone).holds()
    assert not run(nothing).holds()
    monkeypatch.setattr(table, "GROUPS", (gone,))
    assert table.main() == 1
    assert "| gone | 0 | 0 |" in capsys.readouterr().out
