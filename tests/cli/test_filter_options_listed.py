"""Notes named by key, by project and key, and by the number of the last list."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from kimi_memory.api.options import Home
from kimi_memory.cli import run
from tests.cli.answers import answer


@pytest.fixture
def ports(folder: Path, capsys) -> Path:
    """A memory with the port of two projects."""
    for project, port in (("shop", 8080), ("blog", 9090)):
        words = ["remember", f"The port is {port}.", "--key", "port.web", "--project", project]
        assert run(words) == 0
    capsys.readouterr()
    return folder


@pytest.mark.parametrize(
    "words",
    [
        ["get", "shop/port.web"],
        ["get", "--as-of", "HEAD", "shop/port.web"],
        ["trace", "shop/port.web"],
        ["timeline", "shop/port.web"],
        ["blame", "shop/port.web"],
        ["bisect", "shop/port.web", "--says", "8080"],
        ["forget", "shop/port.web", "--dry-run"],
        ["link", "shop/port.web", "blog/port.web", "--dry-run"],
    ],
    ids=lambda words: words[0],
)
def test_project_and_key_are_taken_where_an_id_is(ports: Path, capsys, words: list[str]) -> None:
    assert run(words) == 0
    assert "8080" in capsys.readouterr().out or words[0] == "link"


def test_a_number_names_what_the_last_list_showed(ports: Path, capsys) -> None:
    run(["recall", "port", "kind:card"])
    capsys.readouterr()
    shown = answer(capsys, "recall", "port", "kind:card")
    second = shown["hits"][1]["unit"]["id"]
    for number in ("2", "#2"):
        assert answer(capsys, "trace", number)["note"]["id"] == second
    assert run(["get", "--related", "1"]) == 0


def test_a_number_beyond_the_list_is_a_mistake_of_one_line(ports: Path, capsys) -> None:
    run(["recall", "port", "kind:card"])
    assert run(["trace", "#3"]) == 2
    assert "the last list in this terminal had 2 lines" in capsys.readouterr().err
    assert run(["trace", "3"]) == 11


def test_lists_of_other_memories_and_of_yesterday_name_nothing(
    ports: Path, tmp_path: Path, capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(["recall", "port", "kind:card"])
    [place] = (Home.of_user().state / "lists").glob(f"{os.getsid(0)}.json")
    kept = json.loads(place.read_text(encoding="utf-8"))
    place.write_text(json.dumps({**kept, "memory": str(tmp_path)}), encoding="utf-8")
    assert run(["trace", "#1"]) == 2
    place.write_text(json.dumps(kept), encoding="utf-8")
    assert run(["trace", "#1"]) == 0
    os.utime(place, (time.time() - 90_000,) * 2)
    old = place.with_name("1.json")
    place.rename(old)
    assert run(["trace", "#1"]) == 2
    run(["recall", "port"])
    assert not old.exists()
