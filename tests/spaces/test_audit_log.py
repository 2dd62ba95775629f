"""The audit log: a line that was cut, edited or moved is found, and so is a missing end."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from kimi_memory.api.options import Home
from kimi_memory.cli.space import _format_record
from kimi_memory.domain.space_types import Audit
from kimi_memory.errors import DiskError
from kimi_memory.spaces.audit_log import EVERY, AuditLog, decision_record
from kimi_memory.spaces.space_folder import SpaceFolder
from kimi_memory.store.git.command import Git
from tests.spaces.conftest import MEMORY


@pytest.fixture
def log(space: SpaceFolder) -> AuditLog:
    """The log of the space, with ten decisions after those of its making."""
    for number in range(10):
        space.note(record(space, f"card-{number}"))
    return space.log


def record(space: SpaceFolder, what: str) -> Audit:
    decision = space.decide("reader@shop", "recall", MEMORY)
    return replace(
        decision_record(space.name, "reader@shop", "recall", decision, memory=MEMORY),
        resource=what, hits=(what,), count=1, query=space.log.hide("部署 when?"),
    )  # fmt: skip


def day(log: AuditLog) -> Path:
    (path,) = log.folder.glob("*.jsonl")
    return path


def change(log: AuditLog, how: Callable[[list[bytes]], list[bytes]]) -> list[str]:
    """Change the lines of the log, and return what a check finds."""
    path = day(log)
    lines = how(path.read_bytes().splitlines())
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return [f"{one.place}: {one.why}" for one in log.verify().faults]


def test_a_log_as_it_was_written_is_whole(log: AuditLog) -> None:
    found = log.verify()
    assert found.faults == () and found.records == 17 and found.checkpoints == 7
    assert [one.seq for one in log.records()] == list(range(1, 18))


def test_each_line_says_who_what_where_and_by_which_policy(log: AuditLog) -> None:
    last = list(log.records())[-1]
    assert (last.sub, last.action, last.memory, last.decision) == (
        "reader@shop", "recall", MEMORY, "allow"
    )  # fmt: skip
    assert last.policies == ("policies/roles.cedar:2",) and last.hits == ("card-9",)
    text = day(log).read_text()
    # What somebody asked for can be compared, and not read.
    assert "部署" not in text and last.query == log.hide("部署 when?") != log.hide("部署 when")


@pytest.mark.parametrize("at", [0, 8, 15])
def test_a_line_that_was_cut_out_is_found(log: AuditLog, at: int) -> None:
    found = change(log, lambda lines: lines[:at] + lines[at + 1 :])
    assert any(f"record {at + 2} stands where {at + 1} belongs" in one for one in found)


def test_an_end_that_was_cut_off_is_found(log: AuditLog, space: SpaceFolder) -> None:
    assert change(log, lambda lines: lines[:-3]) == [
        "end: record 17, which was written, is missing or another"
    ]
    # Also when the log goes on after it, and by somebody who reads it anew.
    SpaceFolder.open(space.home, "shop").note(record(space, "card-x"))
    assert any("record 18 stands where 15 belongs" in one.why for one in log.verify().faults)


def test_commits_know_the_end_where_the_machine_was_made_to_forget(
    log: AuditLog, space: SpaceFolder
) -> None:
    space.add("lin", ["reader"])
    path = day(log)
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-2]))
    head = next((space.home.state / "spaces").glob("*.head"))
    last = list(log.records())[-1]
    hash = hashlib.sha256(path.read_bytes().splitlines()[-1]).hexdigest()
    head.write_text(f"{last.seq} {hash}")
    (found,) = log.verify().faults
    assert found.place.startswith("commit ")
    assert found.why == "record 18 is not the one that was committed"
    head.unlink()
    assert any("does not know which" in one.why for one in log.verify().faults)


@pytest.mark.parametrize(
    ("field", "value"),
    [("sub", "owner@shop"), ("decision", "deny"), ("resource", "x"), ("at", "2020-01-01T00:00:00"),
     ("policies", []), ("mac", "0" * 64), ("node", "other")],
)  # fmt: skip
def test_a_line_that_was_edited_is_found(log: AuditLog, field: str, value: object) -> None:
    def edit(lines: list[bytes]) -> list[bytes]:
        found = json.loads(lines[8]) | {field: value}
        text = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
        return [*lines[:8], text.encode(), *lines[9:]]

    found = change(log, edit)
    assert any("jsonl:9: record 9 was changed" in one for one in found)


def test_an_end_that_was_edited_is_found(log: AuditLog) -> None:
    found = change(log, lambda lines: [*lines[:-1], lines[-1].replace(b"reader@", b"lin@")])
    assert any("record 17 was changed" in one for one in found)


def test_lines_that_changed_places_are_found(log: AuditLog) -> None:
    found = change(log, lambda lines: [*lines[:8], lines[9], lines[8], *lines[10:]])
    assert any("record 10 stands where 9 belongs" in one for one in found)


def test_a_line_that_was_doubled_is_found(log: AuditLog) -> None:
    found = change(log, lambda lines: [*lines[:9], lines[8], *lines[9:]])
    assert any("record 9 stands where 10 belongs" in one for one in found)


@pytest.mark.parametrize("line", [b"", b"{}", b"\xff", b"[1]", b'{"seq":"x"}', b"null"])
def test_what_is_no_record_is_named_and_stops_nothing(
    log: AuditLog, space: SpaceFolder, line: bytes
) -> None:
    found = change(log, lambda lines: [*lines, line])
    assert any("jsonl:18: it is no record" in one for one in found)
    space.note(record(space, "card-x"))
    assert [one.seq for one in log.records()][-1] == 18


def test_a_member_that_we_do_not_know_is_no_way_to_say_more(log: AuditLog) -> None:
    found = change(log, lambda lines: [*lines[:-1], lines[-1][:-1] + b',"more":1}'])
    assert any("it is no record" in one for one in found)


def test_a_log_that_another_machine_wrote_does_not_pass_for_ours(
    log: AuditLog, tmp_path: Path
) -> None:
    other = AuditLog(log.folder.parent.parent, log.folder.name, b"x" * 32, tmp_path / "aside")
    assert len(other.verify().faults) == 17 + 1


def test_threads_and_openings_write_one_chain(log: AuditLog, space: SpaceFolder) -> None:
    openings = [SpaceFolder.open(space.home, "shop") for _ in range(4)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: openings[n % 4].note(record(openings[n % 4], f"{n}")), range(80)))
    assert log.verify().faults == () and log.verify().records == 97


def test_a_long_log_is_committed_now_and_then(log: AuditLog, space: SpaceFolder) -> None:
    for number in range(EVERY):
        space.note(record(space, str(number)))
    assert log.verify().checkpoints == 8
    subjects = Git(space.root, space.root / ".git").run("log", "-1", "--format=%s").decode()
    assert subjects.strip() == f"Audit log up to {EVERY}"


def test_a_line_that_a_full_disk_cut_short_stays_and_is_named(
    log: AuditLog, space: SpaceFolder
) -> None:
    path = day(log)
    path.write_bytes(path.read_bytes() + b'{"seq":18,"at"')
    space.note(record(space, "card-x"))
    assert [one.why for one in log.verify().faults] == ["it is no record"]


def test_a_log_that_takes_no_line_says_so(space: SpaceFolder) -> None:
    log = AuditLog(space.root, "file", b"k" * 32, space.home.state / "spaces" / "other")
    (space.root / "audit" / "file").write_text("in the way")
    with pytest.raises(DiskError, match="Take away what is in the way"):
        log.append(record(space, "card-x"), sync=True)


def test_policies_that_somebody_edits_are_theirs_to_commit(
    log: AuditLog, space: SpaceFolder
) -> None:
    path = space.root / "policies/more.cedar"
    path.write_text("// not finished")
    git = Git(space.root, space.root / ".git")
    git.run("add", "policies")
    log.commit("Audit log")
    assert git.run("diff", "--cached", "--name-only") == b"policies/more.cedar\n"
    head = git.run("rev-parse", "HEAD")
    log.commit("Audit log")
    assert git.run("rev-parse", "HEAD") == head, "a commit of nothing"


def test_the_home_of_another_machine_is_not_needed_to_read(log: AuditLog, home: Home) -> None:
    assert (home.state / "key").stat().st_mode & 0o077 == 0
    assert b"key" not in day(log).read_bytes()


@pytest.mark.parametrize("what", ["file", "day", "today", "folder", "node"])
def test_a_link_that_a_pull_brought_leads_no_line_elsewhere(
    log: AuditLog, space: SpaceFolder, tmp_path: Path, what: str
) -> None:
    """Nor is what lies there shown as decided."""
    target = tmp_path / "elsewhere"
    if what in ("file", "day"):
        target.write_bytes(day(log).read_bytes())
        name = "9999-12-31.jsonl" if what == "day" else "zzz.jsonl"
        (log.folder / name).symlink_to(target)
    else:
        place = {"node": log.folder, "folder": log.folder.parent, "today": day(log)}[what]
        place.rename(target)
        place.symlink_to(target)
    before = {path: path.read_bytes() for path in (target, *target.rglob("*")) if path.is_file()}
    assert before
    try:
        space.note(record(space, "after"))
    except DiskError as error:
        assert what in ("folder", "node", "today") and "in the way" in str(error)
    known = list(log.records())
    assert len(known) == (18 if what in ("file", "day") else 0)
    assert all(path.read_bytes() == content for path, content in before.items())
    places = [one.place for one in log.verify().faults]
    expected = {"folder": "audit", "node": f"audit/{log.folder.name}"}
    assert expected.get(what, f"audit/{log.folder.name}/") in places[0]


@pytest.mark.parametrize("name", ["9999-12-31.jsonl", "zzz.jsonl"])
def test_a_folder_in_the_place_of_a_file_stops_nothing(
    log: AuditLog, space: SpaceFolder, name: str
) -> None:
    (log.folder / name / "x").mkdir(parents=True)
    space.note(record(space, "after"))
    assert [one.resource for one in log.records()][-1] == "after"
    (fault,) = log.verify().faults
    assert fault.place.endswith(name) and fault.why == "it is no file of a day"


def test_a_forged_line_is_shown_as_such_and_moves_no_number(
    log: AuditLog, space: SpaceFolder
) -> None:
    """Whatever it says of itself, and however large its number is."""
    lines = day(log).read_bytes().splitlines()
    forged = json.loads(lines[-1]) | {"resource": "the vault", "decision": "allow"}
    huge = {**forged, "seq": 10**200}
    brought = [json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in (forged, huge)]
    (log.folder / "2099-01-01.jsonl").write_text("".join(one + "\n" for one in brought))
    space.note(record(space, "after"))
    found = {one.resource: log.is_sealed(one) for one in log.records()}
    assert found["the vault"] is False and found["after"] and found["card-9"]
    assert max(one.seq for one in log.records()) == 18
    assert len(log.verify().faults) >= 2
    shown = "\n".join("  ".join(_format_record(one, space)) for one in log.records()).splitlines()
    marked = [line for line in shown if "not written by this machine" in line]
    assert len(marked) == 1 and "the vault" in marked[0]
