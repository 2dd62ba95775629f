"""Evals: cases as files, run against real recall, without a trace."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest
from kimi_memory.plugins.evals import Report, evaluate

from kimi_memory import Memory
from kimi_memory.cli import run
from kimi_memory.errors import FormatError, UsageError
from tests.cli.answers import answer
from tests.cli.conftest import folder  # noqa: F401  a fixture
from tests.conftest import Clock
from tests.jobs.notes import card, put
from tests.jobs.test_introspect import tree


def shop(memory: Memory) -> None:
    put(
        memory,
        card("db", "订单服务的数据库是 PostgreSQL 16"),
        card("port", "The gateway of the shop listens on port 8080"),
        card("day", "We never deploy the shop on a Friday"),
    )


def evals(memory: Memory, text: str, name: str = "shop.yaml") -> None:
    (memory.root / "evals").mkdir(exist_ok=True)
    (memory.root / "evals" / name).write_text(text, encoding="utf-8")


def only(memory: Memory, case: str) -> tuple[bool, tuple[str, ...]]:
    evals(memory, f"cases:\n  - {{{case}}}\n")
    [result] = evaluate(memory).results
    return result.passed, result.why


@pytest.mark.parametrize(
    "case",
    [
        "query: 订单用哪个数据库, expect: PostgreSQL, forbid: MySQL",
        "query: Which port does the gateway have, expect: [8080, card-port]",
        "query: When do we deploy the shop, expect: [never deploy]",
        "query: Where was grandmother born, abstain: true",
        "query: 外婆出生在哪座城市, abstain: true",
        "query: Which port does the gateway have, expect: 8080, budget: 400",
    ],
)
def test_what_memory_knows_passes(memory: Memory, case: str) -> None:
    shop(memory)
    assert only(memory, case) == (True, ())


@pytest.mark.parametrize(
    ("case", "why"),
    [
        ("query: 订单用哪个数据库, expect: MongoDB", "'MongoDB' is not among"),
        ("query: 订单用哪个数据库, forbid: PostgreSQL", "'PostgreSQL' is forbidden and in card-db"),
        ("query: gateway port, forbid: card-port", "'card-port' is forbidden and in card-port"),
        ("query: gateway of the shop port, abstain: true", "card-port has 100% of the question"),
        ("query: gateway port, expect: 8080, budget: 1", "not in a context of 1 tokens"),
        ("query: gateway port, forbid: 8080, budget: 400", "is forbidden and in the context"),
    ],
)
def test_what_is_wrong_is_named(memory: Memory, case: str, why: str) -> None:
    shop(memory)
    passed, told = only(memory, case)
    assert not passed
    assert any(why in line for line in told)


def test_a_limit_counts_only_the_first_hits(memory: Memory) -> None:
    shop(memory)
    asked = "query: the shop gateway listens, expect: Friday"
    assert only(memory, asked)[0]
    assert not only(memory, f"{asked}, limit: 1")[0]


def test_running_leaves_no_trace(memory: Memory) -> None:
    shop(memory)
    evals(memory, "cases:\n  - {query: gateway port, expect: 8080, budget: 400}\n")
    before = tree(memory.root)
    evaluate(memory)
    assert tree(memory.root) == before


def test_a_case_of_an_earlier_day_asks_what_was_so_then(memory: Memory, clock: Clock) -> None:
    memory.remember("The port of the relay is 5150.", key="relay.port")
    day = clock.now.date()
    clock.now += timedelta(days=3)
    memory.remember("The port of the relay is 6160.", key="relay.port")
    evals(
        memory,
        "cases:\n"
        f"  - {{query: relay port, budget: 400, expect: 5150, forbid: 6160, valid_at: {day}}}\n"
        "  - {query: relay port, budget: 400, expect: 6160}\n",
    )
    assert [result.why for result in evaluate(memory).results] == [(), ()]


def test_an_old_spelling_is_named_beside_the_report(memory: Memory) -> None:
    shop(memory)
    evals(memory, "cases:\n  - {query: gateway port, expect: 8080, as_of: 2999-01-01}\n")
    assert evaluate(memory).notes == ("evals/shop.yaml: case 1: write valid_at for as_of",)


def test_files_anywhere_and_names_choose_cases(memory: Memory, tmp_path: Path) -> None:
    shop(memory)
    evals(memory, "cases:\n  - {query: gateway port, expect: 8080}\n")
    evals(memory, "cases:\n  - {name: 部署, query: deploy, expect: Friday}\n", "more.yml")
    other = tmp_path / "other.yaml"
    other.write_text("cases:\n  - {query: deploy, expect: Monday}\n", encoding="utf-8")
    whole: Report = evaluate(memory)
    assert (whole.passed, whole.failed) == (2, 0)
    assert [result.name for result in evaluate(memory, name="部署").results] == ["部署"]
    assert evaluate(memory, [other]).failed == 1


def test_no_cases_and_broken_files_are_told_with_a_remedy(memory: Memory, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no case to run"):
        evaluate(memory)
    with pytest.raises(UsageError, match="cannot be read"):
        evaluate(memory, [tmp_path / "none.yaml"])
    evals(memory, "cases: [")
    with pytest.raises(FormatError, match=r"evals/shop.yaml:\d+: not valid YAML"):
        evaluate(memory)


# The command

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
