"""Points: every form that names a moment of the history, and what is said of those that do not."""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.errors import (
    AmbiguousIdError,
    HistoryError,
    KimiMemoryError,
    NotFoundError,
    UsageError,
)
from tests.conftest import Clock


@pytest.fixture
def days(memory: Memory, clock: Clock) -> list[str]:
    """Three statements of three days; the ids of their jobs."""
    jobs = []
    for port in (8080, 8443, 9090):
        jobs.append(memory.remember(f"The deploy port is {port}.", key="deploy.port").id)
        clock.move(days=1)
    return jobs


def port_at(memory: Memory, text: str) -> set[int]:
    """Return the ports that the cards of a point state."""
    commit = memory.points.find(text).commit
    tree = subprocess.run(
        ["git", "ls-tree", "-r", "--name-only", commit, "--", "semantic"],
        cwd=memory.root, capture_output=True, text=True, check=True,
    )  # fmt: skip
    paths = [path for path in tree.stdout.splitlines() if "deploy.port" in path]
    texts = [(memory.history.content(commit, path) or b"").decode() for path in paths]
    return {port for port in (8080, 8443, 9090) if any(str(port) in text for text in texts)}


def test_every_form_names_a_state(memory: Memory, days: list[str]) -> None:
    head = memory.history.head()
    second = memory.history.find("Job", days[1])
    assert second is not None
    assert port_at(memory, days[0]) == {8080}
    assert port_at(memory, f"{days[0]}^") == set()
    assert port_at(memory, f"{days[1]}^") == {8080}
    assert port_at(memory, "2026-02-27") == {8080}
    assert 8443 in port_at(memory, "2026-02-28 09:00")
    assert port_at(memory, "3 days ago") == port_at(memory, "3天前") == {8080}
    assert memory.points.find(second.hash[:8]).commit == second.hash
    assert memory.points.find("HEAD").commit == memory.points.find("now").commit == head
    for one in range(1, memory.points.find("HEAD").version + 1):
        assert memory.points.find(f"v{one}").version == one
    assert memory.points.find(days[1][:-3]).commit == second.hash


def test_a_named_point_is_found_by_its_name(memory: Memory, days: list[str]) -> None:
    memory.history.set_name("before-the-move", memory.points.find(days[1]).commit)
    found = memory.points.find("before-the-move")
    assert found.commit == memory.points.find(days[1]).commit
    assert found.known == found.moment == datetime(2026, 2, 28, 9, tzinfo=UTC)
    assert memory.points.find("before-the-move^").version == found.version - 1
    # As git writes it.
    for one in ("HEAD~1", "HEAD~", "HEAD^"):
        assert memory.points.find(one).version == memory.points.find("HEAD").version - 1
    assert memory.points.find("HEAD~2") == memory.points.find("HEAD^^")


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("some day", UsageError, "is no point in the history. Write a date"),
        ("v99", UsageError, "There is no v99; the last version is v"),
        ("v1^", UsageError, "nothing was before the first commit"),
        ("HEAD~99", UsageError, "nothing was before the first commit"),
        ("HEAD~x", UsageError, "is no point"),
        ("distil-abcdef123456", NotFoundError, "kimi-memory log"),
        ("2020-01-01", HistoryError, r"The history begins at 2026-02-27 09:00 \(v1\)"),
        ("f" * 40, HistoryError, "No commit"),
        ("remember-a0b1", NotFoundError, "No job"),
    ],
)
def test_what_names_nothing_is_refused_with_a_remedy(
    memory: Memory, days: list[str], text: str, error: type[KimiMemoryError], said: str
) -> None:
    with pytest.raises(error, match=said):
        memory.points.find(text)


def test_the_beginning_of_two_jobs_is_refused(memory: Memory) -> None:
    for job in ("weekly-abcd1111", "weekly-abcd2222"):
        (memory.root / "USER.md").write_text(job, encoding="utf-8")
        memory.history.commit(job, trailers={"Job": job})
    with pytest.raises(AmbiguousIdError, match="weekly-abcd1111, weekly-abcd2222"):
        memory.points.find("weekly-abcd")


