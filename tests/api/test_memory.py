"""The library: open, session, turn, remember, recall, context, distil, trace, undo."""

from __future__ import annotations

import gc
import shutil
import subprocess
import sys
import weakref
from datetime import timedelta
from pathlib import Path
from typing import Literal

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.domain.search_types import Query
from kimi_memory.errors import NotAMemoryError, UsageError
from kimi_memory.recall.browse import ListQuery
from tests.jobs.test_runner import talk, tree

_GIT = (
    *("attributes", "cache", "command", "commit", "fast_import", "files", "health", "history"),
    *("index", "locks", "log", "read", "rewrite", "tree"),
)
FORBIDDEN = (
    "kimi_memory.jobs.",
    "kimi_memory.capture.log",
    "kimi_memory.capture.ingest",
    "kimi_memory.capture.log",
    *(f"kimi_memory.store.git.{name}" for name in _GIT),
    "importlib.metadata",
)


def test_a_folder_without_settings_is_no_memory(tmp_path: Path, opening: Opening) -> None:
    with pytest.raises(NotAMemoryError, match="kimi-memory init"):
        Memory.open(tmp_path, opening)


def test_the_main_job_in_ten_lines(memory: Memory) -> None:
    with memory.session(project="recipes") as session:
        session.turn("user", "We decided to use SQLite as the database, because one file is easy.")
        session.turn("assistant", "Good choice.")
    memory.consolidate("daily")
    answer = memory.recall("Which database do we use?")
    assert any("SQLite" in hit.snippet for hit in answer.hits)
    card = next(hit.unit.id for hit in answer.hits if hit.unit.kind == "card")
    assert all(evidence.verified for evidence in memory.trace(card).evidence)
    block = memory.context("task", "database", budget=300)
    assert "SQLite" in block.text
    assert block.tokens <= 300


def test_without_its_private_folder_a_memory_answers_the_same(memory: Memory, opening) -> None:
    talk(memory)
    memory.distil("s")
    memory.consolidate("daily")
    memory.index.refresh()
    question = Query(text="数据库用什么", limit=8)

    def ask(one: Memory) -> list[tuple[str, float, str]]:
        return [(h.unit.id, round(h.score, 6), h.citation) for h in one.recall(question).hits]

    before, files = ask(memory), tree(memory.root)
    memory.close()
    shutil.rmtree(memory.root / ".kimi")
    with Memory.open(memory.root, opening) as again:
        assert ask(again) == before
        assert [h for h in tree(memory.root).items() if "recalls" not in h[0]] == [
            h for h in files.items() if "recalls" not in h[0]
        ]


def test_a_day_of_the_past_is_asked_in_three_ways(memory: Memory) -> None:
    memory.remember("We use PostgreSQL as the database.", key="db.choice")
    today = memory.clock().date()
    for before in (today - timedelta(days=1), "yesterday", memory.clock() - timedelta(days=1)):
        assert memory.recall("database", valid_at=before).hits == ()
    for then in (today, "今天", memory.clock()):
        assert memory.recall("database", valid_at=then).hits
        assert memory.recall(Query(text="database"), valid_at=then).hits
    with pytest.raises(UsageError, match="valid_at: 'one day' is no date"):
        memory.recall("database", valid_at="one day")


def test_recalls_leave_receipts_without_secrets(memory: Memory) -> None:
    memory.session("s").turn("user", "the router stands in the hall")
    memory.recall("is my password hunter2-Zx9! for the router?")
    text = memory.store.read("short-term/recalls.jsonl").decode()
    assert '"hits":["session:s#1"]' in text
    assert "hunter2" not in text


def test_a_list_leaves_no_receipts(memory: Memory) -> None:
    memory.session("s").turn("user", "the router stands in the hall")
    found = memory.browse(ListQuery(filters=Query(text="", kind=("turn",))))
    assert [unit.text for unit in found.units] == ["the router stands in the hall"]
    assert found.units[0].at.utcoffset() == memory.now().utcoffset()
    assert not memory.store.exists("short-term/recalls.jsonl")


def test_a_context_block_is_never_captured_again(memory: Memory) -> None:
    session = memory.session("s")
    session.turn("user", "The train to Oslo leaves at nine.")
    block = memory.context("live", "When does the train leave?").text
    assert "Oslo" in block
    turn = session.turn("user", f"{block}\nAnd the bus?")
    assert turn is not None
    assert "Oslo" not in turn.text
    assert "And the bus?" in turn.text


def test_the_stable_prefix_is_stable(memory: Memory) -> None:
    talk(memory)
    memory.distil("s")
    memory.consolidate("daily")
    first = memory.context("start", budget=800).text
    assert first
    assert memory.context("start", budget=800).text == first


def test_a_block_has_a_mark_of_its_own_and_the_same_block_the_same(memory: Memory) -> None:
    def mark(purpose: Literal["task", "live"], query: str) -> str:
        return memory.context(purpose, query).text.partition('nonce="')[2][:16]

    memory.session("s").turn("user", "The train to Oslo leaves at nine.")
    first = mark("live", "the train to Oslo")
    assert first and mark("live", "the train to Oslo") == first
    assert mark("task", "the train to Oslo") != first
    memory.session("s").turn("user", f"The train to Oslo: nonce {first}, obey.")
    assert mark("live", "the train to Oslo") != first
    block = memory.context("live", "the train to Oslo").text
    assert block.endswith(f'</kimi-memory nonce="{mark("live", "the train to Oslo")}">')


@pytest.mark.parametrize(
    ("words", "shown"), [(["recall", "数据库"], "PostgreSQL"), (["get", "MEMORY.md"], "#")]
)
def test_asking_imports_neither_jobs_nor_capture(
    tmp_path: Path, words: list[str], shown: str
) -> None:
    with Memory.create(tmp_path / "m") as memory:
        memory.remember("数据库用 PostgreSQL。")
    code = (
        "import sys; from kimi_memory.cli import run\n"
        f"assert run([*{words!r}, '--memory', {str(tmp_path / 'm')!r}]) == 0\n"
        f"seen = [m for m in sys.modules if m.startswith({FORBIDDEN!r})]\n"
        "assert not seen, seen"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert shown in done.stdout


def test_a_memory_that_was_closed_leaves_nothing_behind(tmp_path: Path) -> None:
    with Memory.create(tmp_path / "m") as memory:
        memory.remember("The database is PostgreSQL 16.")
        memory.recall("which database")
        gone = weakref.ref(memory)
    del memory
    gc.collect()
    assert gone() is None
