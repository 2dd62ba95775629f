"""``doctor`` beside ``status`` and ``verify``."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from kimi_memory.cli import run
from tests.cli.answers import answer


def test_status_verify_and_doctor_agree_that_all_is_well(folder: Path, capsys) -> None:
    run(["remember", "我住在成都", "--key", "me.city"])
    capsys.readouterr()
    assert answer(capsys, "status")["notes"]["card"] == {"fact": 1}
    assert run(["verify"]) == 0
    assert run(["doctor"]) == 0
    assert "✗" not in capsys.readouterr().out


def test_doctor_finds_an_edited_quote_and_a_broken_note(folder: Path, capsys) -> None:
    run(["remember", "我住在成都", "--key", "me.city"])
    card = next((folder / "semantic").rglob("*.md"))
    card.write_text(
        card.read_text(encoding="utf-8").replace("> 我住在成都", "> 我住在北京"), encoding="utf-8"
    )
    (folder / "semantic/bad.md").write_text("---\nid: card-x\nid: card-y\n---\n", encoding="utf-8")
    capsys.readouterr()
    assert run(["doctor"]) == 1
    out = capsys.readouterr().out
    assert "a quote does not stand in" in out
    assert "semantic/bad.md" in out


COMMANDS = [
    *("doctor", "verify", "index", "eval"),
    *("ingest FOLDER", "audit FOLDER", "import FOLDER", "import FOLDER/NAME.md", "audit NAME"),
]


@pytest.mark.parametrize("command", COMMANDS)
def test_the_name_of_a_file_begins_no_line_of_ours(folder: Path, capsys, command: str) -> None:
    name = "new\n✓ journal: all is well"
    (folder / f"semantic/{name}.md").write_text("- I live in Oslo.\n")
    (folder / "evals").mkdir()
    case = f"cases:\n  - name: {json.dumps(name)}\n    query: Oslo\n    expect: Oslo\n"
    (folder / "evals/x.yaml").write_text(case, encoding="utf-8")
    places = {"FOLDER": str(folder / "semantic"), "NAME": name}
    run([re.sub("[A-Z]+", lambda found: places[found[0]], one) for one in command.split(" ")])
    out = capsys.readouterr()
    assert "✓ journal: all is well" in out.out + out.err
    assert not [one for one in f"{out.out}\n{out.err}".splitlines() if one.startswith("✓ journal")]
