"""Exports: a graph other programs read, cards by type, an index, JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Literal

import networkx
import pytest
from kimi_memory.plugins.export import (
    export_cards,
    export_graph,
    export_index,
    export_json,
    export_sessions,
)

from kimi_memory import Memory, Opening
from kimi_memory.capture.ingest import from_bytes, open_file
from kimi_memory.cli import run
from kimi_memory.domain.note import Card, CardType, Link, LinkRel, Source, Status
from kimi_memory.domain.session import Transcript
from kimi_memory.domain.tombstone import hash_of
from kimi_memory.errors import UsageError
from kimi_memory.operations.import_memories import import_store
from kimi_memory.store.notes import sessions
from kimi_memory.store.notes.notes import Shelf
from tests.cli.answers import answer
from tests.cli.conftest import folder  # noqa: F401  a fixture
from tests.jobs.notes import card, event, put


def some(memory: Memory) -> None:
    put(
        memory,
        card(
            "a", "我们用 PostgreSQL <数据库> & 备份", type=CardType.DECISION, key="db.choice",
            links=(
                Link("card-b", LinkRel.DEPENDS_ON, 0.9, "原因 \"<&>\""),
                Link("card-b", LinkRel.SIMILAR_TO, 0.8, "suggested: 0.80 alike"),
                Link("card-gone"),
            ),
            sources=(Source("s1", 1, 1),),
        ),
        card("b", "Back up before [any] migration", type=CardType.GOTCHA),
        card("old", "Was MySQL", status=Status.SUPERSEDED),
        event("e", "See [[db.choice]]"),
    )  # fmt: skip
    (memory.root / "semantic/broken.md").write_text("---\nid: x\n---\n", encoding="utf-8")


def test_networkx_reads_the_graph_with_every_attribute(memory: Memory, tmp_path: Path) -> None:
    some(memory)
    path = tmp_path / "out/graph.graphml"
    done = export_graph(memory, path)
    graph = networkx.read_graphml(path, force_multigraph=True)
    assert (done.notes, done.edges) == (4, 5)
    kinds = {id for id, node in graph.nodes(data=True) if node["kind"] != "identity"}
    assert kinds == {"card-a", "card-b", "event-e", "card-gone", "session:s1"}
    node = graph.nodes["card-a"]
    assert node["label"] == "我们用 PostgreSQL <数据库> & 备份"
    assert (node["kind"], node["type"], node["confidence"]) == ("card", "decision", 0.5)
    assert graph.nodes["session:s1"]["kind"] == "session"
    assert graph.nodes["card-gone"]["kind"] == "missing"
    edges = {(s, t, d["rel"]): d for s, t, d in graph.edges(data=True)}
    edge = edges["card-a", "card-b", "DEPENDS_ON"]
    assert (edge["weight"], edge["reason"], edge["inverse"]) == (0.9, '原因 "<&>"', "NEEDED_BY")
    assert (edge["suggested"], edges["card-a", "card-b", "SIMILAR_TO"]["suggested"]) == (
        False,
        True,
    )
    assert edges["event-e", "card-a", "RELATES_TO"]["derived"] == "wikilink"
    assert networkx.shortest_path(graph.to_undirected(), "session:s1", "event-e") == [
        "session:s1",
        "card-a",
        "event-e",
    ]


def test_the_past_is_exported_on_request_alone(memory: Memory, tmp_path: Path) -> None:
    some(memory)
    export_graph(memory, tmp_path / "all.graphml", past=True)
    assert "card-old" in networkx.read_graphml(tmp_path / "all.graphml").nodes


def test_characters_that_xml_cannot_hold_do_not_break_the_graph(
    memory: Memory, tmp_path: Path
) -> None:
    put(memory, card("a", "odd \ufffe character", title="odd \ufffe title"))
    export_graph(memory, tmp_path / "g.graphml")
    graph = networkx.read_graphml(tmp_path / "g.graphml")
    assert graph.nodes["card-a"]["label"] == "odd \ufffd title"


def test_cards_are_exported_by_type_byte_for_byte_with_an_index(
    memory: Memory, tmp_path: Path
) -> None:
    some(memory)
    put(memory, card("twin", "Another of that file name", key="db.choice", category="other"))
    put(memory, card("third", "同名", key="db.choice", category="third", type=CardType.DECISION))
    out = tmp_path / "cards"
    done = export_cards(memory, out)
    files = sorted(path.relative_to(out).as_posix() for path in out.rglob("*.md"))
    assert files == [
        "decision/db.choice-rd-third.md",
        "decision/db.choice.md",
        "fact/db.choice.md",
        "gotcha/k.b.md",
        "index.md",
    ]
    assert (done.files, done.notes) == (5, 4)
    original = (memory.root / memory.get("card-a").path).read_bytes()
    assert (out / "decision/db.choice.md").read_bytes() == original
    index = (out / "index.md").read_text(encoding="utf-8")
    assert "4 张卡片" in index and "## 决策" in index
    assert "[Back up before (any) migration](<gotcha/k.b.md>)" in index


def test_an_english_memory_has_an_english_index(memory: Memory, tmp_path: Path) -> None:
    put(memory, card("a", "Back up first", type=CardType.RULE))
    export_index(memory, tmp_path / "index.md")
    text = (tmp_path / "index.md").read_text(encoding="utf-8")
    assert "1 cards, exported on 2026-02-27." in text and "## Rules" in text
    assert f"<{memory.get('card-a').path}>" in text


def test_json_holds_all_of_a_card(memory: Memory, tmp_path: Path) -> None:
    some(memory)
    assert export_json(memory, tmp_path / "cards.json").notes == 2
    first = json.loads((tmp_path / "cards.json").read_text(encoding="utf-8"))["cards"][0]
    assert (first["id"], first["key"], first["type"]) == ("card-a", "db.choice", "decision")
    assert first["links"][0] == {
        "to": "card-b", "rel": "DEPENDS_ON", "weight": 0.9, "reason": '原因 "<&>"',
    }  # fmt: skip
    assert first["sources"] == ["session:s1#1 supports"]
    assert first["valid_to"] is None


@pytest.mark.parametrize("export", [export_graph, export_index, export_json])
def test_nothing_is_overwritten_unasked(memory: Memory, tmp_path: Path, export) -> None:
    some(memory)
    path = tmp_path / "there"
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match="there already"):
        export(memory, path)
    assert path.read_text(encoding="utf-8") == "mine"
    export(memory, path, force=True)
    assert path.read_text(encoding="utf-8") != "mine"


def test_a_folder_in_use_is_left_alone(memory: Memory, tmp_path: Path) -> None:
    some(memory)
    (tmp_path / "used").mkdir()
    (tmp_path / "used/mine.md").write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match="not empty"):
        export_cards(memory, tmp_path / "used")
    export_cards(memory, tmp_path / "used", force=True)
    assert (tmp_path / "used/mine.md").read_text(encoding="utf-8") == "mine"


def test_a_memory_is_not_exported_into_itself(memory: Memory, tmp_path: Path) -> None:
    some(memory)
    for export in (export_cards, export_json):
        with pytest.raises(UsageError, match="in the memory itself"):
            export(memory, memory.root / "export")
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(UsageError, match="cannot be written"):
        export_json(memory, tmp_path / "file/cards.json")


def shape(memory: Memory) -> list[tuple[object, ...]]:
    """Return what of its live cards a memory must not lose on the way through an export."""
    notes = [filed.note for filed in Shelf(memory.store).notes("card")]
    cards = [note for note in notes if isinstance(note, Card)]
    live = [card for card in cards if card.status is not Status.SUPERSEDED]
    keys = {c.id: c.key for c in live}
    return sorted(
        (
            c.key,
            str(c.type),
            "\n".join(filter(None, (c.value, c.applies, c.usage, c.caveats))),
            c.project,
            c.scope,
            str(c.lang),
            tuple(sorted(tag for tag in c.tags if not tag.startswith("from/"))),
            tuple(sorted((keys[to.to], str(to.rel), to.weight) for to in c.links if to.to in keys)),
        )
        for c in live
    )


@pytest.fixture
def varied(memory: Memory) -> Memory:
    put(
        memory,
        card("a", "我们用 PostgreSQL。", type=CardType.DECISION, key="db.choice", project="小灶"),
        replace(
            card("b", "Back up first.", type=CardType.GOTCHA, key="db.backup"),
            applies="before any migration",
            caveats="not while it runs",
            tags=("db", "安全"),
            links=(Link("card-a", LinkRel.DEPENDS_ON, 0.9, "why"),),
        ),
        replace(card("c", "只有助理知道的事。", key="own.thing"), scope="agent:scout"),
        card("old", "Was MySQL", status=Status.SUPERSEDED),
    )
    return memory


@pytest.mark.parametrize(
    ("export", "name"),
    [(export_cards, "out"), (export_json, "out.json"), (export_json, "out")],
    ids=["cards", "json", "json under any name"],
)
def test_an_export_comes_back_whole(
    varied: Memory,
    tmp_path: Path,
    opening: Opening,
    export: Callable[[Memory, Path], object],
    name: str,
) -> None:
    place = tmp_path / name
    export(varied, place)
    with Memory.create(tmp_path / "other", opening=opening) as other:
        found = import_store(other, place)
        assert (found.seen, found.skipped) == (3, ())
        assert shape(other) == shape(varied)
    # In the memory it came from every card is known.
    before = shape(varied)
    import_store(varied, place)
    assert shape(varied) == before


def test_a_card_that_stands_twice_in_an_export_comes_back_once(
    varied: Memory, tmp_path: Path, opening: Opening
) -> None:
    place = tmp_path / "out.json"
    export_json(varied, place)
    document = json.loads(place.read_text("utf-8"))
    place.write_text(json.dumps({**document, "cards": document["cards"] * 2}), "utf-8")
    with Memory.create(tmp_path / "other", opening=opening) as other:
        assert import_store(other, place).seen == 3
        assert shape(other) == shape(varied)


@pytest.mark.parametrize("form", ["index", "graphml"])
def test_an_export_for_reading_says_so_when_it_is_imported(
    varied: Memory, tmp_path: Path, form: str
) -> None:
    place = tmp_path / ("out.md" if form == "index" else "out.graphml")
    {"index": export_index, "graphml": export_graph}[form](varied, place)
    found = import_store(varied, place)
    assert found.seen == 0
    assert "index and graphml are for reading only" in found.skipped[-1]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_memory_folder_without_words_of_anyone_has_nothing_to_import(
    tmp_path: Path, opening: Opening, language: Literal["en", "zh"]
) -> None:
    """Template lines of its pages are nobody's facts."""
    with Memory.create(tmp_path / "a", name="小李", language=language, opening=opening):
        pass
    with Memory.create(tmp_path / "b", opening=opening) as other:
        assert import_store(other, tmp_path / "a").seen == 0
        mine = tmp_path / "a/USER.md"
        text = mine.read_text("utf-8") + "- My sister lives in Trondheim.\n"
        mine.write_text(text, encoding="utf-8")
        assert import_store(other, tmp_path / "a").seen == 1


