"""``skills``: found, listed, shown and installed from the command line."""

from __future__ import annotations

import json
from pathlib import Path

from kimi_memory.cli import run
from tests.cli.conftest import folder  # noqa: F401  a fixture

SAID = "```sh\nmake test\nmake upload\n```"


def work() -> None:
    for n in range(3):
        run(["session", "start", f"s{n}"])
        run(["session", "turn", f"s{n}", "请发布商店"])
        run(["session", "turn", f"s{n}", SAID, "--role", "assistant"])


def test_a_skill_is_found_shown_and_installed(folder, tmp_path: Path, capsys) -> None:  # noqa: F811  the fixture
    assert run(["skills", "list"]) == 0
    assert "No candidates" in capsys.readouterr().out
    work()
    capsys.readouterr()
    assert run(["skills", "find", "--dry-run"]) == 0
    assert "+name: make-test-make-upload" in capsys.readouterr().out
    assert run(["skills", "find"]) == 0
    capsys.readouterr()
    assert run(["skills", "list", "--json"]) == 0
    [one] = json.loads(capsys.readouterr().out)
    assert run(["skills", "list"]) == 0
    assert one["name"] in capsys.readouterr().out
    assert run(["skills", "show", one["name"]]) == 0
    assert "1. `make test`" in capsys.readouterr().out
    dest = tmp_path / "skills"
    assert run(["skills", "install", one["name"], str(dest)]) == 0
    placed = dest / one["name"] / "SKILL.md"
    assert placed.read_text(encoding="utf-8") == one["text"]
    assert run(["skills", "install", one["name"], str(dest)]) == 0
    assert "there already" in capsys.readouterr().out
    placed.write_text("mine", encoding="utf-8")
    assert run(["skills", "install", one["name"], str(dest)]) == 2
    assert run(["skills", "install", one["name"], str(dest), "--force"]) == 0
    assert placed.read_text(encoding="utf-8") == one["text"]
    assert run(["skills", "install", one["name"]]) == 2
    (folder / one["path"]).write_text("broken", encoding="utf-8")
    assert run(["skills", "install", one["name"], str(dest)]) == 2
    assert run(["skills", "list"]) == 0
    assert "not valid" in capsys.readouterr().out


def test_the_weekly_job_looks_for_skills(folder, capsys) -> None:  # noqa: F811  the fixture
    work()
    assert run(["consolidate", "weekly"]) == 0
    assert "skills make-test-make-upload" in capsys.readouterr().out
    assert run(["skills", "show", "none"]) == 11


def test_a_disabled_plugin_is_left_out_of_the_weekly_job(
    folder,  # noqa: F811  the fixture
    tmp_path: Path,
    monkeypatch,
    capsys,
) -> None:
    work()
    (tmp_path / "config/kimi_memory").mkdir(parents=True)
    settings = tmp_path / "config/kimi_memory/config.toml"
    settings.write_text('disabled = ["skills"]', encoding="utf-8")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    capsys.readouterr()
    assert run(["consolidate", "weekly"]) == 0
    assert "make-test" not in capsys.readouterr().out
