"""The language server over real standard input and output, on Chinese and English files."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.domain.note import Status
from kimi_memory.hooks.host import Host
from kimi_memory.store.notes.notes import Shelf
from tests.lsp.editor import Editor

pytest.importorskip("pygls", reason="pip install kimi-memory[lsp]")

CARD = "semantic/小灶/decision.database-fe737098.md"
DAY = "episodic/daily/2026-02-28.md"


@pytest.fixture(scope="module")
def place(grown_sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample with its history, to write in."""
    root = tmp_path_factory.mktemp("lsp") / "小灶 memory"
    shutil.copytree(grown_sample, root)
    return root


@pytest.fixture(scope="module")
def editor(place: Path) -> Iterator[Editor]:
    """An editor with the folder open; the memory is read by all tests here, and written by some."""
    one = Editor(place / "memory", place / "home")
    # Files are read in the background: what is asked before that is answered with what is known.
    deadline = time.monotonic() + 60
    while not one.run("kimi.held") and time.monotonic() < deadline:
        time.sleep(0.1)
    yield one
    assert one.close() == 0


def read(editor: Editor, path: str) -> str:
    return (editor.root / path).read_text("utf-8")


def test_the_editor_learns_what_the_server_can(editor: Editor) -> None:
    can = editor.capabilities
    for name in ("hover", "definition", "references", "completion", "documentSymbol", "codeLens"):
        assert can.get(f"{name}Provider"), name
    assert can["renameProvider"]["prepareProvider"] is True
    assert can["codeActionProvider"] and can["positionEncoding"] in ("utf-16", None)
    assert {"kimi.recall", "kimi.accept", "kimi.undo"} <= set(
        can["executeCommandProvider"]["commands"]
    )


def test_a_mark_shows_the_card_with_its_proof(editor: Editor) -> None:
    editor.open("MEMORY.md")
    shown = editor.at("hover", "MEMORY.md", "^card-01kjheh4t8t16gm3nqrt33g10q", 3)
    text = shown["contents"]["value"]
    assert "decision.database" in text and "改用 SQLite" in text and "0.80" in text
    assert "林夏" in text and "✓ 引文原样在" in text and "session:xiaozao-0228#16" in text
    # Columns are counted in UTF-16; the characters of this line are one unit each.
    line = read(editor, "MEMORY.md").splitlines()[shown["range"]["start"]["line"]]
    assert line[shown["range"]["start"]["character"] :].startswith("^card-01kjheh4t8")


def test_columns_behind_a_wide_character_are_right(editor: Editor) -> None:
    path = "USER.md"
    text = "# 我\n\n- 🐈🐈 豆包 ^card-01kjadvak828pnds28ggbpxca5\n"
    editor.open(path, text)
    column = len("- 🐈🐈 豆包 ^card".encode("utf-16-le")) // 2
    asked = {
        "textDocument": {"uri": editor.uri(path)},
        "position": {"line": 2, "character": column},
    }
    shown = editor.ask("textDocument/hover", asked)
    assert "橘色" in shown["contents"]["value"]
    assert shown["range"]["start"]["character"] == len("- 🐈🐈 豆包 ".encode("utf-16-le")) // 2


def test_a_card_that_was_replaced_says_by_what(editor: Editor) -> None:
    path = "semantic/小灶/decision.database.md"
    editor.open(path)
    text = editor.at("hover", path, "key: ", 6)["contents"]["value"]
    assert "superseded" in text and "被取代" in text and "改用 SQLite" in text


def test_a_turn_shows_what_rests_on_it(editor: Editor) -> None:
    editor.open(CARD)
    text = editor.at("hover", CARD, "session:xiaozao-0228#16", 4)["contents"]["value"]
    assert "想好了" in text and "由它得来" in text and "card · active" in text
    page = "episodic/sessions/2026-02/session_xiaozao-0228.md"
    editor.open(page, read(editor, page))
    assert "由它得来" in editor.at("hover", page, "### #16 ", 2)["contents"]["value"]
    nobody = editor.at("hover", page, "### #2 ", 2)["contents"]["value"]
    assert "没有卡片或事件由它得来" in nobody


def test_links_lead_to_their_files_and_lines(editor: Editor) -> None:
    editor.open(DAY)
    there = editor.at("definition", DAY, "[[semantic/小灶/decision.font-size|", 4)
    assert there["uri"] == editor.uri("semantic/小灶/decision.font-size.md")
    there = editor.at("definition", DAY, "[[session_xiaozao-0228#^t16|", 4)
    page = "episodic/sessions/2026-02/session_xiaozao-0228.md"
    assert there["uri"] == editor.uri(page)
    assert read(editor, page).splitlines()[there["range"]["start"]["line"]].startswith("### #16 ")


