"""Pages of a new memory: they speak its owner's language, until their owner writes on them."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from kimi_memory import Memory
from kimi_memory.domain.pages import Identity
from kimi_memory.formats import codec

CHINESE = "我们决定用 PostgreSQL，因为要支持事务。"
PAGES = ("USER.md", "PROJECT.md", "long-term/IDENTITY.md")


def texts(folder: Path) -> dict[str, str]:
    return {path: (folder / path).read_text("utf-8") for path in PAGES}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A memory that was made on a machine without a language."""
    Memory.create(tmp_path / "memory").close()
    return tmp_path / "memory"


def test_untouched_pages_follow_the_first_words_in_chinese(folder: Path) -> None:
    before = texts(folder)
    with Memory.open(folder) as memory:
        memory.remember(CHINESE)
    after = texts(folder)
    assert after["USER.md"].startswith("# 关于使用者\n")
    assert after["PROJECT.md"].startswith("# 当前工作\n")
    old, new = (
        codec.parse(pages["long-term/IDENTITY.md"], "long-term/IDENTITY.md")
        for pages in (before, after)
    )
    assert isinstance(old, Identity) and isinstance(new, Identity)
    assert "## 我的使命" in after["long-term/IDENTITY.md"]
    assert (new.name, new.who) == ("智能体", "一个有记忆的智能体。")
    assert (new.id, new.created) == (old.id, old.created)


def test_pages_in_chinese_are_made_anew_for_who_speaks_english(tmp_path: Path) -> None:
    with Memory.create(tmp_path / "memory", name="小林") as memory:
        assert "我的使命" in texts(memory.root)["long-term/IDENTITY.md"]
        memory.remember("We decided to use PostgreSQL because we need transactions.")
        assert "# Core identity: 小林" in texts(memory.root)["long-term/IDENTITY.md"]
        assert texts(memory.root)["USER.md"].startswith("# About the person\n")


def test_undo_leaves_them_in_the_language_of_what_is_left(folder: Path) -> None:
    before = texts(folder)
    with Memory.open(folder) as memory:
        first = memory.remember(CHINESE)
        chinese = texts(folder)
        second = memory.remember("数据库端口是 5432。", key="db.port")
        memory.undo(second.id)
        assert texts(folder) == chinese != before
        memory.undo(first.id)
        assert texts(folder) == before


def test_what_somebody_wrote_on_a_page_stays_as_it_is(folder: Path) -> None:
    wrote = {path: f"{text}\n- Mine.\n" for path, text in texts(folder).items()}
    for path, text in wrote.items():
        (folder / path).write_text(text, "utf-8")
    with Memory.open(folder) as memory:
        memory.remember(CHINESE)
    assert texts(folder) == wrote


def test_a_page_that_is_gone_or_broken_stays_so(folder: Path) -> None:
    (folder / "USER.md").unlink()
    (folder / "long-term/IDENTITY.md").write_bytes(b"---\nid: [\n---\n")
    with Memory.open(folder) as memory:
        memory.remember(CHINESE)
    assert not (folder / "USER.md").exists()
    assert (folder / "long-term/IDENTITY.md").read_bytes() == b"---\nid: [\n---\n"


def test_a_chosen_language_is_kept(tmp_path: Path) -> None:
    with Memory.create(tmp_path / "memory", language="en") as memory:
        before = texts(memory.root)
        memory.remember(CHINESE)
        assert texts(memory.root) == before


def test_growth_written_before_goes_along(folder: Path) -> None:
    clock = datetime(2026, 2, 27, 9, tzinfo=UTC)
    path = folder / "long-term/IDENTITY.md"
    identity = codec.parse(path.read_text("utf-8"), "long-term/IDENTITY.md")
    assert isinstance(identity, Identity)
    line = f"{clock:%Y-%m-%d} this week: 1 decisions, 0 findings, 0 successes, 0 failures"
    from dataclasses import replace

    path.write_text(codec.render(replace(identity, growth=(line,))), "utf-8")
    with Memory.open(folder) as memory:
        memory.remember(CHINESE)
    assert f"## 我的成长\n\n- {line}\n" in path.read_text("utf-8")