def test_a_json_export_that_is_cut_off_is_named(varied: Memory, tmp_path: Path) -> None:
    place = tmp_path / "out.json"
    export_json(varied, place)
    for content in (place.read_text("utf-8")[:-40], place.read_text("utf-8").replace("0.9", '"x"')):
        place.write_text(content, encoding="utf-8")
        found = import_store(varied, place)
        assert found.seen == 0
        assert "no whole JSON export" in found.skipped[0]


TOKEN = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
CALLS = [{"name": "push", "arguments": {"to": "origin", "password": "hunter2-hunter2"}}]
SEED = {
    "id": "session-20260331-062900",
    "timestamp": 1743403740000,
    "channel": "telegram",
    "agent": "main",
    "turns": [
        {"role": "user", "content": "帮我分析一下端口", "timestamp": 1743403740000},
        {
            **{"role": "assistant", "content": "好的,端口是 8080。", "timestamp": 1743403745000},
            "tool_calls": [*CALLS, {"name": "run", "arguments": json.dumps({"key": TOKEN})}],
        },
    ],
    "metadata": {"duration_ms": 12000, "model": "m", "tokens": 2345, "auth": f"Bearer {TOKEN}"},
}


def take(memory: Memory, document: object) -> None:
    file = from_bytes("s.json", json.dumps(document).encode())
    list(memory.ingest([file]))