def test_references_of_a_card_and_of_a_turn(editor: Editor) -> None:
    editor.open(CARD)
    near = editor.at("references", CARD, "key: ", 6, context={"includeDeclaration": False})
    paths = {one["uri"] for one in near}
    wanted = ("MEMORY.md", DAY, "semantic/小灶.md", "mid-term/projects/小灶.md")
    assert {editor.uri(path) for path in wanted} <= paths
    memory = next(one for one in near if one["uri"] == editor.uri("MEMORY.md"))
    line = read(editor, "MEMORY.md").splitlines()[memory["range"]["start"]["line"]]
    assert line[memory["range"]["start"]["character"] :].startswith("^card-01kjheh4t8")
    turn = editor.at(
        "references", CARD, "session:xiaozao-0228#16", 4, context={"includeDeclaration": False}
    )
    assert len({one["uri"] for one in turn}) >= 3


def test_symbols_and_completion(editor: Editor) -> None:
    editor.open("semantic/小灶.md")
    asked = {"textDocument": {"uri": editor.uri("semantic/小灶.md")}}
    [top] = editor.ask("textDocument/documentSymbol", asked)
    assert top["name"] == "小灶"
    sections = {one["name"]: one for one in top["children"]}
    assert any("SQLite" in one["name"] for one in sections["决策"]["children"])

    editor.open("PROJECT.md", "# 项目\n\n见 [[字号\n- decision.da\n")
    place = {"line": 2, "character": len("见 [[字号")}
    document = {"uri": editor.uri("PROJECT.md")}
    found = editor.ask("textDocument/completion", {"textDocument": document, "position": place})[
        "items"
    ]
    [one] = [item for item in found if "decision.font-size" in item["detail"]]
    assert one["textEdit"]["newText"] == "decision.font-size"
    assert one["textEdit"]["range"]["start"] == {"line": 2, "character": len("见 [[")}
    place = {"line": 3, "character": len("- decision.da")}
    found = editor.ask("textDocument/completion", {"textDocument": document, "position": place})[
        "items"
    ]
    assert "decision.database" in [one["label"] for one in found]


def test_what_is_wrong_is_found_on_its_line(editor: Editor) -> None:
    text = read(editor, CARD)
    assert editor.open(CARD) == []
    quote = next(line for line in text.splitlines() if line.startswith("> 想好了"))
    [found] = editor.change(CARD, text.replace(quote, "> 从没说过这句话"))
    assert (found["code"], found["source"]) == ("quote", "kimi-memory")
    [found] = editor.change(CARD, text.replace("type: decision", "type: nonsense"))
    assert found["code"] == "broken" and "nonsense" in found["message"]
    assert text.splitlines()[found["range"]["start"]["line"]] == "type: decision"
    [found] = editor.change(CARD, text.replace("decision.database|→", "gone.nowhere|→"))
    assert found["code"] == "dead" and "gone.nowhere leads nowhere" in found["message"]
    assert editor.change(CARD, text) == []


