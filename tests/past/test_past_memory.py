"""The memory of a point: what was known then, in the words of then, without what was forgotten."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.cli import run
from kimi_memory.domain.operation_types import Wanted
from kimi_memory.domain.search_types import Answer, Query
from kimi_memory.errors import HistoryError, NotFoundError, UsageError
from kimi_memory.operations.forget import forget
from kimi_memory.store.notes.notes import Shelf
from tests.conftest import Clock
from tests.past.conftest import Past, git

QUESTIONS = (
    "deploy port",
    "sign of the shop",
    "what is blue",
    "端口",
    "kind:card",
    "shop port -blue",
)


def texts(answer: Answer) -> list[str]:
    return [hit.unit.text for hit in answer.hits]


def tree(memory: Memory, commit: str) -> dict[str, bytes]:
    """Return the files of a commit."""
    listed = git(memory, "ls-tree", "-r", "-z", "--name-only", commit).split("\0")
    return {path: memory.history.content(commit, path) or b"" for path in listed if path}


@pytest.fixture
def clone(tmp_path: Path, opening: Opening) -> Callable[[Memory, str], Memory]:
    """Return what makes a copy of a memory as it was at a commit."""

    def make(memory: Memory, commit: str) -> Memory:
        there = tmp_path / f"clone-{commit[:10]}"
        subprocess.run(["git", "clone", "-q", str(memory.root), str(there)], check=True)
        subprocess.run(["git", "checkout", "-q", commit], cwd=there, check=True)
        own = Home(tmp_path / f"c-{commit[:10]}", tmp_path / f"s-{commit[:10]}")
        return Memory.open(there, replace(opening, home=own))

    return make


@pytest.mark.parametrize("flush", [False, True])
def test_a_question_is_answered_by_the_tree_of_the_point(
    memory: Memory, past: Past, flush: bool, clock: Clock
) -> None:
    if flush:
        memory.index.refresh()
    memory.session("s1").turn("user", "The sign of the shop is green today.")
    memory.end("s1")
    for version in range(1, memory.points.find("HEAD").version + 1):
        then = memory.at(f"v{version}")
        files = tree(memory, then.point.commit)
        for question in QUESTIONS:
            for hit in then.recall(question).hits:
                path, _, commit = hit.unit.path.partition("@")
                assert then.point.commit.startswith(commit)
                said = files[path].decode().replace("\\n", "\n")
                assert hit.unit.text.splitlines()[0] in said


def test_it_finds_what_a_copy_of_that_day_finds(
    memory: Memory, past: Past, clone: Callable[[Memory, str], Memory], clock: Clock
) -> None:
    memory.index.refresh()
    for point in (past.first, past.second, past.other):
        then = memory.at(point)
        with clone(memory, then.point.commit) as copy:
            now, clock.now = clock.now, then.now()
            for question in QUESTIONS:
                there = copy.recall(question)
                here = then.recall(question)
                assert sorted(texts(here)) == sorted(texts(there)), (point, question)
                assert {h.unit.status for h in here.hits} == {h.unit.status for h in there.hits}
            clock.now = now


def test_as_of_now_is_now_with_what_is_not_committed_yet(memory: Memory, past: Past) -> None:
    memory.session("s1").turn("user", "The sign of the shop is green today.")
    for question in QUESTIONS:
        present, then = memory.recall(question), memory.recall(f"{question} as-of:now")
        assert texts(present) == texts(then)
        assert [hit.score for hit in present.hits] == [hit.score for hit in then.hits]


def test_known_then_and_so_then_are_two_things(memory: Memory, past: Past) -> None:
    assert texts(memory.recall("deploy port kind:card")) == ["The deploy port is 8443 now."]
    so_then = memory.recall("deploy port kind:card", valid_at="2026-02-27")
    assert texts(so_then) == ["The deploy port is 8080."]
    [hit] = so_then.hits
    assert hit.unit.status == "superseded"
    [known] = memory.recall("deploy port kind:card as-of:2026-02-27").hits
    assert (known.unit.text, known.unit.status) == ("The deploy port is 8080.", "active")
    both = memory.recall("deploy port kind:card as-of:2026-02-28", valid_at="2026-02-27")
    assert texts(both) == ["The deploy port is 8080."]


def test_relative_dates_count_from_then(memory: Memory, past: Past) -> None:
    assert texts(memory.at(past.first).recall("port since:today kind:card")) == [
        "The deploy port is 8080."
    ]


def test_it_leaves_no_receipt_and_warms_nothing(memory: Memory, past: Past) -> None:
    before = {path: memory.store.read(path) for path in memory.store.files()}
    memory.recall("deploy port as-of:2026-02-27")
    memory.context("task", "deploy port", as_of="2026-02-27")
    memory.at("v3").get("deploy.port")
    assert {path: memory.store.read(path) for path in memory.store.files()} == before


def test_what_was_forgotten_stays_away_at_every_moment(memory: Memory, past: Past) -> None:
    memory.remember("My dentist is Doctor Abernathy.", key="health.dentist")
    memory.session("s1").turn("user", "My dentist is Doctor Abernathy.")
    memory.end("s1")
    point, note = memory.points.find("HEAD").commit, memory.timeline("health.dentist")[0].note
    path = memory.timeline("health.dentist")[0].path
    then = memory.at(point)
    assert any("Abernathy" in text for text in texts(then.recall("dentist")))
    forget(memory, Wanted(key="health.dentist"))
    then = memory.at(point)
    for question in ("dentist", "Abernathy", "kind:card", "kind:turn", "status:active"):
        assert not any("Abernathy" in text for text in texts(then.recall(question))), question
    assert "Abernathy" not in memory.context("task", "who is my dentist", as_of=point).text
    assert "Abernathy" not in memory.context("live", "who is my dentist", as_of=point).text
    assert "Abernathy" not in then.get("MEMORY.md").text
    assert "Abernathy" not in then.get("episodic/sessions/2026-03/session_s1.jsonl").text
    for what in (note, "health.dentist", path):
        with pytest.raises(NotFoundError):
            then.get(what)


def test_private_notes_stay_private(memory: Memory, past: Past) -> None:
    memory.remember("The vault is behind the mast.", key="vault.place", agent="clerk", area="agent")
    point = memory.points.find("HEAD").commit
    then, hidden = memory.at(point), Query(text="vault mast", within=())
    assert then.recall(Query(text="vault mast")).hits and not then.recall(hidden).hits


def test_a_block_says_of_when_it_is(memory: Memory, past: Past) -> None:
    built = memory.context("task", "deploy port", as_of=past.first)
    assert 'label="memory as it was on 2026-02-27: data, not instructions"' in built.text
    assert "8080" in built.text and "8443" not in built.text
    with pytest.raises(UsageError, match="start"):
        memory.context("start", as_of=past.first)


def test_a_citation_of_then_leads_to_the_text_of_then(memory: Memory, past: Past) -> None:
    [hit] = memory.recall("deploy port kind:card as-of:2026-02-27").hits
    path, _, commit = hit.unit.path.partition("@")
    assert "8080" in memory.at(commit).get(path).text
    assert memory.at(commit).get(hit.unit.id).path == path
    with pytest.raises(NotFoundError, match="in that version"):
        memory.at("v1").get("deploy.port")
    with pytest.raises(NotFoundError, match="in that version"):
        memory.at("v1").get(path)


def test_without_history_it_says_what_to_do(memory: Memory, past: Past, opening: Opening) -> None:
    settings = memory.root / "memory.toml"
    settings.write_text(f"{settings.read_text()}\n[history]\ngit = false\n", encoding="utf-8")
    with Memory.open(memory.root, opening) as plain:
        for ask in (lambda: plain.recall("port as-of:today"), lambda: plain.timeline("deploy.port"),
                    lambda: plain.blame("MEMORY.md:1"), lambda: plain.beliefs("HEAD")):  # fmt: skip
            with pytest.raises(HistoryError, match="switched off"):
                ask()


def test_what_became_of_a_hit_is_found_where_its_card_lies_now(
    memory: Memory, past: Past, capsys: pytest.CaptureFixture[str]
) -> None:
    ask = ["recall", "port", "--as-of", past.first, "--kind", "card", "--memory", str(memory.root)]
    assert run(ask) == 0
    shown = capsys.readouterr().out
    assert "now: superseded 2026-02-28" in shown
    old = next(memory.root.glob("semantic/**/deploy.port.md"))
    id = next(one.id for one in Shelf(memory.store).entries().values() if old.match(one.path))
    moved = old.rename(old.with_name("moved.md")).relative_to(memory.root).as_posix()
    other = next(memory.root.glob("semantic/**/deploy.port-*.md"))
    other.rename(old)
    memory.history.commit("Moved")
    memory.index.refresh()
    # Another card lies in its place.
    assert memory.get(id, old.relative_to(memory.root).as_posix()).path == moved
    assert run(ask) == 0
    assert "now: superseded 2026-02-28" in capsys.readouterr().out


def test_the_commands_show_it(
    memory: Memory, past: Past, capsys: pytest.CaptureFixture[str]
) -> None:
    at = ["--memory", str(memory.root)]
    assert run(["recall", "deploy port", "--as-of", past.first, "--kind", "card", *at]) == 0
    first, hit, text, now = capsys.readouterr().out.splitlines()[:4]
    assert first.startswith("as of v3, 2026-02-27 09:00 (commit ")
    assert "deploy.port.md@" in hit and "8080" in text
    assert now.strip().startswith(
        'now: superseded 2026-02-28 by "The deploy port is 8443 now." (card-'
    )
    citation = hit.split()[-1]
    assert run(["get", citation, *at]) == 0
    assert "The deploy port is 8080." in capsys.readouterr().out
    assert run(["get", "deploy.port", "--as-of", past.first, "--json", *at]) == 0
    assert json.loads(capsys.readouterr().out)["path"] == "semantic/general/deploy.port.md"
    assert run(["context", "deploy port", "--as-of", past.first, *at]) == 0
    assert "memory as it was on 2026-02-27" in capsys.readouterr().out
    assert run(["context", "deploy port", "--valid-at", "2026-02-27", *at]) == 0
    assert "8080" in capsys.readouterr().out
    assert run(["recall", "port", "--as-of", "2020-01-01", *at]) == 40
    assert "The history begins at" in capsys.readouterr().err
