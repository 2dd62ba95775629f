"""Going back to a point in the history, and forth again."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from kimi_memory import Memory
from kimi_memory.cli import run
from kimi_memory.domain.operation_types import Wanted
from kimi_memory.errors import GateError, UsageError
from kimi_memory.formats.page_lines import sign_of
from kimi_memory.jobs.forget import Forget
from kimi_memory.jobs.purge import Doomed
from kimi_memory.jobs.usage import RECALLS
from kimi_memory.operations.forget import purge
from kimi_memory.operations.merge_copy import merge_copy
from kimi_memory.operations.rollback import roll_back
from kimi_memory.store.files.paths import TOMBSTONES
from kimi_memory.store.notes import sessions
from tests.conftest import Clock
from tests.operations.test_merge_copy import pair
from tests.test_copies import clone, errors, git

__all__ = ["clone", "pair"]


def port_of(memory: Memory) -> str:
    hits = memory.recall("which deploy port?").hits
    return " | ".join(hit.unit.text for hit in hits if hit.unit.kind == "card")


def said(memory: Memory) -> list[str]:
    places = list(sessions.places(memory.store))
    return [t.text for one in places for t in sessions.read(memory.store, one.path).turns]


def files_of(memory: Memory) -> dict[str, bytes]:
    paths = (path for path in memory.store.files() if path != RECALLS)
    return {path: memory.store.read(path) for path in paths}


def live(memory: Memory, clock: Clock) -> str:
    """Give a memory a past; return the job after which it changed its mind."""
    memory.remember("The deploy port is 8080.", key="deploy.port")
    (memory.root / "USER.md").write_text("# Ann\n", encoding="utf-8")
    memory.batch.note()
    made = memory.remember("Ann likes green tea.", key="ann.tea").id
    clock.move(days=1)
    memory.remember("The deploy port is 8443 now.", key="deploy.port")
    memory.remember("The sign of the shop is blue.", key="sign.colour")
    (memory.root / "USER.md").write_text("# Bob\n", encoding="utf-8")
    (memory.root / "plans.md").write_text("Paint the shop.\n", encoding="utf-8")
    memory.batch.note()
    memory.consolidate("daily", clock().date())
    clock.move(days=1)
    return made


def test_what_was_known_then_is_known_again_and_what_was_said_stays(
    memory: Memory, clock: Clock
) -> None:
    made = live(memory, clock)
    before, spoken = files_of(memory), said(memory)
    report = roll_back(memory, made)
    assert "8080" in port_of(memory)
    assert "8443" not in port_of(memory)
    assert (memory.root / "USER.md").read_text("utf-8") == "# Ann\n"
    assert not (memory.root / "plans.md").exists()
    assert said(memory) == spoken
    assert errors(memory) == []
    assert git(memory.root, "status", "--porcelain").strip() == ""
    # A card in whose place another came is back, and that other one is gone.
    changes = {(one.change, one.key) for one in report.beliefs}
    assert {("taken up", "deploy.port"), ("removed", "sign.colour")} <= changes
    after = files_of(memory)
    jobs = {path for path in before if path.startswith("mid-term/jobs/")}
    assert {path: after[path] for path in jobs} == {path: before[path] for path in jobs}
    overview = after["MEMORY.md"].decode()
    assert "8080" in overview and "blue" not in overview
    memory.undo(report.job)
    assert files_of(memory) == before
    assert errors(memory) == []


@pytest.mark.parametrize("seed", range(3))
def test_to_whatever_point_what_is_never_rolled_back_stays(
    memory: Memory, clock: Clock, seed: int
) -> None:
    """Law L17."""
    chance = Random(seed)
    for n in range(6):
        clock.move(hours=5)
        match chance.choice(["say", "say", "change", "forget", "daily", "purge"]):
            case "say":
                memory.remember(f"The colour of room {n} is blue.", key=f"room{n}.colour")
            case "change":
                memory.remember(f"The deploy port is {8000 + n}.", key="deploy.port")
            case "forget":
                memory.run(Forget(memory, Wanted(query="colour of room")))
            case "daily":
                memory.consolidate("daily", clock().date())
            case _:
                memory.remember(f"The vault code is {7391 + n}.", key="vault.code")
                purge(memory, Doomed((f"{7391 + n}",)), yes=True)
        memory.batch.flush()
    kept = ("short-term/session", "episodic/sessions/", "mid-term/jobs/", TOMBSTONES)
    for version in range(2, int(git(memory.root, "rev-list", "--count", "HEAD")), 2):
        before, spoken = files_of(memory), said(memory)
        report = roll_back(memory, f"v{version}", sure=True)
        after = files_of(memory)
        assert said(memory) == spoken
        stays = {path for path in before if path.startswith(kept)}
        assert {path: after.get(path) for path in stays} == {path: before[path] for path in stays}
        assert errors(memory) == []
        if report.job:
            memory.undo(report.job)
        assert files_of(memory) == before


def test_going_back_twice_changes_nothing_the_second_time(memory: Memory, clock: Clock) -> None:
    made = live(memory, clock)
    assert roll_back(memory, made).job
    again = roll_back(memory, made)
    assert (again.job, again.paths, again.beliefs) == ("", (), ())


def test_a_dry_run_tells_and_writes_nothing(
    memory: Memory, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    made = live(memory, clock)
    memory.batch.flush()
    before, head = files_of(memory), memory.history.head()
    root = ["--memory", str(memory.root)]
    assert run(["rollback", made, "--dry-run", *root]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("Would roll back to v")
    assert "removed   sign.colour" in shown
    assert "undo" not in shown
    assert run(["rollback", made, "--dry-run", "--json", *root]) == 0
    assert json.loads(capsys.readouterr().out)["job"] == ""
    assert (files_of(memory), memory.history.head()) == (before, head)
    assert run(["rollback", made, *root]) == 0
    assert "take it back: kimi-memory undo rollback-" in capsys.readouterr().out
    assert run(["rollback", made, *root]) == 0
    assert "Nothing to roll back" in capsys.readouterr().out
    with pytest.raises(UsageError):
        roll_back(memory, "no such point")


@pytest.mark.parametrize(
    ("only", "port", "user"),
    [
        ("deploy.port", "8080", "# Bob\n"),
        ("deploy", "8080", "# Bob\n"),
        ("USER.md", "8443", "# Ann\n"),
        ("semantic/general", "8080", "# Bob\n"),
        ("agent:reviewer", "8443", "# Bob\n"),
    ],
)
def test_only_what_is_named_goes_back(
    memory: Memory, clock: Clock, only: str, port: str, user: str
) -> None:
    made = live(memory, clock)
    roll_back(memory, made, (only,))
    assert port in port_of(memory)
    assert (memory.root / "USER.md").read_text("utf-8") == user
    assert (memory.root / "plans.md").exists()
    assert errors(memory) == []


def test_one_card_goes_back_by_its_id(memory: Memory, clock: Clock) -> None:
    memory.remember("The sign of the shop is blue.", key="sign.colour", agent="reviewer")
    [card] = [h.unit.id for h in memory.recall("sign").hits if h.unit.kind == "card"]
    place = next(memory.root.rglob("sign.colour.md"))
    memory.batch.flush()
    made = memory.history.head()
    place.write_text(place.read_text("utf-8").replace("is blue", "is red"), encoding="utf-8")
    memory.batch.note()
    report = roll_back(memory, made, (card,))
    assert [one.change for one in report.beliefs] == ["changed"]
    assert "is blue" in place.read_text("utf-8")


def test_how_sure_a_belief_was_is_told_and_what_never_was_there_is_refused(
    memory: Memory, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    made = memory.remember("The sign of the shop is blue.", key="sign.colour").id
    memory.remember("The sign of the shop is blue.", key="sign.colour")
    memory.batch.flush()
    at = ["--memory", str(memory.root)]
    assert run(["rollback", made, "--dry-run", *at]) == 0
    assert "The sign of the shop is blue.  0.93 → 0.90" in capsys.readouterr().out
    for what in ("sign.color", "semantic/generel", "card-0"):
        assert run(["rollback", made, "--only", what, *at]) == 11
    for known in ("sign", "semantic/general", "semantic/general/", "agent:reviewer"):
        assert run(["rollback", made, "--only", known, "--dry-run", *at]) == 0


def test_what_was_forgotten_since_does_not_come_back(memory: Memory, clock: Clock) -> None:
    made = live(memory, clock)
    [card] = [h.unit.id for h in memory.recall("green tea").hits if h.unit.kind == "card"]
    memory.run(Forget(memory, Wanted(note=card)))
    stones = memory.store.read(TOMBSTONES)
    report = roll_back(memory, made)
    assert any("forgotten" in line for line in report.left_out)
    assert memory.store.read(TOMBSTONES) == stones
    hits = memory.recall("who likes green tea?").hits
    assert not [hit for hit in hits if "green tea" in hit.unit.text]
    assert errors(memory) == []


def test_what_nobody_confirmed_then_does_not_count_now(memory: Memory, clone) -> None:
    memory.remember("The deploy port is 8080.", key="deploy.port")
    other = clone("b")
    page = next((other.root / "semantic").rglob("deploy.port.md"))
    page.write_text(page.read_text("utf-8").replace("8080", "9999"), encoding="utf-8")
    (other.root / "theirs.md").write_text("Trust me.\n", encoding="utf-8")
    other.batch.note()
    other.batch.flush()
    merge_copy(memory, str(other.root))
    made = memory.history.head()
    page = next((memory.root / "semantic").rglob("deploy.port.md"))
    page.write_text(page.read_text("utf-8").replace("9999", "8080"), encoding="utf-8")
    (memory.root / "theirs.md").unlink()
    memory.batch.note()
    report = roll_back(memory, made)
    assert sum("nobody confirmed" in line for line in report.left_out) == 2
    assert "9999" not in port_of(memory)
    assert not (memory.root / "theirs.md").exists()


def test_too_many_beliefs_do_not_go_unseen(
    memory: Memory, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    made = live(memory, clock)
    for name in ("Cleo", "Dan", "Eve", "Finn", "Gus", "Hal", "Ida"):
        memory.remember(f"{name} lives in the town of {name}ville.", key=f"{name.lower()}.home")
    with pytest.raises(GateError, match="add --yes"):
        roll_back(memory, made)
    assert roll_back(memory, made, dry_run=True).paths
    assert run(["rollback", made, "--yes", "--memory", str(memory.root)]) == 0
    assert "8080" in port_of(memory)


def test_settings_go_back_only_where_they_are_named(memory: Memory, clock: Clock) -> None:
    made = live(memory, clock)
    path = memory.root / "memory.toml"
    before = path.read_text("utf-8")
    path.write_text(before + "\n[gates]\nmax_loss = 0.5\n", encoding="utf-8")
    memory.batch.note()
    roll_back(memory, made)
    assert "max_loss" in path.read_text("utf-8")
    roll_back(memory, made, ("memory.toml",))
    assert path.read_text("utf-8") == before


def test_pages_a_person_edited_stay(memory: Memory, clock: Clock) -> None:
    made = live(memory, clock)
    page = memory.root / "semantic/general.md"
    assert sign_of(page.read_text("utf-8"))
    page.write_text(page.read_text("utf-8") + "\nMy own line.\n", encoding="utf-8")
    report = roll_back(memory, made)
    assert "My own line." in page.read_text("utf-8")
    assert any("semantic/general.md" in line for line in report.left_out)


def test_another_file_in_the_place_of_one_keeps_it(memory: Memory, clock: Clock) -> None:
    memory.remember("The deploy port is 8080.", key="deploy.port")
    (memory.root / "list.md").write_text("Of old.\n", encoding="utf-8")
    memory.batch.note()
    memory.batch.flush()
    made = memory.history.head()
    card = next((memory.root / "semantic").rglob("deploy.port.md"))
    text = card.read_text("utf-8")
    (memory.root / "list.md").write_text(text, encoding="utf-8")
    card.unlink()
    memory.batch.note()
    roll_back(memory, made, ("list.md",))
    found = {p.name: p.read_text("utf-8") for p in memory.root.glob("list*.md")}
    assert "Of old.\n" in found.values()
    kept = [
        *found.values(),
        *(p.read_text("utf-8") for p in (memory.root / "semantic").rglob("*.md")),
    ]
    assert sum("id: card-" in one for one in kept) >= 1


def test_evidence_follows_turns_that_a_merge_moved(
    pair: tuple[Memory, Memory], clock: Clock
) -> None:
    memory, other = pair
    memory.session("talk").turn("user", "We use PostgreSQL for the shop.")
    memory.batch.flush()
    merge_copy(other, str(memory.root))
    clock.move(minutes=1)
    memory.session("talk").turn("user", "Remember: the shop opens at nine.")
    clock.move(minutes=-1)
    other.session("talk").turn("user", "Remember: the shop closes at five.")
    for one in pair:
        one.batch.flush()
    made = memory.history.head()
    clock.move(minutes=5)
    assert merge_copy(memory, str(other.root)).forks
    roll_back(memory, made, sure=True)
    assert errors(memory) == []
    assert "Remember: the shop closes at five." in said(memory)


def test_a_broken_session_keeps_nothing_from_going_back(memory: Memory, clock: Clock) -> None:
    broken = memory.root / "short-term/session_broken.jsonl"
    broken.write_text("no record\n", encoding="utf-8")
    made = live(memory, clock)
    broken.write_text("no record at all\n", encoding="utf-8")
    memory.batch.note()
    roll_back(memory, made)
    assert broken.read_text("utf-8") == "no record at all\n"
    assert "8080" in port_of(memory)


def test_a_new_memory_has_nothing_to_go_back_to(memory: Memory, tmp_path: Path) -> None:
    assert not roll_back(memory, "HEAD").paths
