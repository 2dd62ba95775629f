"""``eval`` from the command line: a table, JSON, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

from kimi_memory.cli import run
from tests.cli.test_cli import answer, folder  # noqa: F401  a fixture

GOOD = "cases:\n  - {name: 数据库, query: 用哪个数据库, expect: PostgreSQL, budget: 400}\n"
BAD = "cases:\n  - {query: 用哪个数据库, forbid: PostgreSQL}\n"


def write(folder: Path, text: str) -> None:  # noqa: F811  an argument
    (folder / "evals").mkdir(exist_ok=True)
    (folder / "evals/db.yaml").write_text(text, encoding="utf-8")


def test_cases_that_pass_end_in_zero(folder, capsys) -> None:  # noqa: F811  the fixture
    run(["remember", "我们决定用 PostgreSQL 当数据库。"])
    write(folder, GOOD)
    capsys.readouterr()
    assert run(["eval"]) == 0
    shown = capsys.readouterr().out
    assert "passed   数据库  (evals/db.yaml" in shown and "tokens" in shown
    assert "1 passed, 0 failed" in shown
    assert answer(capsys, "eval", "--name", "数据库")["passed"] == 1


def test_a_case_that_fails_ends_in_one_and_says_why(folder, capsys) -> None:  # noqa: F811  the fixture
    run(["remember", "我们决定用 PostgreSQL 当数据库。"])
    write(folder, BAD)
    capsys.readouterr()
    assert run(["eval"]) == 1
    assert "'PostgreSQL' is forbidden and in " in capsys.readouterr().out
    assert run(["eval", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["failed"] == 1


def test_a_job_against_a_case_is_stopped_with_its_exit_code(folder, capsys) -> None:  # noqa: F811  the fixture
    write(folder, "cases:\n  - {query: 用哪个数据库, forbid: MongoDB}\n")
    assert run(["remember", "我们决定用 MongoDB 当数据库。"]) == 50
    assert "evals/db.yaml forbids" in capsys.readouterr().err


def test_no_case_at_all_is_an_error(folder, capsys) -> None:  # noqa: F811  the fixture
    assert run(["eval"]) == 2
    assert "no case to run" in capsys.readouterr().err
