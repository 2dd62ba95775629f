"""The audit as a whole: it finds planted rot, prints no secret, and changes nothing."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from kimi_memory.plugins.audit import Audit, audit
from kimi_memory.plugins.audit.checks import Check

from kimi_memory import Memory
from kimi_memory.hooks.host import Host
from kimi_memory.nlp.basic.safe_text import fence
from tests.jobs.test_runner import talk

NOW = datetime(2026, 2, 27, tzinfo=UTC)
# in two pieces, so that no scanner takes this file for a leak
SECRET = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
ROTTEN = f"""\
# 记忆

- 我们部署在 8080 端口
- 我们部署在 8081 端口
- 小李喜欢喝绿茶
- 小李喜欢喝绿茶
- The token is {SECRET}
- 优惠有效期至 2025-03-01
"""


@pytest.fixture(scope="module")
def host() -> Host:
    return Host(entry_points=False)


def tree(root: Path) -> dict[str, tuple[str, int]]:
    return {
        p.relative_to(root).as_posix(): (
            hashlib.sha256(p.read_bytes()).hexdigest(),
            p.stat().st_mtime_ns,
        )
        for p in root.rglob("*")
        if p.is_file()
    }


def found(report: Audit) -> dict[str, list[int]]:
    checks: dict[str, list[int]] = {}
    for rot in report.findings:
        checks.setdefault(str(rot.check), []).append(rot.line)
    return checks


def test_planted_rot_is_found_with_its_line(tmp_path: Path, host: Host) -> None:
    recalled = fence(["小李喜欢喝绿茶"], "0123456789abcdef")
    (tmp_path / "MEMORY.md").write_text(f"{ROTTEN}\n{recalled}\n", encoding="utf-8")
    before = tree(tmp_path)
    report = audit(tmp_path, host, NOW)
    assert tree(tmp_path) == before
    checks = found(report)
    assert checks["contradiction"] == [4]
    assert checks["duplicate"] == [6]
    assert checks["secret"] == [7]
    assert checks["stale"][0] == 8
    assert checks["re-captured"] == [10]
    assert report.counts[Check.UNPROVEN] == report.memos - 0
    assert SECRET not in repr(report)
    assert all(rot.remedy.endswith(".") for rot in report.findings)


def test_a_memory_in_use_is_not_touched(memory: Memory, host: Host) -> None:
    talk(memory)
    memory.distil("s")
    memory.consolidate("daily")
    before = tree(memory.root)
    report = audit(memory.root, host, NOW)
    assert tree(memory.root) == before
    assert report.systems["kimi"] == 3
    assert report.turns >= 4
    # A decision and what people say of themselves hold until somebody says otherwise.
    assert report.counts[Check.STALE] == 0
    assert not {"secret", "duplicate", "re-captured", "unreadable"} & set(found(report))
    [page] = memory.root.glob("semantic/*/decision*.md")
    page.write_text(page.read_text(encoding="utf-8").replace("> ", "> nobody said "), "utf-8")
    lost = [rot for rot in audit(memory.root, host, NOW).findings if "quoted words" in rot.why]
    assert [rot.path for rot in lost] == [page.relative_to(memory.root).as_posix()]


def test_exports_are_audited_row_by_row(tmp_path: Path, host: Host) -> None:
    rows = [
        {"id": "1", "memory": "用户住在杭州", "created_at": "2026-02-01T00:00:00Z"},
        {"id": "2", "memory": "用户住在杭州", "created_at": "2026-02-02T00:00:00Z"},
        {"id": "3", "memory": f"token {SECRET}", "created_at": "2024-02-02T00:00:00Z"},
    ]
    text = json.dumps({"results": rows}, ensure_ascii=False, indent=1)
    (tmp_path / "m.json").write_text(text, encoding="utf-8")
    checks = found(audit(tmp_path / "m.json", host, NOW))
    lines = text.splitlines()
    assert '"2"' in lines[checks["duplicate"][0] - 1]
    assert SECRET in lines[checks["secret"][0] - 1]
    assert '"3"' in lines[checks["stale"][0] - 1]


def test_a_secret_across_a_border_is_found_once(tmp_path: Path, host: Host) -> None:
    for shift in (0, 45):
        text = "x " * ((100_000 - shift - 8) // 2) + f"\n{SECRET}\n" + "y" * 5000
        (tmp_path / "big.md").write_text(text, encoding="utf-8")
        assert found(audit(tmp_path, host, NOW))["secret"] == [2], shift


def test_unreadable_files_are_findings(tmp_path: Path, host: Host) -> None:
    (tmp_path / "g.md").write_bytes("- 我喜欢茶".encode("gb18030"))
    (tmp_path / "b.bin").write_bytes(b"\0")
    report = audit(tmp_path, host, NOW)
    assert found(report)["unreadable"] == [1]
    assert report.files == 1


def test_nothing_at_all_is_no_rot(tmp_path: Path, host: Host) -> None:
    report = audit(tmp_path, host, NOW)
    assert (report.files, report.memos, report.findings) == (0, 0, ())
    assert set(report.counts.values()) == {0}
