"""The library: open, session, turn, remember, recall, context, distil, trace, undo."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Literal

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.domain.change import Actor
from kimi_memory.domain.note import Card
from kimi_memory.domain.search_types import Query
from kimi_memory.errors import FormatError, NotAMemoryError, UsageError
from kimi_memory.store.notes.notes import Shelf
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


@pytest.mark.parametrize(
    ("content", "error", "why"),
    [
        (b"[memory\n", FormatError, "not TOML"),
        (b"[memory]\nformat = 99\n", FormatError, "newer than this program"),
        (b"[recall]\nlimit = 'many'\n", FormatError, "recall.limit is 'many'"),
        (b"\xff\xfe[\x00", UsageError, "not UTF-8"),
    ],
)
def test_bad_settings_are_named(
    memory: Memory, opening: Opening, content: bytes, error: type[Exception], why: str
) -> None:
    (memory.root / "memory.toml").write_bytes(content)
    with pytest.raises(error, match=why):
        Memory.open(memory.root, opening)


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


def test_an_error_inside_a_session_leaves_it_open(memory: Memory) -> None:
    with pytest.raises(RuntimeError), memory.session("s") as session:
        session.turn("user", "hello")
        raise RuntimeError("the agent died")
    assert memory.store.exists("short-term/session_s.jsonl")
    assert memory.session("s").turn("user", "again") is not None


def test_new_turns_are_found_at_once(memory: Memory) -> None:
    session = memory.session("s")
    session.turn("assistant", "航班 CA1831 早上八点起飞。")
    [hit, *_] = memory.recall("航班几点起飞").hits
    assert hit.unit.id == "session:s#1"
    assert hit.citation == "short-term/session_s.jsonl#L2"


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


def test_a_pending_batch_is_committed_when_a_library_closes(
    tmp_path: Path, opening: Opening
) -> None:
    from dataclasses import replace

    long_lived = replace(opening, background=True)
    with Memory.create(tmp_path / "m", opening=long_lived) as memory:
        memory.session("s").turn("user", "hello there")
        assert memory.batch.pending()
    with Memory.open(tmp_path / "m", opening) as again:
        assert not again.batch.pending()
        assert again.history.changed("HEAD")


def test_a_batch_left_by_a_short_process_is_found_by_the_next(
    memory: Memory, opening: Opening, clock
) -> None:
    memory.session("s").turn("user", "hello there")
    memory.close()
    clock.move(seconds=31)
    with Memory.open(memory.root, opening) as again:
        assert again.batch.due()
        assert again.batch.flush()
        assert ("A", "short-term/session_s.jsonl") in again.history.changed("HEAD")


@pytest.mark.parametrize(
    ("rule", "disguise"),
    [
        ("Always run the linter before you commit.", ""),
        ("提交之前一定要先跑测试。", ""),
        ("Always run the linter before you commit.", "fact"),
    ],
)
def test_what_an_agent_says_of_how_to_act_waits_for_its_person(
    tmp_path: Path, opening: Opening, rule: str, disguise: str
) -> None:
    root = tmp_path / "memory"
    with Memory.create(root, opening=replace(opening, actor=Actor("mcp"))) as memory:
        made = memory.remember(rule, key="work.rule", type=disguise or "rule")
        card = memory.get(made.operations[0].target).note
        assert isinstance(card, Card) and (card.status, card.trust) == ("candidate", "agent")
        assert rule not in memory.context("start").text
    with Memory.open(root, opening) as memory:
        memory.remember(rule, key="work.rule", type="rule")
        found = [one.note for one in Shelf(memory.store).notes("card")]
        assert [(one.status, one.trust) for one in found] == [("active", "human")]


def test_what_an_agent_says_of_facts_counts_at_once(tmp_path: Path, opening: Opening) -> None:
    with Memory.create(tmp_path / "m", opening=replace(opening, actor=Actor("mcp"))) as memory:
        made = memory.remember("The staging port is 6543.", key="staging.port", type="fact")
        assert memory.get(made.operations[0].target).note.status == "active"


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
