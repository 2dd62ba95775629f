"""Skills: proposed once, valid, inert until installed, undone like any job."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from kimi_memory.plugins.skills.proposals import FOLDER, problems_of, propose, skill, skills

from kimi_memory import Memory
from kimi_memory.domain.operation_types import Wanted
from kimi_memory.errors import NotFoundError
from kimi_memory.operations.forget import forget
from tests.conftest import Clock


def work(
    memory: Memory, count: int = 3, said: str = "", ask: str = "Please deploy the shop"
) -> None:
    for n in range(count):
        with memory.session(f"w{n}-{len(said)}-{len(ask)}") as session:
            session.turn("user", ask)
            session.turn("assistant", said or f"```sh\nmake test\ngit tag v{n}\nmake upload\n```")


def test_a_repeated_procedure_becomes_a_valid_skill(memory: Memory) -> None:
    work(memory)
    report = propose(memory)
    [one] = skills(memory)
    assert report.paths == (one.path,) == (f"{FOLDER}/{one.name}/SKILL.md",)
    assert one.name.startswith("make-test-git-tag-make-upload-")
    assert (problems_of(one.text, one.name), one.problems) == ([], ())
    assert "make test → git tag … → make upload" in one.description
    assert "1. `make test`\n2. `git tag …`\n3. `make upload`\n" in one.text
    assert one.text.count("— [[session_w") == 3
    assert skill(memory, one.name) == one


def test_a_damaged_session_is_named_and_the_others_teach(memory: Memory) -> None:
    work(memory)
    memory.session("bad").turn("user", "Hello.")
    (memory.root / "short-term/session_bad.jsonl").write_bytes(b"\x00\xff{{{")
    report = propose(memory)
    assert len(skills(memory)) == 1
    assert "session_bad.jsonl:1: " in report.left_out[0]


def test_a_chinese_procedure_is_told_in_chinese(memory: Memory) -> None:
    work(memory, said="先跑完整测试，再打标签，最后推送到服务器。", ask="怎么发版？")
    propose(memory)
    [one] = skills(memory)
    assert one.name.startswith("procedure-")
    assert one.description.startswith("3 次会话中重复出现的步骤：跑完整测试 → 打标签")
    assert "## 步骤\n\n1. 跑完整测试\n" in one.text
    assert problems_of(one.text, one.name) == []


def test_the_validator_of_the_format_agrees(memory: Memory) -> None:
    tool = shutil.which("agentskills")
    if tool is None:
        pytest.skip("agentskills is not on this machine")
    work(memory)
    propose(memory)
    [one] = skills(memory)
    subprocess.run([tool, "validate", (memory.root / one.path).parent], check=True)


def test_a_skill_is_proposed_once(memory: Memory, clock: Clock) -> None:
    work(memory)
    first = propose(memory)
    clock.move(days=7)
    assert propose(memory).id == ""
    [one] = skills(memory)
    (memory.root / one.path).unlink()
    assert propose(memory).id == ""
    assert skills(memory) == []
    assert first.id


def test_undo_and_dry_run_leave_no_trace(memory: Memory) -> None:
    work(memory)
    before = set(memory.store.files())
    assert "+name: make-test" in propose(memory, dry_run=True).diff
    assert set(memory.store.files()) == before
    memory.undo(propose(memory).id)
    assert set(memory.store.files()) == before
    assert propose(memory).id


def test_a_candidate_is_inert(memory: Memory) -> None:
    work(memory)
    propose(memory)
    hits = memory.recall("make upload git tag").hits
    assert hits
    assert not any(hit.unit.path.startswith(FOLDER) for hit in hits)


def test_what_was_forgotten_teaches_no_skill(memory: Memory) -> None:
    work(memory)
    for n in range(3):
        forget(memory, Wanted(session=f"w{n}-0-22"))
    memory.remember("make test → git tag … → make upload", key="steps.deploy")
    forget(memory, Wanted(key="steps.deploy"))
    report = propose(memory)
    assert report.id == ""
    assert "forgotten on purpose" in report.left_out[0]


def test_nothing_repeated_is_nothing_to_do(memory: Memory) -> None:
    work(memory, count=2)
    assert propose(memory).id == ""
    with pytest.raises(NotFoundError):
        skill(memory, "none")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("---\nname: other\ndescription: x\n---\n", "its folder 'one'"),
        ("---\nname: One\ndescription: x\n---\n", "a-z, 0-9"),
        ("---\nname: one\n---\n", "1 to 1024"),
        (f"---\nname: one\ndescription: {'x' * 1025}\n---\n", "1 to 1024"),
        ("---\nname: one\ndescription: a <b>\n---\n", "angle brackets"),
        ("---\nname: one\ndescription: x\ncolor: red\n---\n", "unknown key 'color'"),
        ("---\nname: [\n---\n", "SKILL.md:"),
        ("no head", "1 to 64"),
    ],
)
def test_what_programs_would_refuse_is_told(text: str, problem: str) -> None:
    assert any(problem in found for found in problems_of(text, "one"))


def test_a_candidate_that_a_person_broke_is_listed_with_its_problem(memory: Memory) -> None:
    work(memory)
    propose(memory)
    [one] = skills(memory)
    (memory.root / one.path).write_text("broken", encoding="utf-8")
    (memory.root / FOLDER / "loose.md").write_text("x", encoding="utf-8")
    [again] = skills(memory)
    assert again.problems
    assert again.description == ""
