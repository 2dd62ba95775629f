"""Statements of what a memory holds: signed, checked, and refused where they are not right."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from kimi_memory import Memory
from kimi_memory.cli import run
from kimi_memory.errors import SignatureError, UsageError
from kimi_memory.operations.attest import attest, check_statement, write_statement
from kimi_memory.store.git.signers import GIT, sign
from tests.jobs.test_vouching import Machine, keys, know, machine
from tests.test_copies import git

__all__ = ["keys", "machine"]
pytestmark = pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="needs OpenSSH")


def test_a_statement_is_of_this_history_or_refused(
    memory: Memory, machine: Machine, keys: Path, tmp_path: Path
) -> None:
    laptop = machine("laptop", keys / "li")
    laptop.remember("Bob likes coffee.", key="bob.drink")
    path = tmp_path / "state.json"
    write_statement(path, *attest(laptop))
    statement = json.loads(path.read_bytes())
    # Anybody can check both with what every system has.
    listed = git(laptop.root, "ls-files", "-z").split("\0")[:-1]
    sums = "".join(
        f"{hashlib.sha256((laptop.root / name).read_bytes()).hexdigest()}  {name}\n"
        for name in sorted(listed)
        if not name.startswith(".git")
    )
    assert statement["tree_sha256"] == hashlib.sha256(sums.encode()).hexdigest()
    allowed = tmp_path / "allowed"
    allowed.write_text(f"li {(keys / 'li.pub').read_text(encoding='utf-8')}", encoding="utf-8")
    command = ["ssh-keygen", "-Y", "verify", "-f", str(allowed), "-I", "li", "-n", "kimi-memory"]
    with path.open("rb") as file:
        subprocess.run([*command, "-s", f"{path}.sig"], stdin=file, check=True)
    with pytest.raises(UsageError, match="No keys are known"):
        check_statement(laptop, path)
    know(laptop, keys / "li")
    found, told = check_statement(laptop, path)
    assert (told.principal, found.notes, found.turns) == ("li", statement["notes"], 1)
    know(memory, keys / "li")
    with pytest.raises(SignatureError, match="not in this history"):
        check_statement(memory, path)
    path.write_bytes(path.read_bytes().replace(b'"turns": 1', b'"turns": 2'))
    with pytest.raises(SignatureError, match="was changed since li signed it"):
        check_statement(laptop, path)


def test_without_a_key_there_is_nothing_to_sign_with(memory: Memory) -> None:
    with pytest.raises(UsageError, match="signing"):
        attest(memory)


def test_a_key_that_waits_for_a_password_gives_its_reason(memory: Memory, tmp_path: Path) -> None:
    key = tmp_path / "locked"
    make = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "secret", "-f", str(key)]
    subprocess.run(make, check=True)
    with pytest.raises(SignatureError, match=r"locked cannot sign: .*incorrect") as error:
        sign(key, b"words", GIT)
    assert "Enter passphrase" not in str(error.value)


def test_keys_are_known_and_statements_made_from_the_command_line(
    memory: Memory, keys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    memory.close()
    monkeypatch.setenv("KIMI_MEMORY", str(memory.root))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    place = tmp_path / "config" / "kimi_memory"
    place.mkdir(parents=True)
    (place / "config.toml").write_text(f'[signing]\nkey = "{keys / "li"}"\n', encoding="utf-8")
    assert run(["trust", "list"]) == 0
    assert run(["trust", "add", "--self"]) == 0
    assert run(["trust", "add", "bot", str(keys / "bot.pub"), "--as", "agent"]) == 0
    assert run(["attest", "--output", str(tmp_path / "state.json")]) == 0
    assert run(["attest", "--check", str(tmp_path / "state.json")]) == 0
    assert run(["trust", "remove", "bot"]) == 0
    told = capsys.readouterr().out
    assert "No keys are known" in told
    assert "state.json is right" in told
    assert run(["trust", "add", "x", str(keys / "li.pub")]) == 2
    assert run(["trust", "add", "x"]) == 2
    assert run(["trust", "add", "x", str(tmp_path / "state.json")]) == 44
