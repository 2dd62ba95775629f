"""``verify --rebuild``: the index in use beside one built anew."""

from __future__ import annotations

import json
import re

from kimi_memory.cli import run


def test_a_good_index_is_compared_and_told_so(folder, capsys) -> None:
    run(["remember", "我们决定用 SQLite 当数据库，因为部署简单。", "--key", "db.choice"])
    run(["index"])
    run(["remember", "Green tea is in the kitchen.", "--key", "tea.place"])
    capsys.readouterr()
    assert run(["verify", "--rebuild"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert re.match(r"in use  \d+ units, \d+ words, sha256 [0-9a-f]{16}…  g\d{6}-", told[0])
    digests = [line.split("sha256 ")[1][:16] for line in told[:2]]
    assert digests[0] == digests[1]
    assert re.match(r"✓ The same files give the same index: \d+ questions ranked", told[-1])
    assert run(["verify", "--rebuild", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["same"] is True
    assert found["live"]["digest"] == found["rebuilt"]["digest"]


def test_a_damaged_index_is_exit_code_1_with_the_remedy(folder, capsys) -> None:
    run(["remember", "Green tea is in the kitchen.", "--key", "tea.place"])
    run(["index"])
    for path in (folder / ".kimi/index").rglob("*.seg"):
        path.write_bytes(path.read_bytes()[:-1])
    capsys.readouterr()
    assert run(["verify", "--rebuild"]) == 1
    told = capsys.readouterr().out
    assert "✗ the index on disk is not used: " in told
    assert told.rstrip().endswith("Run 'kimi-memory index --full'.")
    assert run(["verify", "--rebuild", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["differences"]
    run(["index", "--full"])
    assert run(["verify", "--rebuild"]) == 0
