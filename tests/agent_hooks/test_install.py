"""Installing and removing hooks in real settings files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kimi_memory import Memory
from kimi_memory.agent_hooks.install import run_step
from kimi_memory.cli import run
from kimi_memory.errors import FormatError, UsageError

ROOT = Path("/home/me/memory")


@pytest.fixture
def claude(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The settings of Claude Code of a user of their own."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / ".claude/settings.json"


@pytest.mark.parametrize(
    "own", [None, b"{}", b'{\n    "theme":"dark",   "n": [1,2]}', '\ufeff{"a": "茶"}\r\n'.encode()]
)
def test_remove_brings_back_the_very_bytes(claude: Path, own: bytes | None) -> None:
    if own is not None:
        claude.parent.mkdir()
        claude.write_bytes(own)
    assert run_step("install", "claude", ROOT).state == "installed"
    assert run_step("status", "claude", ROOT).state == "present"
    run_step("install", "claude", Path("/other"))
    assert run_step("remove", "claude", ROOT).state == "removed"
    assert (claude.read_bytes() if claude.exists() else None) == own
    assert not run_step("status", "claude", ROOT).ok


def test_a_file_that_changed_since_keeps_what_changed(claude: Path) -> None:
    run_step("install", "claude", ROOT)
    document = json.loads(claude.read_bytes())
    claude.write_text(json.dumps({**document, "theme": "light"}), encoding="utf-8")
    run_step("remove", "claude", ROOT)
    assert json.loads(claude.read_bytes()) == {"theme": "light"}


def test_a_dry_run_shows_the_change_and_writes_nothing(claude: Path, tmp_path: Path) -> None:
    report = run_step("install", "claude", ROOT, dry_run=True)
    assert "+" in report.text()
    assert "UserPromptSubmit" in report.diff
    assert "would be installed; nothing was written" in report.text()
    assert list(tmp_path.iterdir()) == []
    run_step("install", "claude", ROOT)
    assert run_step("install", "claude", ROOT, dry_run=True).state == "nothing to change"
    assert "would be removed" in run_step("remove", "claude", ROOT, dry_run=True).state


@pytest.mark.parametrize("json_too", [False, True])
def test_the_command_says_of_a_dry_run_that_nothing_was_written(
    claude: Path, tmp_path: Path, memory: Memory, capsys: pytest.CaptureFixture[str], json_too: bool
) -> None:
    named = ["--memory", str(memory.root), *(["--json"] if json_too else [])]
    assert run(["hook", "install", "--host", "claude", "--dry-run", *named]) == 0
    said = capsys.readouterr().out
    assert "would be installed; nothing was written" in said
    assert "Jobs:" not in said, "that is for those who installed it"
    assert not claude.exists()
    assert run(["hook", "install", "--host", "claude", *named]) == 0
    assert "would be" not in capsys.readouterr().out
    before = claude.read_bytes()
    assert run(["hook", "remove", "--host", "claude", "--dry-run", *named]) == 0
    assert "would be removed; nothing was written" in capsys.readouterr().out
    assert claude.read_bytes() == before


def test_nothing_installed_is_nothing_to_remove(claude: Path) -> None:
    claude.parent.mkdir()
    claude.write_bytes(b'{"a":1}')
    run_step("remove", "claude", ROOT)
    assert claude.read_bytes() == b'{"a":1}'


def test_settings_that_are_a_link_stay_one(claude: Path, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles/settings.json"
    real.parent.mkdir()
    real.write_bytes(b"{}")
    real.chmod(0o640)
    claude.parent.mkdir()
    claude.symlink_to(real)
    run_step("install", "claude", ROOT)
    assert claude.is_symlink()
    assert b"hook run" in real.read_bytes()
    assert real.stat().st_mode & 0o777 == 0o640
    run_step("remove", "claude", ROOT)
    assert real.read_bytes() == b"{}"


def test_settings_in_another_encoding_are_refused(claude: Path) -> None:
    claude.parent.mkdir()
    claude.write_bytes(b'{"a": "\xff"}')
    with pytest.raises(UsageError, match="not UTF-8"):
        run_step("install", "claude", ROOT)


def test_a_damaged_record_of_before_is_no_obstacle(claude: Path, tmp_path: Path) -> None:
    run_step("install", "claude", ROOT)
    for path in (tmp_path / "state").rglob("claude.json"):
        path.write_bytes(b"{")
    run_step("remove", "claude", ROOT)
    assert json.loads(claude.read_bytes()) == {}


@pytest.mark.parametrize("host", ["opencode", "openclaw", "hermes", "agents"])
def test_plugins_come_and_go_whole(
    host: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    own = {".hermes/config.yaml": b"# mine\nmodel: x\r\n", ".openclaw/openclaw.json": b'{"a":1}'}
    for name, content in own.items():
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_bytes(content)

    def files() -> dict[str, bytes]:
        found = [path for path in tmp_path.rglob("*") if path.is_file()]
        return {
            str(path.relative_to(tmp_path)): path.read_bytes()
            for path in found
            if "state" not in path.parts
        }

    assert run_step("status", host, ROOT).state == "absent"
    assert run_step("install", host, ROOT, dry_run=True).diff
    assert files() == own
    run_step("install", host, ROOT)
    made = files()
    assert set(made) > set(own) or host in ("hermes", "openclaw")
    assert run_step("status", host, ROOT).state == "present"
    run_step("install", host, ROOT)
    assert files() == made
    compiled = [path.parent / "__pycache__/x.pyc" for path in tmp_path.rglob("__init__.py")]
    for path in compiled:
        path.parent.mkdir()
        path.write_bytes(b"")
    run_step("remove", host, ROOT)
    assert files() == own
    assert not any(path.parent.parent.exists() for path in compiled)


def test_a_file_that_cannot_be_changed_leaves_the_others_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".openclaw").mkdir()
    (tmp_path / ".openclaw/openclaw.json").write_text("// JSON5\n{}", encoding="utf-8")
    with pytest.raises(FormatError):
        run_step("install", "openclaw", ROOT)
    assert not (tmp_path / ".openclaw/extensions").exists()
