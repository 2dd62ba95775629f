"""``plugins``: what is loaded, and from where."""

from __future__ import annotations

import json

from kimi_memory.cli import run


def test_plugins_are_told_to_programs_by_name(capsys) -> None:
    assert run(["plugins", "--json"]) == 0
    told = {plugin["name"]: plugin for plugin in json.loads(capsys.readouterr().out)}
    assert told["words"] == {
        "name": "words",
        "origin": "bundled",
        "hooks": ["split_words"],
        "skipped": "",
    }


def test_plugins_lists_where_each_comes_from(capsys) -> None:
    assert run(["plugins"]) == 0
    out = capsys.readouterr().out
    assert "words" in out
    assert "bundled" in out


def test_the_columns_of_plugins_stand_below_each_other(capsys) -> None:
    assert run(["plugins"]) == 0
    origins = {
        line.index(" bundled")
        for line in capsys.readouterr().out.splitlines()
        if " bundled" in line
    }
    assert len(origins) == 1
