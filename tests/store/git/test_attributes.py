"""What git is told about merging, and how a memory of an earlier version learns it."""

import subprocess

import pytest

from kimi_memory.store.git.attributes import CONTENT, NAME, are_old, renew

OLD = """\
# Bytes stay as they are; journals of two forks are joined line by line.
* -text
*.jsonl merge=union
"""


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_the_old_rule_goes_and_a_persons_lines_stay(tmp_path, ends):
    mine = "*.png filter=lfs\n"
    (tmp_path / NAME).write_text((OLD + mine).replace("\n", ends), newline="")
    assert are_old(tmp_path)
    renew(tmp_path)
    text = (tmp_path / NAME).read_text()
    assert "*.jsonl merge=union" not in text
    assert "*.jsonl -merge" in text
    assert mine.strip() in text
    assert not are_old(tmp_path)


def test_what_is_ours_already_stays_as_it_is(tmp_path):
    for content in (CONTENT, "* -text\n"):
        (tmp_path / NAME).write_text(content)
        renew(tmp_path)
        assert (tmp_path / NAME).read_text() == content


def test_a_link_or_nothing_is_left_alone(tmp_path):
    assert not are_old(tmp_path)
    (tmp_path / "elsewhere").write_text(OLD)
    (tmp_path / NAME).symlink_to(tmp_path / "elsewhere")
    renew(tmp_path)
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
    (tmp_path / NAME).write_text(CONTENT)
    asked = ["git", "-C", str(tmp_path), "check-attr", "merge", "--", path]
    answer = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    assert answer.strip() == f"{path}: merge: {said}"
