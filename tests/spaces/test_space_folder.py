"""A space in its folder: members come and go, memories are shared, each change is a commit."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from kimi_memory.api.options import Home
from kimi_memory.errors import DeniedError, FormatError, NotFoundError, UsageError
from kimi_memory.spaces.space_files import read_registry
from kimi_memory.spaces.space_folder import SpaceFolder, find_space_of
from kimi_memory.store.git.command import Git
from tests.spaces.conftest import MEMORY


def subjects(space: SpaceFolder) -> list[str]:
    git = Git(space.root, space.root / ".git")
    return git.run("log", "--format=%s").decode().splitlines()


def test_every_change_is_a_commit_and_a_line_of_the_log(space: SpaceFolder) -> None:
    space.grant("writer@shop", ["keeper"])
    space.remove("reader@shop")
    space.unshare("tea")
    assert subjects(space)[:3] == [
        "tea is not shared any more", "reader@shop is out", "writer@shop is keeper"
    ]  # fmt: skip
    assert subjects(space)[-2:] == ["tea is shared", "Space shop"]
    lines = list(space.log.records())[-3:]
    assert [(one.action, one.resource) for one in lines] == [
        ("member", "writer@shop is keeper"), ("member", "reader@shop is out"), ("share", "tea")
    ]  # fmt: skip
    git = Git(space.root, space.root / ".git")
    space.log.commit("Audit log")
    assert git.run("status", "--porcelain") == b""


def test_what_changed_holds_from_the_next_question_on(space: SpaceFolder) -> None:
    other = SpaceFolder.open(space.home, "shop")
    assert other.decide("reader@shop", "recall", MEMORY)
    space.remove("reader@shop")
    assert other.decide("reader@shop", "recall", MEMORY).why == (
        "reader@shop is no member of the space shop"
    )
    space.add("reader@shop", ["owner"])
    assert other.decide("reader@shop", "purge", MEMORY)
    space.unshare("tea")
    assert not other.decide("reader@shop", "recall", MEMORY)


def test_a_commit_that_is_taken_back_takes_the_right_back(space: SpaceFolder) -> None:
    space.add("lin", ["owner"])
    Git(space.root, space.root / ".git").run("revert", "--no-edit", "HEAD")
    assert not space.decide("lin", "recall", MEMORY)
    assert space.log.verify().faults == ()


@pytest.mark.parametrize("by", ["keeper@shop", "robot", "stranger"])
def test_only_an_owner_changes_members(space: SpaceFolder, by: str) -> None:
    before = space.members
    for change in (
        lambda: space.add("lin", ["reader"], by=by),
        lambda: space.grant("reader@shop", ["owner"], by=by),
        lambda: space.remove("owner@shop", by=by),
        lambda: space.unshare("tea", by=by),
    ):
        with pytest.raises(DeniedError, match="An owner of the space shop can change that"):
            change()
        assert list(space.log.records())[-1].decision == "deny"
    assert space.members == before and "tea" in space.about.memories.values()
    space.add("lin", ["reader"], by="owner@shop")
    assert space.member("lin").by == "owner@shop"


def test_what_cannot_be_done_is_not_noted_as_done(space: SpaceFolder) -> None:
    before = len(list(space.log.records()))
    for change, why in (
        (lambda: space.add("reader@shop", ["reader"]), "is a member already"),
        (lambda: space.grant("nobody", ["reader"]), "No member 'nobody'"),
        (lambda: space.remove("nobody"), "No member 'nobody'"),
        (lambda: space.add("a b", ["reader"]), "'a b' is no name"),
        (lambda: space.add("", ["reader"]), "'' is no name"),
        (lambda: space.add("lin", ["king"]), "There is no role 'king'. Use reader"),
        (lambda: space.add("lin", []), "A member needs a role"),
        (lambda: space.add("lin", ["reader"], "cat"), "'cat' is no kind of member"),
        (lambda: space.share(MEMORY, "tea", space.root), "belongs to the space shop already"),
        (lambda: space.share("memory-2", "tea", space.root), "has a memory tea already"),
        (lambda: space.unshare("coffee"), "No memory of the space 'coffee'"),
    ):
        with pytest.raises((UsageError, NotFoundError), match=why):
            change()
    assert len(list(space.log.records())) == before


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{", "Expecting property name"),
        ("[]", "it is no member"),
        ('{"sub":"x"}', "'roles'"),
        ('{"sub":"x","kind":"user","name":"x","roles":"owner","added":"2026-01-01","by":"y"}',
         "must be a list"),
        ('{"sub":"x","kind":"user","name":"x","roles":["king"],"added":"2026-01-01","by":"y"}',
         "no role 'king'"),
        ('{"sub":"x","kind":"cat","name":"x","roles":["owner"],"added":"2026-01-01","by":"y"}',
         "'cat' is no kind"),
        ('{"sub":"a b","kind":"user","name":"x","roles":["owner"],"added":"2026-01-01","by":"y"}',
         "'a b' is no name"),
        ('{"sub":"owner@shop","kind":"user","name":"x","roles":["reader"],"added":"2026-01-01",'
         '"by":"y"}', "is a member already, further up"),
    ],
)  # fmt: skip
def test_a_list_of_members_that_cannot_be_read_denies(
    space: SpaceFolder, line: str, why: str
) -> None:
    path = space.root / "members.jsonl"
    text = path.read_text()
    path.write_text(f"{text}{line}\n")
    with pytest.raises(FormatError, match=rf"members\.jsonl:7: .*{why}"):
        space.members  # noqa: B018  read for its error
    assert "cannot be understood" in space.decide("owner@shop", "recall", MEMORY).why
    with pytest.raises(FormatError):
        space.add("lin", ["reader"])
    assert path.read_text() == f"{text}{line}\n", "the file is reported, and not rewritten"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[space",
        "[space]\nid = 1",
        "[[space]]\nid = 'x'",
        "space = 1",
        "[space]\nid = 'x'\nname = 'shop'\ncreated = '2026-01-01T00:00:00+00:00'\n"
        "[audit]\nqueries = 'all'",
    ],
)
def test_a_space_whose_page_cannot_be_read_denies(space: SpaceFolder, text: str) -> None:
    (space.root / "space.toml").write_text(text)
    assert not space.decide("owner@shop", "recall", MEMORY)
    with pytest.raises(FormatError, match=r"space\.toml:1: it does not say what the space is"):
        SpaceFolder.open(space.home, "shop")


def test_names_with_quotes_and_hanzi_are_kept(home: Home, tmp_path: Path) -> None:
    space = SpaceFolder.create(home, "茶馆")
    space.share(MEMORY, 'tea "shop"\\ 茶', tmp_path / "tea")
    space.add("林", ["owner"], name='Lin "the\nfirst"')
    assert SpaceFolder.open(home, "茶馆").about.memories == {MEMORY: 'tea "shop"\\ 茶'}
    assert space.member("林").name == 'Lin "the\nfirst"'
    assert space.decide("林", "purge", MEMORY)
    assert tomllib.loads((space.root / "space.toml").read_text())["space"]["name"] == "茶馆"


def test_a_space_is_made_once_and_in_an_empty_folder(home: Home, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_text("x")
    for name, folder, why in (
        ("shop", tmp_path / "full", "no empty folder"),
        ("shop", tmp_path / "full" / "x", "no empty folder"),
        ("a/b", None, "'a/b' is no name"),
        ("..", None, "'..' is no name"),
    ):
        with pytest.raises(UsageError, match=why):
            SpaceFolder.create(home, name, folder)
    assert read_registry(home) == {}
    SpaceFolder.create(home, "shop")
    with pytest.raises(UsageError, match="There is a space shop already"):
        SpaceFolder.create(home, "shop")
    with pytest.raises(NotFoundError, match="kimi-memory space list"):
        SpaceFolder.open(home, "other")


def test_a_memory_is_known_by_its_id_wherever_it_lies(space: SpaceFolder, tmp_path: Path) -> None:
    home = space.home
    for id, root in ((MEMORY, tmp_path / "moved"), ("memory-other", tmp_path / "tea")):
        found = find_space_of(home, id, root)
        assert found is not None and found.name == "shop"
    assert find_space_of(home, "memory-other", tmp_path / "moved") is None


def test_a_list_of_spaces_that_cannot_be_read_is_an_error(home: Home) -> None:
    home.state.mkdir(parents=True, exist_ok=True)
    for text in ("[", "[1]", '{"shop": 1}', '{"shop": {"folder": "x"}}'):
        (home.state / "spaces.json").write_text(text)
        with pytest.raises(FormatError, match="it is no list of spaces"):
            find_space_of(home, MEMORY, home.state)
