"""The panel: tabs, keys, decisions; what stands on the screen."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest
from rich.console import Console
from textual.pilot import Pilot

from kimi_memory import Memory
from kimi_memory.domain.operation_types import Wanted
from kimi_memory.domain.search_types import Query
from kimi_memory.operations.forget import forget
from kimi_memory.operations.review_queue import review
from kimi_memory.recall.browse import ListQuery
from kimi_memory.tui.held_rows import PAGE
from kimi_memory.tui.panel import TABS, Panel
from kimi_memory.tui.rows import Cell, Row
from kimi_memory.tui.two_panes import Parts, _draw_row
from tests.tui.conftest import check_screen, screen_of, until


async def open_tab(panel: Panel, pilot: Pilot[None], name: str, rows: int = 1) -> None:
    await pilot.press(str(TABS.index(name) + 1))
    await until(pilot, lambda: len(panel.rows_of(name)) >= rows)
    await pilot.pause()


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_tab_looks_as_it_was_approved(
    visit: Callable[..., None], columns: int, lang: str
) -> None:
    async def look(panel: Panel, pilot: Pilot[None]) -> None:
        await until(pilot, lambda: "(2)" in screen_of(panel))
        for name in TABS:
            if name == "search":
                await pilot.press("2", "slash", *"SQLite", "enter")
                await until(pilot, lambda: len(panel.rows_of("search")) > 0)
            else:
                await open_tab(panel, pilot, name)
            await until(pilot, lambda: panel.is_settled)
            await check_screen(pilot, f"{name}-{columns}-{lang}")

    visit(look, size=(columns, 24), lang=lang)


def test_sixty_columns_show_one_pane_at_a_time(visit: Callable[..., None]) -> None:
    async def look(panel: Panel, pilot: Pilot[None]) -> None:
        assert "File semantic/" not in screen_of(panel)
        await pilot.press("enter")
        await until(pilot, lambda: "File semantic/" in screen_of(panel))
        await pilot.press("escape")
        await until(pilot, lambda: "File semantic/" not in screen_of(panel))

    visit(look, size=(60, 24))


def test_no_text_of_a_memory_is_markup(visit: Callable[..., None]) -> None:
    async def look(panel: Panel, pilot: Pilot[None]) -> None:
        await pilot.press("slash", *"markup", "enter")
        await until(pilot, lambda: len(panel.rows_of("held")) == 1)
        await until(pilot, lambda: panel.is_settled)
        assert "[red]not markup[/red]" in screen_of(panel)

    visit(look, size=(140, 24))


def test_what_waits_is_accepted_and_taken_back_with_two_keys(
    memory: Memory, visit: Callable[..., None]
) -> None:
    async def look(panel: Panel, pilot: Pilot[None]) -> None:
        await open_tab(panel, pilot, "review", rows=2)
        await pilot.press("a")
        await until(pilot, lambda: len(panel.rows_of("review")) == 1)
        assert review(memory) == []
        await pilot.press("u")
        await until(pilot, lambda: "Take this back?" in screen_of(panel))
        await pilot.press("enter")
        await until(pilot, lambda: "Nothing was changed." in screen_of(panel))
        assert review(memory) == []
        await pilot.press("u")
        await until(pilot, lambda: "Take this back?" in screen_of(panel))
        await pilot.press("y")
        await until(pilot, lambda: len(panel.rows_of("review")) == 2)
        assert len(review(memory)) == 1

    visit(look)


def test_what_waits_is_accepted_in_other_words(memory: Memory, visit: Callable[..., None]) -> None:
    async def look(panel: Panel, pilot: Pilot[None]) -> None:
        await open_tab(panel, pilot, "review", rows=2)
        await pilot.press("e")
        await until(pilot, lambda: len(panel.rows_of("review")) == 1)
        assert "三十个连接" in (memory.root / "MEMORY.md").read_text("utf-8")

    visit(look, edit=lambda text: text.replace("二十", "三十"))


def test_a_contradiction_is_settled_after_its_diff(
    memory: Memory, visit: Callable[..., None]
) -> None:
    async def look(panel: Panel, pilot: Pilot[None]) -> None:
        await open_tab(panel, pilot, "review", rows=2)
        await pilot.press("j", "2")
        await until(pilot, lambda: "Settle it so?" in screen_of(panel))
        assert "-- 部署端口是 8080。" in screen_of(panel)
        await pilot.press("y")
        await until(pilot, lambda: len(panel.rows_of("review")) == 1)

    visit(look, size=(120, 60))
    assert not list((memory.root / "conflicts").glob("*.md"))
    assert [
        unit.title for unit in memory.browse(ListQuery()).units if unit.key == "deploy.port"
    ] == ["部署端口是 8081。"]


@pytest.mark.parametrize("key", ["escape", "enter", "f", "n"])
def test_only_y_forgets(memory: Memory, visit: Callable[..., None], key: str) -> None:
    before = memory.browse(ListQuery()).total

    async def look(panel: Panel, pilot: Pilot[None]) -> None:
        await pilot.press("f")
        await until(pilot, lambda: "Forget this?" in screen_of(panel))
        await pilot.press(key)
        await pilot.pause()

    visit(look)
    assert memory.browse(ListQuery()).total == before


def test_a_card_is_forgotten_corrected_and_brought_back(
    memory: Memory, visit: Callable[..., None]
) -> None:
    async def look(panel: Panel, pilot: Pilot[None]) -> None:
        await pilot.press("slash", *"SQLite", "enter")
        await until(pilot, lambda: len(panel.rows_of("held")) == 1)
        await pilot.press("e")
        await until(pilot, lambda: "Correct it so?" in screen_of(panel))
        await pilot.press("y")
        await until(pilot, lambda: "Done:" in screen_of(panel))
        assert memory.browse(ListQuery()).units[0].title.startswith("数据库改用 Postgres")
        await pilot.press("u")
        await until(pilot, lambda: "Take this back?" in screen_of(panel))
        await pilot.press("y")
        await until(pilot, lambda: len(panel.rows_of("held")) == 1)
        await pilot.press("f")
        await until(pilot, lambda: "Forget this?" in screen_of(panel))
        await pilot.press("y")
        await until(pilot, lambda: len(panel.rows_of("held")) == 0)

    visit(look, edit=lambda text: "数据库改用 Postgres，因为要多人写。")


def test_an_open_session_grows_on_the_screen(memory: Memory, visit: Callable[..., None]) -> None:
    async def look(panel: Panel, pilot: Pilot[None]) -> None:
        await open_tab(panel, pilot, "sessions", rows=4)
        await until(pilot, lambda: "今天吃什么" in screen_of(panel))
        await pilot.pause(1.2)
        session = memory.session("open", project="小灶", user="林夏")
        session.turn("user", "吃火锅吧。", speaker="林夏")
        await until(pilot, lambda: "吃火锅吧" in screen_of(panel))

    visit(look)


def test_a_job_runs_after_its_diff_and_checks_are_shown(
    memory: Memory, visit: Callable[..., None]
) -> None:
    async def look(panel: Panel, pilot: Pilot[None]) -> None:
        await open_tab(panel, pilot, "jobs")
        before = len(panel.rows_of("jobs"))
        await pilot.press("d")
        await until(pilot, lambda: "Run daily?" in screen_of(panel))
        await pilot.press("y")
        await until(pilot, lambda: len(panel.rows_of("jobs")) > before)
        await pilot.press("h")
        await until(pilot, lambda: panel.rows_of("jobs")[0].kind == "finding")

    visit(look)


def test_a_key_and_its_word_stay_on_one_line(visit: Callable[..., None]) -> None:
    async def look(panel: Panel, pilot: Pilot[None]) -> None:
        await pilot.press("question_mark")
        await until(pilot, lambda: "Esc back" in screen_of(panel))
        said = screen_of(panel)
        for pair in ("/ search", "f forget", "u undo the last", "q quit"):
            assert pair in said

    visit(look, size=(60, 24))


def test_a_job_names_the_notes_it_was_about_in_the_language_of_the_panel(
    memory: Memory, visit: Callable[..., None]
) -> None:
    card = memory.browse(ListQuery(filters=Query(text="", key=("rule.indentation",)))).units[0]
    forget(memory, Wanted(note=card.id))

    async def look(panel: Panel, pilot: Pilot[None]) -> None:
        await open_tab(panel, pilot, "jobs")
        assert panel.rows_of("jobs")[0].cells[1].text == f"遗忘 {card.text}"

    visit(look, lang="zh")


def test_an_error_is_one_line_and_ends_nothing(memory: Memory, visit: Callable[..., None]) -> None:
    async def look(panel: Panel, pilot: Pilot[None]) -> None:
        await pilot.press("slash", *"status:nonsense", "enter")
        await until(pilot, lambda: "there is no status" in screen_of(panel))
        await open_tab(panel, pilot, "review", rows=2)
        review_rows = panel.rows_of("review")
        [waiting] = review(memory)
        (memory.root / waiting.path).unlink()
        await pilot.press("a")
        await until(pilot, lambda: "No note" in screen_of(panel).splitlines()[-2])
        assert panel.rows_of("review") == review_rows

    visit(look)


def test_looking_changes_no_byte(memory: Memory, visit: Callable[..., None]) -> None:
    def content() -> dict[str, bytes]:
        paths = (path for path in memory.root.rglob("*") if ".kimi" not in path.parts)
        return {str(path): path.read_bytes() for path in paths if path.is_file()}

    before = content()

    async def look(panel: Panel, pilot: Pilot[None]) -> None:
        for name in TABS:
            if name != "search":
                await open_tab(panel, pilot, name)
        await pilot.press("2", "slash", *"MongoDB", "enter")
        await until(pilot, lambda: len(panel.rows_of("search")) > 0)

    visit(look)
    assert content() == before


def test_a_long_list_is_read_page_by_page(memory: Memory, visit: Callable[..., None]) -> None:
    source = next((memory.root / "semantic").rglob("deploy.port*.md"))
    text = source.read_text("utf-8")
    id = next(line.split()[1] for line in text.splitlines() if line.startswith("id: "))
    for number in range(3 * PAGE):
        copy = text.replace(id, f"{id[:-4]}{number:04}").replace("deploy.port", f"port.{number:03}")
        source.with_name(f"port.{number:03}.md").write_text(copy, "utf-8")
    total = memory.browse(ListQuery(filters=Query(text="", kind=("card",)))).total

    async def look(panel: Panel, pilot: Pilot[None]) -> None:
        assert total > 3 * PAGE
        await until(pilot, lambda: f"{PAGE} of {total}" in screen_of(panel))
        for pages in (2, 3):
            await pilot.press("end")
            await until(pilot, lambda least=pages: len(panel.rows_of("held")) == least * PAGE)
        await pilot.press("end")
        await until(pilot, lambda: len({row.id for row in panel.rows_of("held")}) == total)

    visit(look)


def test_a_name_that_is_cut_ends_in_dots() -> None:
    cells = (Cell("preference.answer-style", "bold", 22), Cell("短的回答", "", 8), Cell("x"))
    assert _draw_row(Row("card-1", cells)).plain == "preference.answer-st… 短的回… x"


def test_no_line_beside_a_row_begins_with_a_full_stop() -> None:
    console = Console(width=12, file=io.StringIO())
    parts = [("我们决定用数据。", ""), ("  一家人的数据很小，断网", "bold"), ("- x", "")]
    console.print(Parts(parts))
    shown = console.file.getvalue().splitlines()
    assert [line.rstrip() for line in shown] == [
        "我们决定用数",
        "据。",
        "  一家人的数",
        "  据很小，断",
        "  网",
        "- x",
    ]
