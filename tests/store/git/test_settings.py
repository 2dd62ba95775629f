"""Settings of a repository: a new one brings them, one that lost some gets them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from kimi_memory.store.git import settings
from kimi_memory.store.git.command import Git
from kimi_memory.store.git.settings import (
    ATTRIBUTE_TEXT,
    ATTRIBUTES,
    has_old_attributes,
    renew_attributes,
)
from tests.store.git.repositories import git

OLD = """\
# Bytes stay as they are; journals of two forks are joined line by line.
* -text
*.jsonl merge=union
"""


@pytest.mark.parametrize("driver", ["python %O", 'a "quoted" C:\\path\\; # %P', "路径 '带空格' %A"])
def test_a_new_repository_has_them_as_they_are(
    driver: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "format_driver", lambda: driver)
    git(tmp_path, "init", "-q")
    ours, config = Git(tmp_path, tmp_path / ".git"), tmp_path / ".git/config"
    settings.write_new(config)
    wanted = {name.lower(): value for name, value in settings.wanted().items()}
    assert wanted.items() <= settings.read(ours).items()
    written = config.read_bytes()
    settings.write(ours)
    assert config.read_bytes() == written
    git(tmp_path, "config", "gc.auto", "5000")
    settings.write(ours)
    assert wanted.items() <= settings.read(ours).items()


@pytest.mark.parametrize(
    ("config", "marked"),
    [
        ('[kimi]\n\tmemory = "true"\n', True),
        ("[kimi]\n\tmemory = true\n[user]\n\tname = Ann\n", True),
        ("[Kimi]\n  memory\n", True),
        ("[kimi]\n\tmemory = true\n[kimi]\n\tmemory = false\n", False),
        ("[kimi]\n\tmemory = true\n\tmemory = false\n", False),
        ('[kimi]\n\tmemory = true\n[KIMI "x"]\n\tmemory = true\n', True),
        ("[kimi]\n\tmemory = false\n", False),
        ("# [kimi]\n#\tmemory = true\n", False),
        ("", False),
    ],
)
def test_the_mark_is_read_as_git_reads_it(config: str, marked: bool, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    with (tmp_path / ".git/config").open("a") as file:
        file.write(config)
    said = git(tmp_path, "config", "--get", "--type=bool", "kimi.memory", check=False)
    assert (said.strip() == "true") is marked
    assert settings.is_marked(Git(tmp_path, tmp_path / ".git")) is marked


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_the_old_rule_goes_and_a_persons_lines_stay(tmp_path, ends):
    mine = "*.png filter=lfs\n"
    (tmp_path / ATTRIBUTES).write_text((OLD + mine).replace("\n", ends), newline="")
    assert has_old_attributes(tmp_path)
    renew_attributes(tmp_path)
    text = (tmp_path / ATTRIBUTES).read_text()
    assert "*.jsonl merge=union" not in text
    assert "*.jsonl -merge" in text
    assert mine.strip() in text
    assert not has_old_attributes(tmp_path)


def test_what_is_ours_already_stays_as_it_is(tmp_path):
    for content in (ATTRIBUTE_TEXT, "* -text\n"):
        (tmp_path / ATTRIBUTES).write_text(content)
        renew_attributes(tmp_path)
        assert (tmp_path / ATTRIBUTES).read_text() == content


def test_a_link_or_nothing_is_left_alone(tmp_path):
    assert not has_old_attributes(tmp_path)
    (tmp_path / "elsewhere").write_text(OLD)
    (tmp_path / ATTRIBUTES).symlink_to(tmp_path / "elsewhere")
    renew_attributes(tmp_path)
    assert (tmp_path / "elsewhere").read_text() == OLD


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("short-term/session_s.jsonl", "unset"),
        ("episodic/sessions/2026-02/session_s.md", "unset"),
        ("mid-term/jobs/distil-1.json", "unset"),
        ("MEMORY.md", "kimi-memory"),
        ("semantic/people.md", "kimi-memory"),
        ("episodic/daily/2026-02-27.md", "unset"),
        ("semantic/people/ann.md", "unspecified"),
        ("USER.md", "unspecified"),
        ("mid-term/tombstones.jsonl", "union"),
        ("mid-term/usage.jsonl", "union"),
    ],
)
def test_git_understands_the_rules(tmp_path, path, said):
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / ATTRIBUTES).write_text(ATTRIBUTE_TEXT)
    asked = ["git", "-C", str(tmp_path), "check-attr", "merge", "--", path]
    answer = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    assert answer.strip() == f"{path}: merge: {said}"