def test_the_present_is_the_head_even_where_its_clock_ran_ahead(
    memory: Memory, clock: Clock
) -> None:
    clock.set(datetime(2031, 1, 1, tzinfo=UTC))
    memory.remember("The sign is blue.", key="sign.colour")
    clock.set(datetime(2026, 3, 1, tzinfo=UTC))
    assert memory.points.at(clock.now).commit == memory.history.head()
    memory.remember("The sign is red.", key="sign.colour")
    memory.remember("The lamp is red.", key="lamp.colour")
    assert memory.points.find("today").commit == memory.history.head()
    assert memory.points.find("2026-02-28").version == 1


def test_a_commit_of_another_branch_is_a_point_without_a_version(
    memory: Memory, days: list[str]
) -> None:
    first = memory.points.find(days[0]).commit
    tree = subprocess.run(
        ["git", "-c", "user.name=A", "-c", "user.email=a@b", "commit-tree", f"{first}^{{tree}}",
         "-p", first, "-m", "aside"],
        cwd=memory.root, capture_output=True, text=True, check=True,
    )  # fmt: skip
    found = memory.points.find(tree.stdout.strip())
    assert (found.version, port_at(memory, found.commit)) == (0, {8080})


def test_a_memory_without_history_says_what_to_do(
    memory: Memory, days: list[str], opening: Opening
) -> None:
    settings = memory.root / "memory.toml"
    settings.write_text(f"{settings.read_text()}\n[history]\ngit = false\n", encoding="utf-8")
    with Memory.open(memory.root, opening) as plain, pytest.raises(HistoryError) as error:
        plain.points.find("HEAD")
    assert "History is switched off" in str(error.value)


def test_an_empty_history_says_so(memory: Memory) -> None:
    subprocess.run(
        ["git", "update-ref", "-d", "refs/heads/main"], cwd=memory.root, check=True
    )  # as a branch that was just made
    with pytest.raises(HistoryError, match="The history is empty"):
        memory.points.find("HEAD")


@pytest.mark.parametrize("words", ["^", "~", "^" * 100_000, "^" * 100_000 + "\n", "HEAD~0", "v1~x"])
def test_steps_back_from_nothing_are_an_unknown_point(memory: Memory, words: str) -> None:
    memory.remember("Berths are free.", key="berths")
    with pytest.raises(KimiMemoryError) as refused:
        memory.points.find(words)
    assert len(str(refused.value)) < 300


def test_the_graph_goes_on_and_is_the_one_that_git_lists(memory: Memory, days: list[str]) -> None:
    def is_whole() -> bool:
        rows = memory.points.graph().rows
        return list(rows) == memory.history.graph()

    def run(*words: str) -> None:
        who = ("-c", "user.name=Li", "-c", "user.email=li@example.org")
        subprocess.run(["git", *who, *words], cwd=memory.root, check=True, capture_output=True)

    assert is_whole()
    memory.remember("The deploy port is 7070.", key="deploy.port")
    memory.remember("The sign of the shop is blue.", key="sign.colour")
    memory.batch.flush()
    assert is_whole()
    # Back, aside, a merge of both, and a history that has nothing of the one before.
    run("branch", "side")
    run("reset", "-q", "--hard", "HEAD~2")
    assert is_whole()
    run("commit", "-q", "--allow-empty", "-m", "aside")
    assert is_whole()
    run("merge", "-q", "side")
    assert is_whole()
    run("checkout", "-q", "--orphan", "anew")
    run("commit", "-q", "-m", "first")
    run("reflog", "expire", "--expire=now", "--all")
    run("branch", "-q", "-D", "main", "side")
    run("gc", "-q", "--prune=now")
    assert is_whole()
