"""Blocks of memory that prompts were given, shown as they were."""

from __future__ import annotations

import subprocess

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.domain.operation_types import Wanted
from kimi_memory.errors import NotFoundError, UsageError
from kimi_memory.jobs.purge import Doomed
from kimi_memory.operations.forget import forget, purge
from kimi_memory.operations.replay_block import WITHHELD, list_blocks, replay_block
from kimi_memory.store.prompt_blocks import FOLDER
from tests.conftest import Clock

PORT = "The deploy port is 8080."
DATABASE = "数据库用 PostgreSQL，因为要用 JSONB。"


def test_a_block_is_byte_for_byte_what_the_prompt_had(memory: Memory, clock: Clock) -> None:
    memory.remember(PORT, key="deploy.port")
    memory.remember(DATABASE, key="db.choice")
    memory.session("s").turn("user", "Which port do we deploy to?")
    given = [
        memory.context("start").text,
        memory.context("task", "deploy port", session="s").text,
        memory.context("task", "数据库 PostgreSQL JSONB", session="s").text,
        memory.context("live", "port", session="s").text,
    ]
    assert all(given)
    clock.move(days=9)
    memory.remember("The deploy port is 8443 now.", key="deploy.port")
    memory.consolidate("daily")
    kept = list_blocks(memory)[::-1]
    assert [replay_block(memory, one.id).block.text for one in kept] == given
    assert all(one.verified for one in kept)
    assert [one.purpose for one in kept] == ["start", "task", "task", "live"]
    assert "8080" in replay_block(memory, "2026-02-27").block.text
    receipts = memory.store.read("short-term/recalls.jsonl").decode()
    assert all(one.id in receipts for one in kept)


def test_a_block_is_found_by_moment_session_or_as_the_last(memory: Memory, clock: Clock) -> None:
    memory.remember(PORT, key="deploy.port")
    texts = []
    for session in ("a", "b"):
        texts.append(memory.context("task", "deploy port", session=session).text)
        clock.move(hours=1)
    assert replay_block(memory, "last").block.text == texts[1]
    assert replay_block(memory, "last", "a").block.text == texts[0]
    assert replay_block(memory, "2026-02-27T09:30").block.text == texts[0]
    assert len(list_blocks(memory, "b")) == 1
    with pytest.raises(NotFoundError, match="context --replay"):
        replay_block(memory, "2026-02-26")
    with pytest.raises(NotFoundError):
        replay_block(memory, "receipt-0000")
    with pytest.raises(UsageError, match="--replay: 'one day' is no date"):
        replay_block(memory, "one day")


@pytest.mark.parametrize(("text", "word"), [(PORT, "8080"), (DATABASE, "PostgreSQL")])
def test_what_was_forgotten_since_is_withheld(memory: Memory, text: str, word: str) -> None:
    memory.remember(text, key="some.thing")
    memory.remember("The team meets on Monday. 团队每周一开会。", key="team.day")
    given = memory.context("task", f"{text} Monday 周一").text
    assert word in given and "Monday" in given
    forget(memory, Wanted(key="some.thing"))
    found = replay_block(memory, "last")
    assert word not in found.block.text
    assert "Monday" in found.block.text
    assert found.withheld == found.block.text.count(WITHHELD) > 0


def test_where_it_cannot_be_told_which_lines_were_forgotten_none_is_shown(memory: Memory) -> None:
    memory.session("s").turn("user", "yes, Oslo")
    memory.session("s").turn("user", "The train leaves from Oslo at nine.")
    assert "Oslo" in memory.context("live", "Oslo train", session="s").text
    forget(memory, Wanted(session="s"))
    found = replay_block(memory, "last")
    assert found.withheld
    assert "Oslo" not in found.block.text


def test_a_purge_leaves_no_word_in_the_blocks(memory: Memory) -> None:
    memory.remember("The vault code is azure-falcon 7391.", key="vault.code")
    assert "azure-falcon" in memory.context("task", "vault code").text
    assert list((memory.root / FOLDER).iterdir())
    assert purge(memory, Doomed(texts=("azure-falcon 7391",)), yes=True).done
    assert list_blocks(memory) == []


def test_a_block_that_was_changed_is_not_proven(memory: Memory) -> None:
    memory.remember(PORT, key="deploy.port")
    memory.context("task", "deploy port")
    [path] = (memory.root / FOLDER).iterdir()
    lines = path.read_text("utf-8").replace("8080", "9090") + '{"id": "torn'
    path.write_text(lines, encoding="utf-8")
    assert not replay_block(memory, "last").block.verified


def test_blocks_stay_as_long_as_wanted_and_never_enter_git(
    memory: Memory, clock: Clock, opening: Opening
) -> None:
    memory.remember(PORT, key="deploy.port")
    memory.context("task", "deploy port")
    clock.move(days=31)
    memory.context("task", "deploy port")
    assert [one.at for one in list_blocks(memory)] == [clock()]
    [path] = (memory.root / FOLDER).iterdir()
    assert path.stat().st_mode & 0o077 == 0
    memory.batch.flush()
    how = ["git", "-C", str(memory.root), "status", "--porcelain", "--ignored=no"]
    assert subprocess.run(how, check=True, capture_output=True).stdout == b""
    settings = memory.root / "memory.toml"
    settings.write_text(f"{settings.read_text('utf-8')}\n[recall]\nprompt_days = 0\n", "utf-8")
    with Memory.open(memory.root, opening) as again:
        again.context("task", "deploy port")
        assert len(list_blocks(again)) == 1


def test_a_question_about_the_past_and_a_look_keep_no_block(memory: Memory) -> None:
    memory.remember(PORT, key="deploy.port")
    memory.context("task", "deploy port", as_of="HEAD")
    memory.context("task", "deploy port", counted=False)
    assert memory.context("task", "how do birds sing").text == ""
    assert list_blocks(memory) == []
