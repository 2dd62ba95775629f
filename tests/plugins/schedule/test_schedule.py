"""``schedule``: printed, installed, repeated and removed, with schedulers that record."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from kimi_memory.cli import run
from kimi_memory.domain.job_registry import scheduled
from tests.cli.answers import answer
from tests.cli.conftest import folder  # noqa: F401  a fixture

CRONTAB = """\
#!/bin/sh
tab="$(dirname "$0")/tab"
case "$1" in
-l) [ -f "$tab" ] && cat "$tab" || { echo "no crontab for me" >&2; exit 1; } ;;
-) cat >"$tab.new"
   grep -q refuse-me "$tab.new" && { echo bad >&2; exit 1; }
   mv "$tab.new" "$tab" ;;
esac
"""
RECORD = '#!/bin/sh\necho "$(basename "$0") $*" >>"$(dirname "$0")/calls"\n'
JOBS = len(scheduled())
FOREIGN = "MAILTO=me\n5 4 * * * echo 100\\% done"


@pytest.fixture
def machine(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:  # noqa: F811  the fixture
    """A folder of small programs that stand before the machine's own on the path."""
    place = tmp_path / "bin"
    place.mkdir()
    for name, text in (
        ("crontab", CRONTAB),
        ("systemctl", RECORD),
        ("launchctl", RECORD),
        ("kubectl", RECORD),
    ):
        (place / name).write_text(text, encoding="utf-8")
        (place / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{place}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(tmp_path))
    return place


def test_cron_entries_come_and_go_and_others_stay(machine: Path, capsys) -> None:
    tab = machine / "tab"
    tab.write_text(FOREIGN, encoding="utf-8")
    assert run(["schedule", "cron", "--install", "--dry-run"]) == 0
    assert "+15 3 * * *" in capsys.readouterr().out
    assert tab.read_text(encoding="utf-8") == FOREIGN
    assert run(["schedule", "cron", "--install"]) == 0
    once = tab.read_text(encoding="utf-8")
    assert once.startswith(FOREIGN)
    capsys.readouterr()
    assert run(["schedule", "cron", "--install"]) == 0
    assert "nothing to change" in capsys.readouterr().out
    assert run(["schedule", "cron", "--install", "--daily", "5:30"]) == 0
    assert "30 5 * * *" in tab.read_text(encoding="utf-8")
    capsys.readouterr()
    assert answer(capsys, "schedule", "cron", "--remove")["changed"] == ["crontab"]
    assert tab.read_text(encoding="utf-8") == FOREIGN
    assert run(["schedule", "cron", "--remove"]) == 0


def test_a_machine_without_a_crontab_gets_one(machine: Path, capsys) -> None:
    assert run(["schedule", "cron", "--install"]) == 0
    line = (machine / "tab").read_text(encoding="utf-8").splitlines()[1]
    command = line.split(" ", 5)[5].removesuffix(" >/dev/null")
    done = subprocess.run(
        ["sh", "-c", f"{command} --dry-run --json"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_what_crontab_refuses_is_told(machine: Path, capsys) -> None:
    (machine / "tab").write_text("# refuse-me\n", encoding="utf-8")
    assert run(["schedule", "cron", "--install"]) == 2
    assert "refused the entries: bad" in capsys.readouterr().err
    (machine / "crontab").write_text("#!/bin/sh\necho broken >&2\nexit 1\n", encoding="utf-8")
    assert run(["schedule", "cron", "--install"]) == 2
    assert "cannot be read: broken" in capsys.readouterr().err


def test_systemd_units_are_placed_and_taken_away(machine: Path, tmp_path: Path, capsys) -> None:
    units = tmp_path / ".config" / "systemd" / "user"
    units.mkdir(parents=True)
    (units / "mine.timer").write_text("[Timer]\n", encoding="utf-8")
    assert run(["schedule", "systemd", "--install"]) == 0
    placed = sorted(path.suffix for path in units.iterdir())
    assert placed == [".service"] * JOBS + [".timer"] * (JOBS + 1)
    assert run(["schedule", "systemd", "--install"]) == 0
    assert run(["schedule", "systemd", "--remove"]) == 0
    assert [path.name for path in units.iterdir()] == ["mine.timer"]
    calls = (machine / "calls").read_text(encoding="utf-8").splitlines()
    verbs = [call.split()[2] for call in calls]
    assert verbs == ["daemon-reload", "enable", "disable", "daemon-reload"]


def test_what_cannot_be_run_is_told_to_the_person(machine: Path, capsys) -> None:
    (machine / "systemctl").write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    assert run(["schedule", "systemd", "--install"]) == 0
    assert "now run: systemctl --user enable --now" in capsys.readouterr().err


def test_launchd_lists_are_placed_and_taken_away(machine: Path, tmp_path: Path) -> None:
    assert run(["schedule", "launchd", "--install", "--weekly", "mon 06:00"]) == 0
    lists = tmp_path / "Library" / "LaunchAgents"
    assert len(list(lists.iterdir())) == JOBS
    assert run(["schedule", "launchd", "--remove"]) == 0
    assert list(lists.iterdir()) == []
    calls = (machine / "calls").read_text(encoding="utf-8").splitlines()
    assert [call.split()[1] for call in calls] == ["bootstrap"] * JOBS + ["bootout"] * JOBS


def test_kubernetes_jobs_are_handed_to_kubectl(machine: Path, capsys) -> None:
    assert run(["schedule", "kubernetes", "--install", "--image", "me/kimi:1"]) == 0
    assert 'image: "me/kimi:1"' in capsys.readouterr().out
    assert run(["schedule", "kubernetes", "--remove", "--dry-run"]) == 0
    assert run(["schedule", "kubernetes", "--remove"]) == 0
    calls = (machine / "calls").read_text(encoding="utf-8").splitlines()
    assert [call.split()[1] for call in calls] == ["apply", "delete"]
    (machine / "kubectl").write_text("#!/bin/sh\necho no cluster >&2\nexit 1\n", encoding="utf-8")
    assert run(["schedule", "kubernetes", "--install"]) == 2
    assert "no cluster" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["cron", "systemd", "launchd", "kubernetes"])
def test_entries_are_printed_and_nothing_is_done(
    machine: Path, tmp_path: Path, kind: str, capsys
) -> None:
    before = sorted(tmp_path.rglob("*"))
    assert run(["schedule", kind]) == 0
    assert "consolidate" in capsys.readouterr().out
    assert answer(capsys, "schedule", kind)["kind"] == kind
    assert sorted(tmp_path.rglob("*")) == before


def test_the_usual_scheduler_is_found_and_times_come_from_the_settings(
    machine: Path, tmp_path: Path, capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert answer(capsys, "schedule")["kind"] == "systemd"
    with (tmp_path / "memory" / "memory.toml").open("a", encoding="utf-8") as file:
        file.write('\n[schedule]\ndaily = "07:45"\n')
    assert run(["schedule", "cron"]) == 0
    assert "45 7 * * * " in capsys.readouterr().out
    monkeypatch.setattr("sys.platform", "darwin")
    assert answer(capsys, "schedule")["kind"] == "launchd"
