"""Status, verify, doctor and fix: faults are found, cures only add."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.domain.health import Severity
from kimi_memory.domain.operation_types import Wanted
from kimi_memory.hooks.host import Host
from kimi_memory.operations.doctor import doctor, fix, verify
from kimi_memory.operations.forget import forget
from kimi_memory.operations.memory_state import status
from tests.jobs.test_runner import talk


def errors(memory: Memory) -> list[tuple[str, str]]:
    return [(f.check, f.path) for f in doctor(memory) if f.severity is Severity.ERROR]


def test_a_memory_in_use_has_no_faults(memory: Memory) -> None:
    talk(memory)
    memory.distil("s")
    memory.consolidate("daily")
    memory.recall("数据库")
    assert errors(memory) == []


def test_status_counts_what_is_there(memory: Memory) -> None:
    talk(memory)
    assert status(memory).open_sessions == 1
    assert status(memory).waiting == 1
    memory.distil("s")
    found = status(memory)
    assert (found.open_sessions, found.ended_sessions, found.turns, found.waiting) == (0, 1, 4, 0)
    assert found.notes["card"] == {"decision": 1, "rule": 1, "gotcha": 1}
    assert found.broken == ()


def test_status_counts_edits_from_outside(memory: Memory) -> None:
    status(memory)
    (memory.root / "USER.md").write_text("# me\n", encoding="utf-8")
    (memory.root / "notes.md").write_text("# mine\n", encoding="utf-8")
    assert status(memory).external == 2
    assert status(memory).external == 0


def test_an_edited_turn_is_found(memory: Memory) -> None:
    talk(memory)
    memory.distil("s")
    [path] = [p for p in memory.store.files() if p.endswith("session_s.jsonl")]
    file = memory.root / path
    file.write_text(
        file.read_text(encoding="utf-8").replace("MongoDB", "OracleDB"), encoding="utf-8"
    )
    found = errors(memory)
    assert ("sessions", path) in found
    assert any(check == "quotes" for check, _ in found)


def test_a_changed_journal_is_found(memory: Memory) -> None:
    talk(memory)
    [segment] = (memory.root / ".kimi/journal").glob("*.jsonl")
    lines = segment.read_text(encoding="utf-8").splitlines()
    record = json.loads(lines[2])
    record["actor"] = "somebody else"
    lines[2] = json.dumps(record)
    segment.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert any(finding.check == "journal" for finding in verify(memory))


def test_a_session_that_is_no_session_is_named(memory: Memory) -> None:
    bad = memory.root / "short-term/session_bad.jsonl"
    bad.write_bytes(b'{"kind":"session","id":"bad"}\n{"kind":"turn","n":"one"}\n')
    assert ("sessions", "short-term/session_bad.jsonl") in errors(memory)


def test_doctor_fixes_a_read_only_store(memory: Memory, opening) -> None:
    (memory.root / ".kimi/read-only").write_text("a sync failed")
    with Memory.open(memory.root, opening) as hurt:
        assert hurt.store.read_only
        found = doctor(hurt)
        assert any(f.check == "store" and f.fixable for f in found)
        assert "the store takes writes again" in list(fix(hurt, found))
        assert errors(hurt) == []


def test_a_skipped_plugin_is_reported(memory: Memory) -> None:
    memory.host.loaded.append(
        type(memory.host.loaded[0])("bad", "entry point x", skipped="SyntaxError")
    )
    found = [f for f in doctor(memory) if f.check == "plugins"]
    assert [f.severity for f in found] == [Severity.WARNING]


def test_a_memory_without_a_screen_is_an_error(memory: Memory, opening: Opening) -> None:
    blind = replace(opening, host=Host(entry_points=False, disabled=["privacy"]))
    with Memory.open(memory.root, blind) as open_to_secrets:
        found = [f.message for f in doctor(open_to_secrets) if f.severity is Severity.ERROR]
    assert found == ["no plugin screens text, so secrets reach the disk"]


@pytest.mark.parametrize(
    "text", ["---\nid: x\nid: y\n---\n", "---\nid: card-1\nkind: nonsense\n---\n"]
)
def test_a_broken_note_is_named_and_left_alone(memory: Memory, text: str) -> None:
    bad = memory.root / "semantic/bad.md"
    bad.write_text(text, encoding="utf-8")
    assert ("notes", "semantic/bad.md") in errors(memory)
    list(fix(memory, doctor(memory)))
    assert bad.read_text(encoding="utf-8") == text


def test_without_git_the_rest_is_checked(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = memory.root / "semantic/bad.md"
    bad.write_text("---\nid: x\nid: y\n---\n", encoding="utf-8")
    monkeypatch.setenv("PATH", str(tmp_path))
    for found in (verify(memory), doctor(memory)):
        assert ("notes", "semantic/bad.md") in [(one.check, one.path) for one in found]
        [history] = [one for one in found if one.check == "history"]
        assert history.message.startswith("git is not installed")
        assert history.remedy.startswith("Install git")


def test_a_journal_cut_off_at_its_end_is_found_by_the_checkpoint_in_git(memory: Memory) -> None:
    memory.remember("我住在成都", key="me.city")
    [segment] = (memory.root / ".kimi/journal").glob("*.jsonl")
    lines = segment.read_bytes().splitlines(keepends=True)
    segment.write_bytes(b"".join(lines[:-2]))
    assert any(finding.check == "journal" for finding in verify(memory))


def test_tombstones_that_were_cut_off_are_named(memory: Memory) -> None:
    memory.remember("The door code is blue.")
    forget(memory, Wanted(key="note.the-door-code-is-blue"))
    root = memory.root
    memory.close()
    path = root / "mid-term/tombstones.jsonl"
    whole = path.read_bytes()
    path.write_text("garbage {\n", encoding="utf-8")
    with Memory.open(root) as again:
        for found in (doctor(again), verify(again)):
            one, gone = (finding for finding in found if finding.check == "tombstones")
            assert gone.message.startswith("1 tombstone is gone")
            assert one.severity is Severity.WARNING and "may come back" in one.message
            assert one.path.startswith(".kimi/lost+found/")
        assert (root / one.path).read_bytes() == b"garbage {\n"
        (root / one.path).unlink()
        assert [one for one in doctor(again) if one.check == "tombstones"] == [gone]
        path.write_bytes(whole)
        assert not [finding for finding in doctor(again) if finding.check == "tombstones"]


@pytest.mark.parametrize("said", [r"\377\376\0\n", r":1 2 3\0", r"x y\n"])
@pytest.mark.parametrize(
    "command",
    ["", "rev-list", "diff-tree", "cat-file", "for-each-ref", "fsck", "config", "ls-tree"],
)
def test_a_git_that_answers_nonsense_is_a_finding(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, command: str, said: str
) -> None:
    memory.remember("The door code is blue.")
    forget(memory, Wanted(key="note.the-door-code-is-blue"))
    fake, real = tmp_path / "bin/git", shutil.which("git")
    fake.parent.mkdir()
    fake.write_text(
        f'#!/bin/sh\ncase " $* " in *" {command}"*) cat > /dev/null; printf "{said}";;'
        f' *) exec {real} "$@";; esac\n'
    )
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}:{os.environ['PATH']}")
    assert all(one.message for one in [*verify(memory), *doctor(memory)])
