"""Signatures beside bundles: shown where they are, refused where they are of something else."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.cli import run
from kimi_memory.errors import SignatureError, UsageError
from kimi_memory.operations.bundles import export_bundle, import_bundle, unpack_copy
from tests.jobs.test_vouching import Machine, keys, know, machine

__all__ = ["keys", "machine"]
pytestmark = pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="needs OpenSSH")


def test_an_import_says_whose_signature_lies_beside_the_file(
    memory: Memory, machine: Machine, keys: Path, tmp_path: Path, opening: Opening
) -> None:
    laptop = machine("laptop", keys / "li")
    laptop.remember("Bob likes coffee.", key="bob.drink")
    path = tmp_path / "news.bundle"
    found = export_bundle(laptop, path, signed=True)
    assert found.signature == tmp_path / "news.bundle.sig"
    # Anybody can check it with what every system has.
    allowed = tmp_path / "allowed"
    allowed.write_text(f"li {(keys / 'li.pub').read_text(encoding='utf-8')}", encoding="utf-8")
    with path.open("rb") as file:
        sum = subprocess.run(["sha256sum"], stdin=file, capture_output=True, check=True).stdout
    command = ["ssh-keygen", "-Y", "verify", "-f", str(allowed), "-I", "li", "-n", "kimi-memory"]
    subprocess.run([*command, "-s", f"{path}.sig"], input=sum, check=True)
    stranger = import_bundle(memory, path, dry_run=True)
    assert (stranger.signed, stranger.signer) == (True, "")
    know(memory, keys / "li")
    told = import_bundle(memory, path)
    assert (told.signed, told.signer) == (True, "li")
    plain = tmp_path / "plain.bundle"
    assert export_bundle(laptop, plain).signature is None
    copy = unpack_copy(plain, tmp_path / "copy", replace(opening, home=memory.home))
    assert (copy.signed, copy.signer) == (False, "")
    copy = unpack_copy(path, tmp_path / "other", replace(opening, home=memory.home))
    assert (copy.signed, copy.signer) == (True, "li")


def test_a_signature_of_something_else_stops_the_import(
    memory: Memory, machine: Machine, keys: Path, tmp_path: Path
) -> None:
    laptop = machine("laptop", keys / "li")
    laptop.remember("Bob likes coffee.", key="bob.drink")
    path, other = tmp_path / "news.bundle", tmp_path / "other.bundle"
    export_bundle(laptop, path, signed=True)
    with pytest.raises(UsageError, match="already"):
        export_bundle(laptop, path, signed=True)
    laptop.remember("Cleo likes water.", key="cleo.drink")
    # A whole bundle in place of the one that was signed.
    export_bundle(laptop, other)
    other.replace(path)
    head = memory.history.head()
    with pytest.raises(SignatureError, match="no signature of"):
        import_bundle(memory, path)
    assert memory.history.head() == head
    Path(f"{path}.sig").write_bytes(b"x" * 100_000)
    with pytest.raises(SignatureError):
        import_bundle(memory, path)


def test_without_a_key_no_bundle_is_signed(
    memory: Memory, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "news.bundle"
    where = ["--memory", str(memory.root)]
    assert run(["export", "bundle", str(path), "--sign", *where]) == 2
    assert "signing.key" in capsys.readouterr().err
    assert not path.exists()
