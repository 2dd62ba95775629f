"""Units: what a file is cut into, and on which lines each piece stands."""

from __future__ import annotations

import pytest
from folders import Folder
from kimi_memory.plugins.markdown import split_note

from kimi_memory.domain.search_types import Chunk, ChunkSizes, Unit
from kimi_memory.errors import FormatError
from kimi_memory.index.files import Folder as Looked
from kimi_memory.index.files import is_searchable
from kimi_memory.index.units import read_units, tier_of


def whole(text: str) -> list[Chunk]:
    return [Chunk(1, max(1, text.count("\n")), text)]


def units(folder: Folder, path: str) -> list[Unit]:
    return read_units(path, (folder.root / path).read_bytes(), whole)


def test_each_turn_names_its_own_line(folder: Folder) -> None:
    path = folder.session("s", [("Ann", "你好"), ("assistant", "Hello.")], project="p", agent="a")
    folder.state(path, goal="none")
    first, second = units(folder, path)
    assert (first.id, first.first, first.speaker, first.role) == ("session:s#1", 2, "Ann", "user")
    assert (second.id, second.last, second.project, second.agent) == ("session:s#2", 3, "p", "a")


def test_turns_of_a_continuation_share_its_root(folder: Folder) -> None:
    path = folder.session("s.3", [("user", "go on")], continues="s.2")
    assert units(folder, path)[0].session == "s"
    path = folder.session("v1.2", [("user", "a name with a dot")])
    assert units(folder, path)[0].session == "v1.2"


def test_a_line_a_person_rewrote_keeps_its_place(folder: Folder) -> None:
    path = folder.session("s", [("user", "one")])
    turn = (
        b'{ "n": 2, "at": "2026-02-27T09:00:00Z", "kind": "turn", "role": "user", "text": "two" }\n'
    )
    with (folder.root / path).open("ab") as file:
        file.write(b"\n" + turn)
    assert [(unit.text, unit.first) for unit in units(folder, path)] == [("one", 2), ("two", 4)]
    folder.index().refresh()
    assert folder.ask("two").hits[0].citation.endswith("#L4")


def test_a_torn_last_line_is_no_turn(folder: Folder) -> None:
    path = folder.session("s", [("user", "one")])
    with (folder.root / path).open("ab") as file:
        file.write(b'{"kind":"turn","n":2,"at":"2026')
    assert [unit.text for unit in units(folder, path)] == ["one"]


def test_chunks_count_lines_from_the_top_of_the_file(folder: Folder) -> None:
    folder.write("notes/a.md", "---\ntags: [x]\n---\nfirst\nsecond\n")
    (unit,) = units(folder, "notes/a.md")
    assert (unit.id, unit.first, unit.last, unit.kind) == ("notes/a.md#L4", 4, 5, "page")


def test_a_card_is_one_unit_with_all_its_fields(folder: Folder) -> None:
    path = folder.card("db", "数据库", "PostgreSQL。", usage="psql", caveats="慢", tags=("db",))
    (unit,) = units(folder, path)
    assert unit.id == "card-db"
    assert unit.kind == "card"
    assert unit.title == "数据库"
    assert [part in unit.text for part in ("PostgreSQL", "psql", "慢")] == [True] * 3
    assert unit.tags == ("db",)


def test_what_cannot_be_parsed_is_an_error_with_its_line() -> None:
    with pytest.raises(FormatError):
        read_units("a.md", b"\xff\xfe\x00", whole)
    with pytest.raises(FormatError):
        read_units("short-term/session_x.jsonl", b"{}\n{}\n", whole)


@pytest.mark.parametrize(
    ("path", "searchable"),
    [
        ("short-term/session_a.jsonl", True),
        ("episodic/sessions/2026-02/session_a.jsonl", True),
        ("episodic/sessions/2026-02/session_a.md", False),
        ("episodic/20260227_x.md", True),
        ("short-term/session_a.json", False),
        ("short-term/recalls.jsonl", False),
        ("mid-term/usage.jsonl", False),
        ("notes/.#draft.md", False),
        ("notes/#draft.md#", False),
        ("notes/笔记.md", True),
        ("review/p.md", False),
        ("MEMORY.md", True),
    ],
)
def test_only_turns_and_pages_are_searched(path: str, searchable: bool) -> None:
    assert is_searchable(path) is searchable


def test_hidden_files_and_links_are_passed_by(folder: Folder) -> None:
    folder.write("notes/a.md", "a")
    folder.write(".obsidian/b.md", "b")
    folder.write("notes/.c.md", "c")
    (folder.root / "notes/d.md").symlink_to(folder.root / "notes/a.md")
    (folder.root / "linked").symlink_to(folder.root / "notes")
    looked = Looked(folder.root)
    looked.scan()
    assert list(looked.stats) == ["notes/a.md"]


@pytest.mark.parametrize(
    ("path", "tier"), [("semantic/a/b.md", "semantic"), ("USER.md", "page"), ("notes/x.md", "page")]
)
def test_the_folder_is_the_tier(path: str, tier: str) -> None:
    assert tier_of(path) == tier


def test_headings_over_lines_that_repeat_cards_are_no_units() -> None:
    page = "# Memory\n\n## Facts\n\n- [0.90] a: b ^card-01\n\n## Mine\n\nmy own line\n"
    units = read_units("MEMORY.md", page.encode(), lambda text: split_note(text, ChunkSizes()))
    assert ["my own line" in unit.text for unit in units] == [True]


def test_a_page_may_lower_its_own_trust_and_say_whose_it_is(folder: Folder) -> None:
    page = folder.root / "page.md"
    for head, told in (
        ("agent: kimi\ntrust: agent", ("agent", "kimi")),
        ("agent: 3\ntrust: divine", ("human", "")),
        ("tags: [x]", ("human", "")),
    ):
        page.write_text(f"---\n{head}\n---\nwords\n", encoding="utf-8")
        (unit,) = units(folder, "page.md")
        assert (unit.trust, unit.agent) == told
