"""``forget``: from the command line, with preview and undo."""

from __future__ import annotations

import json

from kimi_memory.surfaces.cli import run
from tests.surfaces.cli.test_cli import answer, folder  # noqa: F401  a fixture

TEXT = "My dentist is Doctor Abernathy in Oslo."


def test_a_key_is_forgotten_and_told_when_it_is_remembered_again(folder, capsys) -> None:  # noqa: F811  the fixture
    run(["remember", TEXT, "--key", "health.dentist"])
    capsys.readouterr()
    [preview] = answer(capsys, "forget", "--key", "health.dentist", "--dry-run")
    assert "+status: archived" in preview["diff"]
    [report] = answer(capsys, "forget", "--key", "health.dentist", "--why", "moved", "--hash")
    assert [op["op"] for op in report["operations"]] == ["FORGET"]
    stones = (folder / "mid-term" / "tombstones.jsonl").read_text(encoding="utf-8")
    assert json.loads(stones.splitlines()[0])["why"] == "moved"
    assert "abernathy" not in stones.lower()
    assert run(["remember", TEXT]) == 0
    assert "forgotten on purpose" in capsys.readouterr().out
    hits = answer(capsys, "recall", "dentist")["hits"]
    assert "card" not in {hit["unit"]["kind"] for hit in hits}
    assert answer(capsys, "undo", report["id"])["id"] == report["id"]
    hits = answer(capsys, "recall", "dentist")["hits"]
    assert "card" in {hit["unit"]["kind"] for hit in hits}


def test_what_is_not_there_has_its_exit_code(folder, capsys) -> None:  # noqa: F811  the fixture
    assert run(["forget", "card-none"]) == 11
    assert run(["forget"]) == 2
    assert "Say what to forget" in capsys.readouterr().err
