"""Backup: what is restored is what was there, and what is damaged is said."""

from __future__ import annotations

import hashlib
import io
import json
import os
import tarfile
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.cli import run
from kimi_memory.errors import NotFoundError, UsageError
from kimi_memory.operations.backup import LIST, back_up, check_backup, restore


@pytest.fixture
def filled(memory: Memory) -> Memory:
    memory.remember("The staging database listens on port 6543.", key="staging.port")
    memory.session("今天").turn("user", "部署定在每周五下午。")
    memory.batch.flush()
    return memory


def tree(root: Path) -> dict[str, bytes]:
    files = (path for path in root.rglob("*") if path.is_file())
    found = {path.relative_to(root).as_posix(): path.read_bytes() for path in files}
    return {name: content for name, content in found.items() if not name.startswith(".kimi/")}


def test_what_is_restored_is_what_was_there(
    filled: Memory, opening: Opening, tmp_path: Path
) -> None:
    found = back_up(filled, tmp_path)
    assert found.path.name == f"{filled.root.name}-20260227T090000Z.tar.gz"
    assert (found.problems, found.files) == ((), len(tree(filled.root)))
    assert check_backup(found.path) == found
    restore(found.path, tmp_path / "again")
    assert tree(tmp_path / "again") == tree(filled.root)
    with Memory.open(tmp_path / "again", opening) as other:
        assert other.recall("哪天部署").hits
        commits = [commit.hash for commit in other.history.log(limit=10)]
        assert commits == [commit.hash for commit in filled.history.log(limit=10)]


def test_an_archive_that_is_there_or_lies_in_the_memory_is_refused(
    filled: Memory, tmp_path: Path
) -> None:
    path = tmp_path / "a.tar.gz"
    path.write_bytes(b"mine")
    with pytest.raises(UsageError, match="there already"):
        back_up(filled, path)
    assert path.read_bytes() == b"mine"
    with pytest.raises(UsageError, match="in the memory itself"):
        back_up(filled, filled.root / "a.tar.gz")
    with pytest.raises(UsageError, match="cannot be written"):
        back_up(filled, tmp_path / "no/such/a.tar.gz")
    assert not list(tmp_path.glob(".a.tar*"))


def changed(path: Path, how: str) -> None:
    """Write an archive again with one fault."""
    with tarfile.open(path, "r:gz") as archive:
        members = {m.name: archive.extractfile(m) for m in archive}
        contents = {name: file.read() for name, file in members.items() if file}
    match how:
        case "changed":
            contents["USER.md"] += b"!"
        case "missing":
            del contents["USER.md"]
        case "added":
            contents = {"planted.md": b"x", **contents}
    with tarfile.open(path, "w:gz") as archive:
        for name, content in contents.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("changed", "USER.md: its bytes changed"),
        ("missing", "USER.md: it is missing"),
        ("added", "planted.md: it is not in the list"),
    ],
)
def test_every_damage_is_named_and_nothing_is_restored(
    filled: Memory, tmp_path: Path, how: str, said: str
) -> None:
    path = back_up(filled, tmp_path / "a.tar.gz").path
    changed(path, how)
    assert check_backup(path).problems == (said,)
    with pytest.raises(UsageError, match="Nothing was restored"):
        restore(path, tmp_path / "again")
    assert not (tmp_path / "again").exists()


@pytest.mark.parametrize("kept", [0, 10, -200])
def test_what_is_no_whole_backup_is_refused(filled: Memory, tmp_path: Path, kept: int) -> None:
    path = back_up(filled, tmp_path / "a.tar.gz").path
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(UsageError, match="no whole backup"):
        check_backup(path)
    other = tmp_path / "other.tar.gz"
    with tarfile.open(other, "w:gz") as archive:
        info = tarfile.TarInfo(LIST)
        archive.addfile(info, io.BytesIO(b""))
    with pytest.raises(UsageError, match="no whole backup"):
        check_backup(other)


def test_an_archive_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match=r"nothing\.tar\.gz"):
        check_backup(tmp_path / "nothing.tar.gz")


def test_a_list_that_would_fill_all_memory_is_not_read(tmp_path: Path) -> None:
    path, size = tmp_path / "bomb.tar.gz", 1 << 27
    with tarfile.open(path, "w:gz", compresslevel=1) as archive:
        info = tarfile.TarInfo(LIST)
        info.size = size
        archive.addfile(info, io.BytesIO(bytes(size)))
    assert path.stat().st_size < size / 100
    with pytest.raises(UsageError, match="list is too long"):
        check_backup(path)


def test_a_folder_that_holds_something_is_left_alone(filled: Memory, tmp_path: Path) -> None:
    path = back_up(filled, tmp_path / "a.tar.gz").path
    (tmp_path / "full").mkdir()
    (tmp_path / "full/mine.md").write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match="not empty"):
        restore(path, tmp_path / "full")


def test_backup_from_the_command_line(filled: Memory, tmp_path: Path, capsys) -> None:
    path = str(tmp_path / "a.tar.gz")
    assert run(["backup", path, "--memory", str(filled.root)]) == 0
    assert "written and checked" in capsys.readouterr().out
    assert run(["backup", path, "--verify", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["problems"] == []
    assert run(["backup", path, "--restore", str(tmp_path / "again")]) == 0
    assert (tmp_path / "again/memory.toml").is_file()
    changed(Path(path), "changed")
    assert run(["backup", path, "--verify"]) == 1
    assert "damaged: USER.md" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["../planted.md", "/tmp/planted.md", "a/../../planted.md"])
def test_a_forged_archive_writes_nothing_outside(filled: Memory, tmp_path: Path, name: str) -> None:
    path = tmp_path / "a.tar.gz"
    back_up(filled, path)
    with tarfile.open(path, "r:gz") as archive:
        members = {m.name: archive.extractfile(m) for m in archive}
        contents = {one: file.read() for one, file in members.items() if file}
    listed = json.loads(contents[LIST]) | {name: hashlib.sha256(b"x").hexdigest()}
    contents |= {name: b"x", LIST: json.dumps(listed).encode()}
    with tarfile.open(path, "w:gz") as archive:
        for one, content in contents.items():
            info = tarfile.TarInfo(one)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    with pytest.raises(UsageError, match=r"planted\.md is no file of a memory"):
        restore(path, tmp_path / "again")
    assert not list(tmp_path.rglob("planted.md"))


def test_a_name_that_is_no_text_is_backed_up_and_restored(filled: Memory, tmp_path: Path) -> None:
    odd = os.fsdecode(b"notes\xff\xfe.md")
    (filled.root / odd).write_bytes(b"kept")
    path = tmp_path / "odd.tar.gz"
    assert not back_up(filled, path).problems
    restore(path, tmp_path / "back")
    assert (tmp_path / "back" / odd).read_bytes() == b"kept"