def transcripts(memory: Memory) -> list[Transcript]:
    found = [sessions.read(memory.store, place.path) for place in sessions.places(memory.store)]
    return sorted(found, key=lambda one: one.session.id)


def plain(transcript: Transcript) -> Transcript:
    """Return a transcript without what says where it was captured and what was masked there."""
    session = replace(transcript.session, host="")
    turns = tuple(replace(turn, context="", masked=0, ref="") for turn in transcript.turns)
    return replace(transcript, session=session, turns=turns, ended=None)


def test_tool_calls_and_metadata_are_kept_without_their_secrets(memory: Memory) -> None:
    take(memory, SEED)
    [kept] = transcripts(memory)
    assert kept.metadata["duration_ms"] == 12000
    assert kept.metadata["tokens"] == 2345
    assert [call["name"] for call in kept.turns[1].tool_calls] == ["push", "run"]
    assert kept.turns[1].tool_calls[0]["arguments"]["to"] == "origin"
    memory.end(kept.session.id)
    written = [path.read_bytes() for path in memory.root.rglob("session_*") if path.is_file()]
    assert written
    assert not any(TOKEN.encode() in content or b"hunter2" in content for content in written)
    page = next(memory.root.glob("episodic/sessions/*/*.md")).read_text("utf-8")
    assert "> tools: push, run" in page


