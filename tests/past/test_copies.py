"""What one copy knew at a moment, which the present or another copy knew otherwise."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from kimi_memory import Memory
from kimi_memory.cli import run
from kimi_memory.errors import AmbiguousIdError, HistoryError, NotFoundError, UsageError
from kimi_memory.operations.forget import Doomed, purge
from kimi_memory.operations.merge_copy import merge_copy
from kimi_memory.operations.new_copies import open_past
from tests.conftest import Clock
from tests.test_copies import clone, git

__all__ = ["clone"]

Clone = Callable[[str], Memory]


def merge(memory: Memory, other: Memory) -> None:
    other.batch.flush()
    merge_copy(memory, str(other.root))


@pytest.fixture
def pair(memory: Memory, clone: Clone, clock: Clock) -> tuple[Memory, Memory]:
    """Two copies that go apart on the first day, and meet on the third."""
    memory.remember("The deploy port is 8080.", key="deploy.port")
    other = clone("laptop")
    clock.move(hours=1)
    other.remember("The team meets on Monday.", key="team.day")
    clock.move(days=1)
    memory.remember("The deploy port is 8443 now.", key="deploy.port")
    clock.move(days=1)
    other.remember("Bob likes coffee.", key="bob.drink")
    merge(memory, other)
    clock.move(days=1)
    memory.remember("Ann likes tea.", key="ann.tea")
    memory.batch.flush()
    return memory, other


def cards_at(memory: Memory, point: str) -> set[str]:
    hits = memory.at(point).recall("kind:card", limit=50).hits
    return {hit.unit.text for hit in hits if hit.unit.status != "superseded"}


def test_a_copy_is_asked_for_what_it_knew_then(pair: tuple[Memory, Memory]) -> None:
    memory, other = pair
    first, monday = "The deploy port is 8080.", "The team meets on Monday."
    # On the second day the line to the present knew the new port, and the laptop did not.
    assert cards_at(memory, "here@{2026-02-28}") == {"The deploy port is 8443 now."}
    assert cards_at(memory, f"{other.copy_id}@{{2026-02-28}}") == {first, monday}
    assert cards_at(memory, f"{other.copy_id[:3]}@{{now}}") == {first, monday, "Bob likes coffee."}
    assert cards_at(memory, "here@{now}") == cards_at(memory, "now")
    # A point that is no date stands for its moment.
    when = memory.points.find("v4").known
    assert memory.points.find(f"{other.copy_id}@{{v4}}").known <= when
    # The copy itself says the same of that day.
    assert cards_at(other, "here@{2026-02-28}") == {first, monday}
    with open_past(memory, f"{other.copy_id}@{{2026-02-28}}") as (point, past):
        assert point.copy == other.copy_id
        assert {hit.unit.text for hit in past.recall("kind:card").hits} == {first, monday}


def test_what_is_no_copy_or_was_none_yet_is_said(
    pair: tuple[Memory, Memory], clock: Clock, clone: Clone
) -> None:
    memory, other = pair
    odd = ("@{now}", "here@{}", "here@{gibberish}", "here@{now", "a@{b@{now}}", "here@{now}^")
    for text in ("phone@{now}", *odd):
        with pytest.raises((NotFoundError, UsageError)):
            memory.points.find(text)
    with pytest.raises(HistoryError, match=r"what copy .* knew so long ago"):
        memory.points.find(f"{other.copy_id}@{{v2}}")
    with pytest.raises(AmbiguousIdError):
        # No letters at all begin every id.
        memory.points.copies.newest_at("", clock().timestamp(), memory.points.graph())
    fresh = clone("fresh")
    assert fresh.points.find("here@{now}").commit == fresh.history.head()


def test_what_came_by_a_pull_is_known_here_from_then_on(memory: Memory, clone: Clone) -> None:
    """It makes no commit of this copy; only the log of this folder has it."""
    other = clone("laptop")
    memory.remember("Ann likes tea.", key="ann.tea")
    other.remember("Bob likes coffee.", key="bob.drink")
    other.batch.flush()
    mine = git(other.root, "rev-parse", "HEAD").strip()
    memory.batch.flush()
    git(other.root, "pull", "-q", "--no-rebase", "--no-edit", str(memory.root), "main")
    log = other.root / ".git/logs/HEAD"
    lines = log.read_text(encoding="utf-8").splitlines()
    moments = [1772182800 + 3600 * n for n in range(len(lines))]
    text = [
        re.sub(r"> \d+ [+-]\d{4}\t", f"> {at} +0000\t", line)
        for line, at in zip(lines, moments, strict=True)
    ]
    log.write_text("\n".join(text) + "\n", encoding="utf-8")
    graph = other.points.graph()
    copies = other.points.copies
    for later in (0, 1):
        assert copies.newest_at("here", moments[-1] + later, graph)[1] == graph.head
    assert copies.newest_at("here", moments[-1] - 1, graph) == (other.copy_id, mine)


def test_every_command_on_the_past_takes_a_copy(
    pair: tuple[Memory, Memory], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    memory, other = pair
    where = ["--copy", other.copy_id, "--as-of", "2026-02-28", "--memory", str(memory.root)]
    now = ["--copy", other.copy_id, "--memory", str(memory.root)]
    for command in (
        ["recall", "deploy port"],
        ["recall", "deploy port", "--exact"],
        ["context", "deploy port"],
        ["context", "deploy port", "--exact"],
        ["get", "deploy.port"],
        ["blame", "deploy.port"],
        ["list", "--key", "deploy"],
    ):
        assert run([*command, *where]) == 0
        # Beside what was so then, a line names what is so now.
        lines = capsys.readouterr().out.splitlines()
        said = "\n".join(line for line in lines if not line.strip().startswith("now"))
        assert "8080" in said and "8443" not in said, command
    for command in (["status"], ["conflicts"], ["export", "json", str(tmp_path / "out.json")]):
        assert run([*command, *now]) == 0
        assert f"copy {other.copy_id}" in capsys.readouterr().err
    assert "8443" not in (tmp_path / "out.json").read_text(encoding="utf-8")
    assert run(["recall", f"deploy port as-of:{other.copy_id}@{{now}}", *where[-2:]]) == 0
    assert "8080" in capsys.readouterr().out
    assert run(["recall", "deploy port", "--copy", "phone", *where[-2:]]) == 11
    assert "No copy 'phone'" in capsys.readouterr().err


def test_a_caller_of_a_part_names_no_copy(memory: Memory) -> None:
    assert not memory.points.is_counted("here@{now}")
    assert not memory.points.is_counted("abcdefgh@{2026-02-27}")


def test_a_copy_is_the_same_one_after_a_purge(memory: Memory, clock: Clock) -> None:
    memory.remember("The dentist is Dr Abernathy.", key="health.dentist")
    memory.remember("Ann likes tea.", key="ann.tea")
    before = memory.copy_id
    clock.move(days=1)
    assert purge(memory, Doomed(("Abernathy",)), yes=True).done
    assert memory.copy_id != before
    for name in ("here", before, memory.copy_id):
        assert cards_at(memory, f"{name}@{{2026-02-27}}") == {"Ann likes tea."}
    [line] = memory.blame("ann.tea", copies=True)
    assert [one.copy for one in line.copies] == [memory.copy_id]
