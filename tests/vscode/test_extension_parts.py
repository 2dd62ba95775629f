"""The extension for VS Code without VS Code: its own parts, by Node's test runner."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from kimi_memory.lsp.deeds import COMMANDS

EXTENSION = Path(__file__).parents[2] / "integrations/vscode"


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")
def test_its_parts_pass_their_own_tests() -> None:
    ran = subprocess.run(
        ["node", "--test", "test/"],
        cwd=EXTENSION,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout[-3000:]


def test_it_asks_the_server_only_what_the_server_answers() -> None:
    source = (EXTENSION / "src/extension.js").read_text("utf-8")
    manifest = json.loads((EXTENSION / "package.json").read_text("utf-8"))
    own = {one["command"] for one in manifest["contributes"]["commands"]}
    asked = {part.split('"')[0] for part in source.split('ask("')[1:]}
    assert asked and asked <= set(COMMANDS)
    # Commands of the server become commands of the editor, and one name has one meaning.
    assert not own & set(COMMANDS)
    assert manifest["dependencies"] == {"vscode-languageclient": "9.0.1"}
