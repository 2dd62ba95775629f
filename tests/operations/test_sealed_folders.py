"""Sealed folders by real gocryptfs and age: what is on disk, and who can open it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.cli import run
from kimi_memory.errors import UsageError
from kimi_memory.operations.sealed_folders import (
    add_recipient,
    close_sealed,
    create_sealed,
    list_recipients,
    open_sealed,
    remove_recipient,
)
from kimi_memory.runs.identity import read_identity

pyrage = pytest.importorskip("pyrage", reason="needs the library of kimi-memory[encrypt]")
pytestmark = pytest.mark.skipif(
    not (shutil.which("gocryptfs") and shutil.which("fusermount3") and Path("/dev/fuse").exists()),
    reason="needs gocryptfs, fuse3 and /dev/fuse",
)
WORD = "北京的茶馆叫海燕 heron-teahouse"


class Keys:
    """Two people with a key each."""

    def __init__(self, base: Path) -> None:
        self.public, self.file = {}, {}
        for name in ("lin", "wen"):
            made = pyrage.x25519.Identity.generate()
            self.public[name] = str(made.to_public())
            self.file[name] = base / f"{name}.key"
            self.file[name].write_text(str(made))


@pytest.fixture
def keys(tmp_path: Path) -> Keys:
    return Keys(tmp_path)


@pytest.fixture
def sealed(tmp_path: Path, keys: Keys) -> Iterator[Path]:
    root = tmp_path / "sealed"
    create_sealed(root, [keys.public["lin"]])
    yield root
    for mount in (tmp_path / "open", tmp_path / "again"):
        with suppress(UsageError):
            close_sealed(mount)


def holds(root: Path, word: str) -> bool:
    return any(
        word.encode() in path.read_bytes() or word in path.name
        for path in root.rglob("*")
        if path.is_file()
    )


def test_a_memory_lives_in_it_and_nothing_of_it_is_on_disk(
    tmp_path: Path, sealed: Path, keys: Keys
) -> None:
    mount = tmp_path / "open"
    open_sealed(sealed, mount, keys.file["lin"])
    with Memory.create(mount / "memory", opening=Opening(background=False)) as memory:
        memory.remember(WORD, key="teahouse.name")
        assert read_identity(memory).sealed
        assert WORD in memory.recall("茶馆叫什么？").hits[0].unit.text
    assert run(["doctor", "--memory", str(mount / "memory")]) == 0
    assert holds(mount, WORD) and not holds(sealed, WORD) and not holds(sealed, "memory.toml")
    close_sealed(mount)
    assert not any(mount.iterdir())
    open_sealed(sealed, mount, keys.file["lin"])
    with Memory.open(mount / "memory", Opening(background=False)) as memory:
        assert WORD in memory.recall("茶馆叫什么？").hits[0].unit.text


def test_who_has_no_key_opens_nothing(tmp_path: Path, sealed: Path, keys: Keys) -> None:
    with pytest.raises(UsageError, match="another key"):
        open_sealed(sealed, tmp_path / "open", keys.file["wen"])
    add_recipient(sealed, keys.public["wen"], keys.file["lin"])
    assert list_recipients(sealed) == [keys.public["lin"], keys.public["wen"]]
    open_sealed(sealed, tmp_path / "open", keys.file["wen"])
    with pytest.raises(UsageError, match="no recipient"):
        add_recipient(sealed, "age1nonsense", keys.file["lin"])
    stranger = tmp_path / "stranger.key"
    stranger.write_text(str(pyrage.x25519.Identity.generate()))
    with pytest.raises(UsageError, match="another key"):
        add_recipient(sealed, keys.public["wen"], stranger)


def test_who_was_removed_cannot_read_on_with_an_old_key(
    tmp_path: Path, sealed: Path, keys: Keys
) -> None:
    add_recipient(sealed, keys.public["wen"], keys.file["lin"])
    mount = tmp_path / "open"
    open_sealed(sealed, mount, keys.file["lin"])
    (mount / "note.md").write_text(WORD)
    (mount / "link").symlink_to("note.md")
    with pytest.raises(UsageError, match="is open"):
        remove_recipient(sealed, keys.public["wen"], keys.file["lin"])
    close_sealed(mount)
    # What a removed member may have kept: the passphrase, wrapped for its key.
    kept = (sealed / "key.age").read_bytes()
    remove_recipient(sealed, keys.public["wen"], keys.file["lin"])
    assert list_recipients(sealed) == [keys.public["lin"]]
    open_sealed(sealed, mount, keys.file["lin"])
    assert (mount / "note.md").read_text() == WORD and (mount / "link").read_text() == WORD
    (mount / "later.md").write_text("later")
    close_sealed(mount)
    passphrase = pyrage.decrypt(
        kept, [pyrage.x25519.Identity.from_str(keys.file["wen"].read_text())]
    )
    again = tmp_path / "again"
    again.mkdir()
    tried = subprocess.run(
        ["gocryptfs", "-q", str(sealed / "data"), str(again)], input=passphrase + b"\n", check=False
    )
    assert tried.returncode and not os.path.ismount(again)
    assert [path.name for path in tmp_path.glob(".sealed.*")] == []
    with pytest.raises(UsageError, match="Nobody could open it any more"):
        remove_recipient(sealed, keys.public["lin"], keys.file["lin"])


def test_the_passphrase_stands_in_no_file_and_no_argument(
    tmp_path: Path, sealed: Path, keys: Keys
) -> None:
    mount = tmp_path / "open"
    open_sealed(sealed, mount, keys.file["lin"])
    identity = pyrage.x25519.Identity.from_str(keys.file["lin"].read_text())
    passphrase = pyrage.decrypt((sealed / "key.age").read_bytes(), [identity]).decode()
    assert not holds(sealed, passphrase)
    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # One that ended meanwhile.
            lines.append(path.read_bytes())
    assert any(b"gocryptfs" in line for line in lines)
    assert not any(passphrase.encode() in line for line in lines)


def test_the_command(
    tmp_path: Path, keys: Keys, capsys: pytest.CaptureFixture[str]
) -> None:  # fmt: skip
    root, mount, lin = (str(tmp_path / name) for name in ("vault", "open", "lin.key"))
    assert run(["sealed", "create", root, "--to", keys.public["lin"]]) == 0
    assert run(["sealed", "create", root, "--to", keys.public["lin"]]) == 2
    assert run(["sealed", "open", root, mount, "--identity", lin]) == 0
    assert os.path.ismount(mount)
    assert run(["sealed", "add", root, keys.public["wen"], "--identity", lin, "--dry-run"]) == 0
    assert run(["sealed", "close", mount]) == 0 and not os.path.ismount(mount)
    assert run(["sealed", "close", mount]) == 2
    assert run(["sealed", "list", root]) == 0
    assert keys.public["lin"] in capsys.readouterr().out
    assert run(["sealed", "open", str(tmp_path), mount, "--identity", lin]) == 2


def test_a_dry_run_of_the_command_refuses_what_it_would_and_changes_nothing(
    tmp_path: Path, keys: Keys, capsys: pytest.CaptureFixture[str]
) -> None:
    root, lin, wen = tmp_path / "茶馆", str(keys.file["lin"]), str(keys.file["wen"])
    make = ["sealed", "create", str(root), "--to", keys.public["lin"]]
    assert run([*make, "--dry-run", "--json"]) == 0 and not root.exists()
    assert json.loads(capsys.readouterr().out)["would"].startswith("Would make the sealed folder")
    assert run([*make, "--to", "age1nonsense", "--dry-run"]) == UsageError.exit_code
    assert run(make) == 0
    assert run([*make, "--dry-run"]) == UsageError.exit_code
    before = [path.read_bytes() for path in sorted(root.glob("*.*"))]
    let, put_out = (
        ["sealed", step, str(root), keys.public["wen"], "--dry-run", "--identity"]
        for step in ("add", "remove")
    )
    assert run([*let, lin]) == 0 and run([*let, wen]) == UsageError.exit_code
    assert run([*put_out, lin]) == UsageError.exit_code
    assert [path.read_bytes() for path in sorted(root.glob("*.*"))] == before


def test_without_gocryptfs_no_folder_is_begun(
    tmp_path: Path, keys: Keys, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="gocryptfs is missing"):
        create_sealed(tmp_path / "vault", [keys.public["lin"]])
    assert not (tmp_path / "vault").exists()


def test_the_command_lets_in_who_keeps_a_space(
    tmp_path: Path, keys: Keys, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    pytest.importorskip("cedarpy", reason="needs the library of kimi-memory[team]")
    for name in ("config", "state"):
        monkeypatch.setenv(f"XDG_{name.upper()}_HOME", str(tmp_path / name))
    root, mount, lin = (str(tmp_path / name) for name in ("vault", "open", "lin.key"))
    assert run(["sealed", "create", root, "--to", keys.public["lin"]]) == 0
    assert run(["space", "create", "shop", "--folder", str(tmp_path / "space")]) == 0
    let = ["sealed", "add", root, "--space", "shop", "--identity", lin]
    assert run(let) == UsageError.exit_code
    assert "no keeper or owner whose key" in capsys.readouterr().err
    add = ["space", "add", "--recipient"]
    assert run([*add, keys.public["wen"], "wen", "--role", "keeper"]) == 0
    reader = str(pyrage.x25519.Identity.generate().to_public())
    assert run([*add, reader, "reader", "--role", "reader"]) == 0
    assert run([*add, str(tmp_path / "wen.key"), "file", "--role", "owner"]) == 0
    assert run([*let, "--dry-run"]) == 0 and list_recipients(Path(root)) == [keys.public["lin"]]
    capsys.readouterr()
    assert run(let) == 0
    assert capsys.readouterr().out.startswith("wen can open")
    assert list_recipients(Path(root)) == [keys.public["lin"], keys.public["wen"]]
    assert run(["sealed", "open", root, mount, "--identity", str(keys.file["wen"])]) == 0
    assert run(["sealed", "close", mount]) == 0
    assert run([*let, keys.public["wen"]]) == UsageError.exit_code
