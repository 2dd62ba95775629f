"""Bisecting versions: a test of the whole memory fails at the find, and passes before it."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path

import pytest

from kimi_memory import Memory
from kimi_memory.cli import run
from kimi_memory.domain.operation_types import Wanted
from kimi_memory.errors import UsageError
from kimi_memory.operations.forget import forget
from kimi_memory.operations.new_copies import open_past
from kimi_memory.past.bisect_versions import Verdict, find_version_flips
from kimi_memory.past.points import Point
from kimi_memory.recall.eval_cases import check_case, read_case_file
from tests.conftest import Clock
from tests.past.conftest import Past

CASES = """cases:
  - name: the port
    query: Which port is used to deploy?
    forbid: ["8443"]
  - name: 数据库
    query: 订单服务用哪个数据库？
    expect: [PostgreSQL]
"""


class Probe:
    """A test that fails at some versions, and counts how often it was asked."""

    def __init__(self, failing: set[int], untold: Collection[int] = ()) -> None:
        self.failing, self.untold, self.asked = failing, untold, list[int]()

    def __call__(self, point: Point) -> Verdict:
        self.asked.append(point.version)
        return Verdict(None if point.version in self.untold else point.version in self.failing)


@pytest.fixture
def versions(memory: Memory) -> int:
    """A memory of more than twenty versions."""
    for number in range(22):
        memory.history.commit(f"version {number}", trailers={"Kind": "test"})
        (memory.root / "USER.md").write_text(f"# {number}\n", encoding="utf-8")
        memory.batch.note()
    memory.batch.flush()
    return len(memory.points.graph().line)


def find(
    memory: Memory, probe: Probe, good: str = "", bad: str = "", *, every: bool = False
) -> list[tuple[bool, int, int]]:
    points = [memory.points.find(one) if one else None for one in (good, bad)]
    found = find_version_flips(memory.past, probe, *points, every=every)
    return [(one.begins, one.before_version, one.cause.version) for one in found]


def test_few_versions_are_tested(memory: Memory, versions: int) -> None:
    probe = Probe(set(range(17, versions + 1)))
    assert find(memory, probe) == [(True, 16, 17)]
    assert len(probe.asked) <= 12 and len(set(probe.asked)) == len(probe.asked)
    assert find(memory, Probe(set(range(17, versions + 1))), good="v3") == [(True, 16, 17)]
    assert find(memory, Probe({20, 21, 22}), bad="v22") == [(True, 19, 20)]


def test_every_change_is_found_where_all_are_tested(memory: Memory, versions: int) -> None:
    probe = Probe({4, 5, 9}, untold={6})
    assert find(memory, probe, every=True) == [
        (True, 3, 4), (False, 5, 7), (True, 8, 9), (False, 9, 10),
    ]  # fmt: skip
    assert len(probe.asked) == versions


def test_what_tells_nothing_is_passed_over(memory: Memory, versions: int) -> None:
    late = set(range(17, versions + 1))
    assert find(memory, Probe(late, untold=set(range(10, 17)))) == [(True, 9, 17)]
    with pytest.raises(UsageError, match="tells nothing"):
        find(memory, Probe(late, untold={versions}))


def test_nothing_is_found_where_it_never_passed_or_never_failed(
    memory: Memory, versions: int
) -> None:
    assert find(memory, Probe(set())) == find(memory, Probe(set(range(versions + 1)))) == []
    with pytest.raises(UsageError, match="does not pass"):
        find(memory, Probe(set(range(versions + 1))), good="v3")
    with pytest.raises(UsageError, match="before the bad one"):
        find(memory, Probe(set()), good="v9", bad="v3")


def test_an_eval_is_asked_at_the_version_and_finds_the_statement(
    memory: Memory, past: Past, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "cases.yaml"
    file.write_text(CASES, encoding="utf-8")
    at = ["--memory", str(memory.root)]
    assert run(["bisect", "--eval", str(file), "--name", "port", *at]) == 0
    out = capsys.readouterr().out
    assert out.startswith("since v") and "'8443' is forbidden and in" in out
    assert run(["bisect", "--eval", str(file), "--name", "port", "--json", *at]) == 0
    [flip] = json.loads(capsys.readouterr().out)
    [case, _] = read_case_file(file)
    for version, passes in ((flip["cause"]["version"], False), (flip["before_version"], True)):
        then = memory.at(f"v{version}")
        assert check_case(then.engine, case, then.now(), memory.zone).passed is passes
    assert run(["bisect", "--eval", str(file), "--name", "数据库", *at]) == 1
    assert "fails at every version" in capsys.readouterr().out


def test_a_command_gets_the_files_of_the_version(
    memory: Memory, past: Past, capsys: pytest.CaptureFixture[str]
) -> None:
    at = ["--memory", str(memory.root)]
    assert run(["bisect", "--run", '! grep -rq 8443 "$KIMI_MEMORY/semantic"', *at]) == 0
    out = capsys.readouterr().out
    assert past.second in out and "~ changed   deploy.port" in out
    assert f"take it back: kimi-memory undo {past.second}" in out
    assert run(["bisect", "--run", "true", *at]) == 1
    assert "It does not fail." in capsys.readouterr().out
    assert run(["bisect", "--run", "no-such-command-here", *at]) == 2


@pytest.mark.parametrize(
    "wrong",
    [
        [],
        ["deploy.port", "--run", "true"],
        ["--says", "x", "--run", "true"],
        ["--run", "true", "--eval", "cases.yaml"],
        ["--run", "true", "--name", "port"],
    ],
)
def test_one_kind_of_test_is_given(memory: Memory, past: Past, wrong: list[str]) -> None:
    assert run(["bisect", *wrong, "--memory", str(memory.root)]) == 2


def test_a_memory_laid_out_at_a_point_answers_as_it_did(
    memory: Memory, past: Past, clock: Clock
) -> None:
    """Law L13: with `--exact`, recall as of a point is that of the files and the clock of then."""
    before = memory.recall("deploy port", looking=True)
    point = memory.points.find("HEAD")
    clock.move(days=40)
    memory.remember("The deploy port is 7070, of all deploy ports.", key="deploy.port")
    with open_past(memory, point.commit) as (found, then):
        again = then.recall("deploy port", looking=True)
        folder = then.root
        assert found.commit == point.commit and then.now() == point.moment
    assert not folder.exists()
    assert [(one.unit.id, one.unit.text) for one in again.hits] == [
        (one.unit.id, one.unit.text) for one in before.hits
    ]
    # The question before was asked a little after the commit, and age counts.
    scores = [one.score for one in before.hits]
    assert [one.score for one in again.hits] == pytest.approx(scores, rel=0.01)
    assert memory.other_copies() == []


def test_what_was_forgotten_is_not_laid_out(memory: Memory, past: Past) -> None:
    forget(memory, Wanted(key="deploy.port"))
    with open_past(memory, past.first) as (_, then):
        assert "8080" not in "".join(hit.unit.text for hit in then.recall("port").hits)


def test_commands_answer_exactly_as_of_a_point(
    memory: Memory, past: Past, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    at = ["--memory", str(memory.root)]
    then = ["--as-of", past.first]
    assert run(["recall", "deploy port", "--exact", *then, *at]) == 0
    out = capsys.readouterr().out
    lines = [line for line in out.splitlines() if not line.strip().startswith("now:")]
    assert out.startswith("as of v") and "8080" in out and "8443" not in str(lines)
    assert run(["context", "deploy port", "--exact", *then, *at]) == 0
    assert "memory as it was on" in capsys.readouterr().out
    assert run(["recall", "deploy port", "--exact", *at]) == 2
    assert run(["status", *then, *at]) == run(["conflicts", *then, *at]) == 0
    out = capsys.readouterr()
    assert "Card      1" in out.out and "as of v" in out.err and "Index" not in out.out
    assert run(["conflicts", "deploy.port", "--both", *then, *at]) == 2
    assert run(["export", "cards", str(tmp_path / "then"), *then, *at]) == 0
    assert "8080" in next((tmp_path / "then/fact").iterdir()).read_text(encoding="utf-8")
    assert run(["export", "cards", str(memory.root / "then"), *then, *at]) == 2
    assert run(["export", "bundle", str(tmp_path / "b"), *then, *at]) == 2
