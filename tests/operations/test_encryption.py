"""Bundles that are encrypted for keys of age and of SSH."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.cli import run
from kimi_memory.errors import UsageError
from kimi_memory.operations.bundles import export_bundle, import_bundle, unpack_copy
from kimi_memory.operations.encryption import is_encrypted


@pytest.fixture
def keys(tmp_path: Path) -> tuple[Path, str]:
    """An identity file of age, and its recipient."""
    pyrage = pytest.importorskip("pyrage")
    made = pyrage.x25519.Identity.generate()
    path = tmp_path / "key.txt"
    path.write_text(f"# mine\n{made}\n", encoding="utf-8")
    return path, str(made.to_public())


def test_an_encrypted_bundle_is_the_memory_for_its_recipients_alone(
    memory: Memory, opening: Opening, tmp_path: Path, keys: tuple[Path, str]
) -> None:
    identity, recipient = keys
    other = sys.modules["pyrage"].x25519.Identity.generate()
    team = tmp_path / "team.txt"
    team.write_text(f"# the team\n\n{other.to_public()}\n", encoding="utf-8")
    memory.remember("The vault opens at nine.", key="vault.hours")
    path = tmp_path / "mine.age"
    done = export_bundle(memory, path, recipients=[recipient, str(team)])
    assert is_encrypted(path)
    assert done.bytes == path.stat().st_size
    assert b"kimi_memory" not in path.read_bytes()
    made = unpack_copy(path, tmp_path / "new", opening, identity=identity)
    assert made.commit == memory.history.head()
    found = import_bundle(memory, path, identity=identity)
    assert found.path == path
    assert found.merged is not None
    assert found.merged.commit == ""
    stranger = tmp_path / "stranger.txt"
    stranger.write_text(str(sys.modules["pyrage"].x25519.Identity.generate()), encoding="utf-8")
    with pytest.raises(UsageError, match=r"mine\.age: .*for another key"):
        unpack_copy(path, tmp_path / "no", opening, identity=stranger)
    with pytest.raises(UsageError, match=r"mine\.age is encrypted"):
        import_bundle(memory, path)
    content = bytearray(path.read_bytes())
    for at in (30, len(content) // 2, len(content) - 1):
        content[at] ^= 1
        path.write_bytes(content)
        with pytest.raises(UsageError, match=r"mine\.age"):
            unpack_copy(path, tmp_path / "no", opening, identity=identity)
        content[at] ^= 1
    assert not (tmp_path / "no").exists()


def test_keys_of_ssh_serve_as_well(
    memory: Memory, tmp_path: Path, keys: tuple[Path, str], capsys: pytest.CaptureFixture[str]
) -> None:
    if shutil.which("ssh-keygen") is None:
        pytest.skip("needs ssh-keygen")
    key = tmp_path / "id"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    path, root = tmp_path / "mine.age", ["--memory", str(memory.root)]
    assert run(["export", "bundle", str(path), "--encrypt", f"{key}.pub", *root]) == 0
    assert run(["import", "bundle", str(path), "--identity", str(key), *root]) == 0
    assert "Nothing to merge" in capsys.readouterr().out
    assert run(["import", "bundle", str(path), "--identity", str(keys[0]), *root]) == 2


def test_what_is_no_key_is_named(memory: Memory, tmp_path: Path, keys: tuple[Path, str]) -> None:
    path = tmp_path / "mine.age"
    for recipient in ("age1x", "ssh-ed25519 x", "somebody"):
        with pytest.raises(UsageError, match="is no recipient"):
            export_bundle(memory, path, recipients=[recipient])
    assert not path.exists()
    with pytest.raises(UsageError):
        export_bundle(memory, tmp_path / "none" / "mine.age", recipients=[keys[1]])
    export_bundle(memory, path, recipients=[keys[1]])
    odd = tmp_path / "odd.txt"
    odd.write_text("AGE-SECRET-KEY-1", encoding="utf-8")
    for identity in (odd, path, tmp_path / "none"):
        with pytest.raises(UsageError, match="is no identity"):
            import_bundle(memory, path, identity=identity)
    assert sorted(one.name for one in tmp_path.glob(".*")) == []


def test_without_the_library_its_name_is_said(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyrage", None)
    with pytest.raises(UsageError, match=r"kimi-memory\[encrypt\]"):
        export_bundle(memory, tmp_path / "mine.age", recipients=["age1x"])
    path = tmp_path / "other.age"
    path.write_bytes(b"age-encryption.org/v1\n")
    with pytest.raises(UsageError, match=r"kimi-memory\[encrypt\]"):
        import_bundle(memory, path, identity=path)
    export_bundle(memory, tmp_path / "plain.bundle")
