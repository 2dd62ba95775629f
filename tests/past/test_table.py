"""The table of the past: derived, signed, carried on, and never needed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kimi_memory import Memory, Opening
from kimi_memory.past import table as past_table
from tests.conftest import Clock
from tests.past.conftest import Past, git


def states(memory: Memory) -> list[object]:
    """Return all that the table tells, whichever way it was made."""
    table = memory.past.table()
    return [table.states_of(note) for note in table.ids_beginning("")]


def fresh(memory: Memory, opening: Opening) -> list[object]:
    """Return the same of a process that finds no table."""
    shutil.rmtree(memory.root / ".kimi/past", ignore_errors=True)
    with Memory.open(memory.root, opening) as other:
        return states(other)


def test_a_table_that_was_carried_on_is_one_that_was_made_whole(
    memory: Memory, past: Past, opening: Opening, clock: Clock
) -> None:
    first = states(memory)
    memory.remember("The deploy port is 9090 from now on.", key="deploy.port")
    memory.session("s1").turn("user", "We decided to use SQLite as the database.")
    memory.end("s1")
    clock.move(days=1)
    memory.consolidate("daily")
    carried = states(memory)
    assert len(carried) > len(first)
    assert carried == fresh(memory, opening)


def test_deleting_it_changes_no_answer(memory: Memory, past: Past, opening: Opening) -> None:
    def ask(one: Memory) -> tuple[object, ...]:
        lines = [*one.timeline("deploy.port"), *one.timeline("sign.colour")]
        return lines, one.blame("sign.colour"), one.beliefs(past.first, why=True)

    # It is there already and has to catch up with each of these.
    assert ask(memory)
    memory.remember("The sign of the shop is green now.", key="sign.colour")
    assert ask(memory)
    before = ask(memory)
    shutil.rmtree(memory.root / ".kimi/past")
    with Memory.open(memory.root, opening) as other:
        assert before == ask(other)


@pytest.mark.parametrize("damage", [b"", b"nonsense", b"0" * 64 + b"\nSQLite format 3\0"])
def test_a_damaged_or_forged_table_is_made_anew(
    memory: Memory, past: Past, opening: Opening, damage: bytes
) -> None:
    before, place = states(memory), memory.root / past_table.PATH
    sound = place.read_bytes()
    for content in (damage, sound[:-1], sound[:200] + bytes([sound[200] ^ 1]) + sound[201:]):
        place.write_bytes(content)
        with Memory.open(memory.root, opening) as other:
            assert states(other) == before
        assert place.read_bytes() != content


def test_it_is_kept_between_processes(memory: Memory, past: Past, opening: Opening) -> None:
    states(memory)
    place = memory.root / past_table.PATH
    look = place.stat()
    with Memory.open(memory.root, opening) as other:
        states(other)
    assert place.stat().st_mtime_ns == look.st_mtime_ns


def test_a_history_that_was_written_anew_makes_it_anew(
    memory: Memory, past: Past, opening: Opening
) -> None:
    states(memory)
    git(memory, "reset", "-q", "--hard", "HEAD~2")
    memory.remember("The sign of the shop is green.", key="sign.colour")
    assert states(memory) == fresh(memory, opening)


def test_where_nothing_can_be_written_it_answers_all_the_same(
    memory: Memory, past: Past, opening: Opening
) -> None:
    (memory.root / ".kimi/past").write_text("in the way", encoding="utf-8")
    assert memory.timeline("deploy.port")


def test_commits_on_both_sides_of_a_merge_are_in_it(
    memory: Memory, past: Past, opening: Opening
) -> None:
    main = git(memory, "branch", "--show-current")
    git(memory, "switch", "-qc", "aside", "HEAD~3")
    (memory.root / "USER.md").write_text("Mine.\n", encoding="utf-8")
    git(memory, "commit", "-qam", "By hand")
    git(memory, "switch", "-q", main)
    git(memory, "merge", "-q", "--no-edit", "aside")
    merged = memory.points.find("HEAD")
    assert len(memory.timeline("deploy.port")) == 3
    assert states(memory) == fresh(memory, opening)
    assert memory.blame("USER.md:1")[0].cause.author == "Li"
    assert memory.points.find(f"v{merged.version}").commit == merged.commit


ACTS = st.lists(
    st.tuples(st.sampled_from(["say", "edit", "move", "drop", "clean"]), st.integers(0, 3)),
    min_size=1, max_size=8,
)  # fmt: skip


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(acts=ACTS)
def test_whatever_is_done_it_is_the_table_of_the_history(
    acts: list[tuple[str, int]], opening: Opening, tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = tmp_path_factory.mktemp("acts") / "memory"
    with Memory.create(root, opening=opening) as memory:
        for number, (act, which) in enumerate(acts):
            do(memory, act, which, number)
            states(memory)
        carried = states(memory)
        assert carried == fresh(memory, opening)


def do(memory: Memory, act: str, which: int, number: int) -> None:
    """Do something to the notes of a memory, as its owner or its jobs would."""
    cards = sorted((memory.root / "semantic").glob("*/*.md"))
    if act == "say" or not cards:
        memory.remember(f"The port of relay {which} is {4000 + number}.", key=f"relay.r{which}")
        return
    card = cards[which % len(cards)]
    if act == "edit":
        card.write_text(card.read_text("utf-8") + f"\nNote {number}.\n", "utf-8")
    elif act == "move":
        card.rename(card.with_name(f"moved-{number}.md"))
    elif act == "drop":
        card.unlink()
    memory.history.commit(f"By hand {number}")


def test_no_program_of_the_repository_is_run(memory: Memory, past: Past, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    for name in ("diff.evil.textconv", "diff.evil.command", "filter.evil.clean",
                 "filter.evil.smudge", "merge.evil.driver", "core.fsmonitor", "core.pager",
                 "core.hooksPath", "core.sshCommand"):  # fmt: skip
        subprocess.run(["git", "config", name, f"touch {mark}; cat"], cwd=memory.root, check=True)
    attributes = "*.md diff=evil filter=evil merge=evil\n*.jsonl diff=evil filter=evil\n"
    (memory.root / ".gitattributes").write_text(attributes, encoding="utf-8")
    (memory.root / ".git/info/attributes").write_text(attributes, encoding="utf-8")
    memory.timeline("deploy.port")
    memory.blame("MEMORY.md")
    memory.blame("USER.md:1")
    memory.beliefs(past.first, why=True)
    memory.beliefs(past.first, "HEAD")
    assert not mark.exists()