def test_an_edited_page_offers_to_take_it_over(editor: Editor) -> None:
    text = read(editor, "semantic/小灶.md")
    editor.open("semantic/小灶.md", text.replace("18 号", "20 号"))
    asked = {
        "textDocument": {"uri": editor.uri("semantic/小灶.md")},
        "range": {"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}},
        "context": {"diagnostics": []},
    }
    [action] = editor.ask("textDocument/codeAction", asked)
    assert action["command"]["command"] == "kimi.takeEdits"


def test_other_files_and_commands_that_make_no_sense_are_refused(editor: Editor) -> None:
    outside = Path(editor.root).parent / "other.md"
    outside.write_text("[[MEMORY]]\n", encoding="utf-8")
    asked = {
        "textDocument": {"uri": outside.as_uri()},
        "position": {"line": 0, "character": 3},
    }
    assert editor.ask("textDocument/hover", asked) is None
    assert "Argument 1" in editor.run("kimi.recall", refused=True)
    assert "is no job" in editor.run("kimi.run", "rm -rf", refused=True)
    assert "card-nobody" in editor.run("kimi.trace", "card-nobody", refused=True)


def test_recall_trace_and_lists(editor: Editor) -> None:
    [first, *_] = editor.run("kimi.recall", "小灶用什么数据库")
    assert "SQLite" in first["text"] and first["path"].endswith(".md")
    assert "✓" in editor.run("kimi.trace", "card-01kjheh4t8t16gm3nqrt33g10q")
    held = editor.run("kimi.held")
    assert {"decision", "rule", "preference"} <= {one["type"] for one in held}
    assert {one["id"] for one in editor.run("kimi.sessions")} >= {"xiaozao-0228"}


def test_a_dry_run_writes_nothing_and_a_proposal_is_accepted_and_undone(editor: Editor) -> None:
    before = {path: path.read_bytes() for path in editor.root.rglob("*.md")}
    assert editor.run("kimi.run", "daily")["failed"] == []
    assert editor.run("kimi.forget", "card-01kjheh4t8t16gm3nqrt33g10q")["diff"]
    assert before == {path: path.read_bytes() for path in editor.root.rglob("*.md")}

    waiting = editor.run("kimi.review")
    one = next(item for item in waiting if "deploy on Friday" in item["text"])
    assert "+" in one["diff"] and one["evidence"]
    done = editor.run("kimi.accept", one["id"], one["fingerprint"])
    assert "never deploy on Friday" in read(editor, "long-term/IDENTITY.md")
    assert len(editor.run("kimi.review")) == len(waiting) - 1
    editor.run("kimi.undo", done["jobs"][0])
    assert len(editor.run("kimi.review")) == len(waiting)


def test_a_decision_is_about_the_words_that_were_shown(editor: Editor) -> None:
    waiting = editor.run("kimi.review")
    one = next(item for item in waiting if "deploy on Friday" in item["text"])
    path = editor.root / one["path"]
    editor.open(one["path"])
    asked = {
        "textDocument": {"uri": editor.uri(one["path"])},
        "range": {"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}},
        "context": {"diagnostics": []},
    }
    given = next(
        action["command"]["arguments"]
        for action in editor.ask("textDocument/codeAction", asked)
        if action["command"]["command"] == "kimi.accept"
    )
    assert given == [one["id"], one["fingerprint"]]
    path.write_text(path.read_text("utf-8").replace("on Friday", "on Monday"), "utf-8")
    for command in ("kimi.accept", "kimi.reject"):
        assert "changed since it was shown" in editor.run(command, *given, refused=True)
        assert "fingerprint" in editor.run(command, one["id"], refused=True)
    assert "on Monday" not in read(editor, "long-term/IDENTITY.md")
    assert path.exists()


def test_a_key_is_renamed_by_a_job_with_a_dry_run(editor: Editor) -> None:
    path = "semantic/trailhead/decision.backend.md"
    editor.open(path)
    may = editor.at("prepareRename", path, "key: ", 6)
    assert may["start"]["character"] == len("key: ")
    dry = editor.run("kimi.rename", "decision.backend", "decision.server")
    assert "+key: decision.server" in dry["diff"]
    assert "key: decision.backend" in read(editor, path)
    editor.at("rename", path, "key: ", 6, newName="decision.server")
    assert "key: decision.server" in read(editor, path)
    refused = editor.ask(
        "textDocument/rename",
        {
            "textDocument": {"uri": editor.uri(path)},
            "position": {"line": 0, "character": 0},
            "newName": "x",
        },
        refused=True,
    )
    assert "Only the key" in refused


def test_a_conflict_is_settled_from_its_card(place: Path) -> None:
    root = place / "other"
    home = Home(place / "home", place / "home")
    opening = Opening(home=home, host=Host(entry_points=False), background=False)
    with Memory.create(root, name="冲突", opening=opening) as memory:
        memory.remember("部署端口是 8080。", key="deploy.port")
        memory.remember("部署端口是 8081。", key="deploy.port")
        cards = Shelf(memory.store).cards("deploy.port")
        assert {card.status for card in cards} == {Status.CONFLICTED}
        paths = [memory.get(card.id).path for card in cards]
    editor = Editor(root, place / "home", codeLens=True)
    [found] = editor.open(paths[1])
    assert found["code"] == "conflict"
    [lens] = editor.ask("textDocument/codeLens", {"textDocument": {"uri": editor.uri(paths[1])}})
    assert lens["command"]["title"] == "0 wait · 1 in conflict"
    asked = {
        "textDocument": {"uri": editor.uri(paths[1])},
        "range": found["range"],
        "context": {"diagnostics": [found]},
    }
    [action] = editor.ask("textDocument/codeAction", asked)
    assert cards[1].value in action["title"]
    editor.run(action["command"]["command"], *action["command"]["arguments"])
    assert editor.run("kimi.conflicts") == []
    assert editor.close() == 0


def test_without_a_memory_the_server_answers_nothing(tmp_path: Path) -> None:
    (tmp_path / "笔记.md").write_text("[[MEMORY]]\n", encoding="utf-8")
    editor = Editor(tmp_path, tmp_path)
    asked = {
        "textDocument": {"uri": editor.uri("笔记.md")},
        "position": {"line": 0, "character": 3},
    }
    assert editor.ask("textDocument/hover", asked) is None
    assert "No memory is open" in editor.run("kimi.held", refused=True)
    assert editor.close() == 0
