"""Which files of a folder are ingested: no links, no hidden ones but those of known programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kimi_memory.capture.find_files import find_files
from kimi_memory.cli import run
from kimi_memory.errors import UsageError
from tests.cli.test_cli import folder  # noqa: F401  a fixture


def lay(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x", encoding="utf-8")


def found(root: Path) -> tuple[list[str], list[str]]:
    """Return the files found, and the first word said of each that was passed over."""
    skipped: list[str] = []
    files = [path.relative_to(root).as_posix() for path in find_files([root], skipped)]
    return files, sorted(line.replace(f"{root}/", "").partition(": ")[0] for line in skipped)


def test_folders_give_their_files_without_hidden_ones(tmp_path: Path) -> None:
    lay(tmp_path, "b.json", "a.md", ".hidden.md", "sub/c.jsonl", ".git/config")
    assert found(tmp_path) == (["a.md", "b.json", "sub/c.jsonl"], [])


def test_transcripts_in_a_folder_of_a_known_program_are_found(tmp_path: Path) -> None:
    lay(tmp_path, "shop/.specstory/history/a.md", "shop/.specstory/.what/b.md", "c.md")
    files, skipped = found(tmp_path)
    assert files == ["c.md", "shop/.specstory/history/a.md"]
    assert skipped == ["shop/.specstory/.what"]


def test_another_hidden_folder_is_named_and_read_when_it_is_named(tmp_path: Path) -> None:
    lay(tmp_path, ".mine/deep/a.md", ".git/b.md")
    assert found(tmp_path) == ([], [".mine"])
    assert found(tmp_path / ".mine") == (["deep/a.md"], [])


def test_links_are_not_followed_out_of_the_folder(tmp_path: Path) -> None:
    lay(tmp_path, "out/secret.md", "in/own.md", "in/sub/deep.md")
    (tmp_path / "in/file.md").symlink_to(tmp_path / "out/secret.md")
    (tmp_path / "in/folder").symlink_to(tmp_path / "out")
    (tmp_path / "in/round").symlink_to(tmp_path / "in")
    (tmp_path / "in/gone.md").symlink_to(tmp_path / "nowhere")
    files, skipped = found(tmp_path / "in")
    assert files == ["own.md", "sub/deep.md"]
    assert skipped == ["file.md", "folder", "gone.md", "round"]
    named = [path.name for path in find_files([tmp_path / "in/file.md"])]
    assert named == ["file.md"]


def test_a_missing_path_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nowhere"):
        list(find_files([tmp_path / "nowhere"]))


def test_what_was_passed_over_is_said(folder: Path, tmp_path: Path, capsys) -> None:  # noqa: F811  the fixture
    lay(tmp_path, "project/.mine/a.md")
    (tmp_path / "project/link.md").symlink_to("/etc/hostname")
    assert run(["ingest", str(tmp_path / "project")]) == 0
    said = capsys.readouterr().err
    assert ".mine: a hidden folder; name it" in said and "link.md: a link" in said
    run(["ingest", "--json", str(tmp_path / "project")])
    told = json.loads(capsys.readouterr().out)
    assert (len(told["skipped"]), told["sessions"]) == (2, [])
