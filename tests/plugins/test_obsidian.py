"""The folder as Obsidian sees it: links that lead somewhere, tables, names of keys."""

from __future__ import annotations

import re
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

import pytest
import yaml
from kimi_memory.plugins.obsidian import LABELS, views, write_views

from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.cli import run
from kimi_memory.domain.note import Card, CardType, Lang
from kimi_memory.formats.frontmatter import read
from kimi_memory.hooks.host import Host
from kimi_memory.jobs.pages import Pages
from kimi_memory.jobs.purge import Doomed
from kimi_memory.operations.forget import Wanted, forget, purge
from kimi_memory.store.notes.notes import Shelf

SAMPLE = Path(__file__).parents[2] / "memory"
_LINK = re.compile(r"(?<!\\)\[\[([^\]|#\n]+)(?:#\^([^\]|\n]+))?(?:\|[^\]\n]*)?\]\]")


def pages(root: Path) -> dict[str, str]:
    """Return the text of each page, by its path without the ending."""
    found = (path for path in root.rglob("*.md") if "/." not in f"/{path.relative_to(root)}")
    return {str(p.relative_to(root).with_suffix("")): p.read_text("utf-8") for p in found}


def links(texts: dict[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield the page, the target and the block of each link; a fault instead of a dead target."""
    stems: dict[str, list[str]] = defaultdict(list)
    for path in texts:
        stems[path.rpartition("/")[2]].append(path)
    for path, text in texts.items():
        for target, block in _LINK.findall(text):
            fits = (
                [target] if target in texts else stems.get(target, []) if "/" not in target else []
            )
            yield path, fits[0] if len(fits) == 1 else f"? {target} {len(fits)}", block


def dead_links(root: Path) -> list[str]:
    """Return the links that lead nowhere, to several pages, or to a block that is not there."""
    texts = pages(root)
    # The page of a session is made when it ends.
    texts |= {str(path.stem): "^t1" for path in (root / "short-term").glob("session_*.jsonl")}
    return [
        f"{path}: {target} {block}"
        for path, target, block in links(texts)
        if target.startswith("? ")
        or (block and not re.search(rf"(?:^| )\^{re.escape(block)}$", texts[target], re.M))
    ]


@pytest.fixture
def lived(grown_sample: Path, tmp_path: Path) -> Iterator[Memory]:
    """A copy of it, opened a day later."""
    shutil.copytree(grown_sample, tmp_path / "copy")
    home = Home(tmp_path / "copy/home", tmp_path / "copy/home")
    opening = Opening(
        home=home,
        clock=lambda: datetime(2026, 3, 10, 8, tzinfo=UTC),
        host=Host(entry_points=False),
        background=False,
    )
    with Memory.open(tmp_path / "copy/memory", opening) as memory:
        yield memory


def test_every_link_of_the_sample_leads_to_one_page() -> None:
    assert dead_links(SAMPLE) == []


def test_the_graph_of_the_sample_is_connected() -> None:
    texts = pages(SAMPLE)
    near: dict[str, set[str]] = {path: set() for path in texts}
    for path, target, _ in links(texts):
        near[path].add(target)
        near[target].add(path)
    degrees = {path: len(found - {path}) for path, found in near.items()}
    assert sum(degree == 0 for degree in degrees.values()) <= 2, degrees
    assert median(degrees.values()) >= 3, sorted(degrees.items(), key=lambda one: one[1])


def test_obsidiantools_sees_the_same() -> None:
    obsidian = pytest.importorskip("obsidiantools.api", reason="pip install obsidiantools")
    networkx = pytest.importorskip("networkx")
    vault = obsidian.Vault(SAMPLE).connect()
    # It knows a page by its name alone where no other has it, and never by its whole path.
    names = {str(path.with_suffix("")): name for name, path in vault.md_file_index.items()}
    assert [name for name in vault.nonexistent_notes if name not in names] == []
    graph = networkx.relabel_nodes(vault.graph, names)
    assert len(list(networkx.isolates(graph))) <= 2
    assert median(degree for _, degree in graph.degree()) >= 3


def test_each_property_has_one_type() -> None:
    types: dict[str, Counter[str]] = defaultdict(Counter)
    for path, text in pages(SAMPLE).items():
        for name, value in read(text, path).values.items():
            types[name][type(value).__name__] += 1
            assert not isinstance(value, dict), name
    assert {name: found for name, found in types.items() if len(found) > 1} == {}


def test_a_card_beside_another_of_its_key_is_found_by_the_key() -> None:
    found = SAMPLE / "semantic/小灶/decision.database-fe737098.md"
    assert read(found.read_text("utf-8"), "x").values["aliases"] == ["decision.database"]
    assert "取代 [[semantic/小灶/decision.database|→ decision.database]]" in found.read_text(
        "utf-8"
    )
    plain = SAMPLE / "semantic/小灶/decision.database.md"
    assert "aliases" not in read(plain.read_text("utf-8"), "x").values


@pytest.mark.parametrize(
    "words", ["数据库不用 MongoDB 了", "the treasurer is cancelling", "我不喜欢弹窗"]
)
def test_no_link_is_dead_after_forgetting(lived: Memory, words: str) -> None:
    forget(lived, Wanted(query=words))
    assert dead_links(lived.root) == []


def test_no_link_is_dead_after_forgetting_a_session_and_a_day(lived: Memory) -> None:
    forget(lived, Wanted(session="xiaozao-0225"))
    assert dead_links(lived.root) == []


@pytest.mark.parametrize(
    "words", ["数据库不用 MongoDB 了，改用 SQLite", "export for the treasurer"]
)
def test_no_link_is_dead_after_a_purge(lived: Memory, words: str) -> None:
    before = len(list(links(pages(lived.root))))
    purge(lived, Doomed(texts=(words,)), yes=True)
    assert dead_links(lived.root) == []
    assert 0 < len(list(links(pages(lived.root)))) < before


def test_no_link_is_dead_after_the_purge_of_a_session(lived: Memory) -> None:
    purge(lived, Doomed(sessions=("xiaozao-0228",)), yes=True)
    assert dead_links(lived.root) == []


def test_a_line_with_a_link_is_edited_like_any_other(lived: Memory) -> None:
    path = lived.root / "semantic/小灶.md"
    text = path.read_text("utf-8")
    assert "改用 SQLite" in text and "|→]] ^card-" in text
    # Obsidian itself changes a link where a file was renamed.
    path.write_text(
        text.replace("[[semantic/小灶/rule.deploy-time|→]]", "[[elsewhere|→]]"), "utf-8"
    )
    lived.take_edits()
    assert path.read_text("utf-8") == text
    path.write_text(text.replace("改用 SQLite", "改用 DuckDB"), "utf-8")
    lived.take_edits()
    [card] = [c for c in Shelf(lived.store).cards("decision.database") if "DuckDB" in c.value]
    assert card.confidence == 1.0 and "→" not in card.value


def test_pages_made_again_are_the_same(lived: Memory) -> None:
    changes, _ = Pages(lived.store, Shelf(lived.store), lived.settings).changes(
        Shelf(lived.store).heads()
    )
    assert [change.path for change in changes] == []


def test_a_card_that_moves_is_linked_where_it_is(memory: Memory) -> None:
    memory.remember("We deploy on Monday.", key="rule.deploy", type=CardType.RULE)
    memory.consolidate("daily")
    [card] = Shelf(memory.store).cards("rule.deploy")
    assert isinstance(card, Card)
    page = f"semantic/{card.category}.md"
    assert (
        f"[[semantic/{card.category}/rule.deploy|→]] ^{card.id}" in (memory.root / page).read_text()
    )
    assert dead_links(memory.root) == []


@pytest.mark.parametrize("lang", Lang)
def test_tables_name_only_properties_that_notes_have(lang: Lang) -> None:
    known = {"file.name", "kind", "status"} | set(LABELS)
    for path, text in views(lang):
        base = yaml.safe_load(text)
        assert path.endswith(".base") and set(base) == {"properties", "views"}
        assert {name.removeprefix("note.") for name in base["properties"]} <= known
        for view in base["views"]:
            assert view["type"] == "table" and set(view["order"]) <= known
            assert view["sort"][0]["property"] in view["order"]
            assert view["filters"]["and"]
    held = yaml.safe_load(
        dict(views(lang))["views/认定.base" if lang is Lang.ZH else "views/held.base"]
    )
    assert held["views"][0]["filters"]["and"][0] == 'file.inFolder("semantic")'


def test_the_tables_are_written_once_and_taken_back(lived: Memory) -> None:
    assert write_views(lived, dry_run=True).diff
    assert not (lived.root / "views").exists()
    report = write_views(lived)
    assert set(report.paths) == {"views/认定.base", "views/待审.base"}
    assert write_views(lived).paths == ()
    (lived.root / "views/认定.base").write_text("views: []\n", encoding="utf-8")
    assert "stays as it is" in write_views(lived).left_out[0]
    assert not (lived.root / ".obsidian").exists()


def test_the_command_says_what_it_wrote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "mine"
    assert run(["init", str(folder), "--name", "Mine", "--language", "en"]) == 0
    monkeypatch.setenv("KIMI_MEMORY", str(folder))
    assert run(["remember", "The deploy port is 8080."]) == 0
    assert run(["obsidian", "--dry-run"]) == 0
    assert "would write views/held.base" in capsys.readouterr().out
    assert run(["obsidian"]) == 0
    assert "wrote views/held.base" in capsys.readouterr().out
    assert run(["obsidian"]) == 0
    assert "there already" in capsys.readouterr().out
    assert (folder / "views/review.base").is_file()


def test_a_table_of_a_former_name_goes_unless_somebody_changed_it(memory: Memory) -> None:
    memory.remember("数据库改用 SQLite。", key="decision.database")
    folder = memory.root / "views"
    folder.mkdir()
    text = dict(views(Lang.ZH))["views/待审.base"].replace("等您处理", "等你处理")
    (folder / "复核.base").write_text(text, "utf-8")
    made = write_views(memory)
    assert not (folder / "复核.base").exists()
    assert "等您处理" in (folder / "待审.base").read_text("utf-8")
    memory.undo(made.id)
    assert (folder / "复核.base").read_text("utf-8") == text
    (folder / "复核.base").write_text(f"{text}\n", "utf-8")
    assert "is what it is called now" in write_views(memory).left_out[0]
    assert (folder / "复核.base").exists()