def test_what_is_exported_comes_back(memory: Memory, tmp_path: Path, opening: Opening) -> None:
    take(memory, SEED)
    with memory.session("talk", agent="kimi", project="商城") as talk:
        talk.turn("user", "我们决定用 PostgreSQL，因为它支持全文搜索。")
        talk.turn("tool", "PostgreSQL 16", speaker="psql")
        talk.state(task={"name": "选型"}, variables={"step": 2})
    done = export_sessions(memory, tmp_path / "out")
    assert (done.notes, done.files) == (2, 2)
    with Memory.create(tmp_path / "other", opening=opening) as other:
        list(other.ingest(map(open_file, sorted(done.path.rglob("*.json")))))
        for before, after in zip(transcripts(memory), transcripts(other), strict=True):
            assert plain(before) == plain(after)


def test_calls_that_have_no_room_are_left_out_aloud(memory: Memory) -> None:
    limit = memory.settings.capture.max_turn_bytes
    deep: list[object] = []
    for _ in range(150):
        deep = [deep]
    calls = [{"name": "a"}, {"deep": deep}, {"n": float("nan")}, {"x": ["x" * 99] * limit}, {}]
    take(memory, {**SEED, "turns": [{**SEED["turns"][1], "tool_calls": calls}]})
    [kept] = transcripts(memory)
    said = [{"name": "a"}, {"cut": "nested too deep"}, {"n": None}, {"cut": "2 calls"}]
    assert list(kept.turns[0].tool_calls) == said


def test_metadata_of_later_turns_is_merged(memory: Memory) -> None:
    take(memory, SEED)
    more = [*SEED["turns"], {"role": "user", "content": "谢谢"}]
    take(memory, {**SEED, "turns": more, "metadata": {"tokens": 9000}})
    [kept] = transcripts(memory)
    assert (kept.metadata["tokens"], kept.metadata["duration_ms"]) == (9000, 12000)


def test_a_purged_session_keeps_no_calls(memory: Memory) -> None:
    from kimi_memory.jobs.purge_file import Scrub, Targets

    take(memory, SEED)
    [place] = sessions.places(memory.store)
    scrub = Scrub(Targets(sessions=frozenset({place.id})), hash_of)
    left = scrub.content(place.path, memory.store.read(place.path))
    assert b"push" not in left
    assert b"12000" not in left


def test_sessions_are_not_exported_into_the_memory(memory: Memory, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="lies in the memory"):
        export_sessions(memory, memory.root / "out")
    (tmp_path / "full").mkdir()
    (tmp_path / "full/x").touch()
    with pytest.raises(UsageError, match="not empty"):
        export_sessions(memory, tmp_path / "full")


@pytest.mark.parametrize("form", ["cards", "index", "json", "graphml"])
def test_every_form_is_written_once(folder, tmp_path: Path, capsys, form: str) -> None:  # noqa: F811  the fixture
    run(["remember", "我们决定用 PostgreSQL 当数据库。", "--key", "db.choice"])
    capsys.readouterr()
    path = tmp_path / "out"
    done = answer(capsys, "export", form, str(path))
    assert done["path"] == str(path)
    assert done["notes"] >= 1
    text = "".join(p.read_text("utf-8") for p in ([path] if path.is_file() else path.rglob("*.md")))
    assert "db.choice" in text or "PostgreSQL" in text
    assert run(["export", form, str(path)]) == 2
    assert "--force" in capsys.readouterr().err
    assert run(["export", form, str(path), "--force", "--all"]) == 0
    assert "notes" in capsys.readouterr().out


def test_json_is_one_document(folder, tmp_path: Path, capsys) -> None:  # noqa: F811  the fixture
    run(["export", "json", str(tmp_path / "cards.json")])
    assert json.loads((tmp_path / "cards.json").read_text("utf-8"))["memory"] == "测试"
