"""``space``: a team from its making to its log, as a person types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kimi_memory.cli import run


@pytest.fixture
def typed(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys):
    """Type a command; returns its exit code and what it said."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    def type_line(line: str) -> tuple[int, str]:
        code = run(["space", *line.split()])
        said = capsys.readouterr()
        return code, said.out + said.err

    return type_line


@pytest.fixture
def shop(typed):
    """A space with a writer, an agent that is an owner, and the memory of the folder."""
    for line in ("create shop", "add lin --role writer --name 林", "share --name tea",
                 "add scout --kind agent --role owner"):  # fmt: skip
        assert typed(line)[0] == 0
    return typed


def test_a_team_is_made_and_asked_about(shop) -> None:
    assert shop("check lin recall tea") == (0, "allowed by policies/roles.cedar:2\n")
    code, said = shop("check lin purge")
    assert (code, said) == (46, "denied: lin (writer) may not purge here: no policy allows it\n")
    assert shop("check stranger recall")[0] == 46
    assert shop("who tea")[1].splitlines() == [
        "lin (林)  recall, get, context, capture, remember, forget",
        "scout  recall, get, context, capture, remember, forget, consolidate, review, undo, "
        "conflicts, deploy",
    ]
    assert shop("who --action purge") == (0, "Nobody may do this there.\n")
    assert json.loads(shop("who --action forget --json")[1]) == {
        "lin": {"forget": ["policies/roles.cedar:4"]},
        "scout": {"forget": ["policies/roles.cedar:4"]},
    }
    assert "members: 2  memories: 1" in shop("list")[1]


def test_roles_change_and_members_leave(shop) -> None:
    assert shop("grant lin --role owner")[1] == "lin was writer in shop, and is owner now.\n"
    assert shop("check lin purge")[0] == 0
    assert "its next request is refused" in shop("remove lin")[1]
    assert shop("check lin recall")[0] == 46
    assert [line.split("  ")[0] for line in shop("list shop")[1].splitlines()] == [
        "shares", "agent"
    ]  # fmt: skip
    assert "is in no space any more" in shop("unshare tea")[1]
    assert shop("who tea")[0] == 11


def test_what_would_be_done_is_only_said(shop, tmp_path: Path) -> None:
    before = shop("list shop --json"), shop("log --json"), shop("list --json")
    for line in ("add ann --role reader", "grant lin --role owner", "remove lin", "unshare tea",
                 "budget 2000", "issuer https://id.example --audience shop",
                 "create 茶馆"):  # fmt: skip
        code, said = shop(f"{line} --dry-run")
        assert code == 0 and said.startswith("Would ")
        assert json.loads(shop(f"{line} --dry-run --json")[1]) == {"would": said.strip()}
    assert shop(f"create 茶馆 --folder {tmp_path / 'place'} --dry-run")[0] == 0
    assert not (tmp_path / "place").exists()
    assert (shop("list shop --json"), shop("log --json"), shop("list --json")) == before


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("create shop", 2),
        ("create a/b", 2),
        ("create other --folder {full}", 2),
        ("add lin --role reader", 2),
        ("add a/b --role reader", 2),
        ("grant nobody --role reader", 11),
        ("remove nobody", 11),
        ("share --name other", 2),
        ("unshare nothing", 11),
        ("issuer https://id.example", 2),
    ],
)
def test_what_would_be_refused_is_refused_by_a_dry_run_in_the_same_words(
    shop, tmp_path: Path, line: str, code: int
) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "a.txt").touch()
    before, line = shop("log --json"), line.format(full=tmp_path / "full")
    dry = shop(f"{line} --dry-run")
    assert dry[0] == code and dry == shop(line)
    assert shop("log --json") == before


@pytest.mark.parametrize(
    "line",
    [
        "create {secret}",
        "add {secret} --role reader",
        "add ann --role reader --name {secret}",
        "share --name {secret}",
        "add ann --role reader --identity {secret}",
        "issuer https://id.example --audience {secret}",
        "issuer https://id.example --audience shop --client {secret}",
    ],
)
def test_no_name_that_is_a_secret_gets_into_the_history_of_a_space(
    shop, tmp_path: Path, line: str
) -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    code, said = shop(line.format(secret=secret))
    assert (code, "The name holds a secret" in said) == (2, True)
    assert secret not in said
    assert not [
        path
        for path in tmp_path.rglob("*")
        if path.is_file() and secret.encode() in path.read_bytes()
    ]


def test_the_log_tells_who_did_what_and_is_checked(shop, tmp_path: Path) -> None:
    shop("remove lin")
    lines = shop("log")[1].splitlines()
    assert len(lines) == 4 and lines[-1].endswith("member      -  lin is out  allowed")
    assert shop("log --who lin") == (0, "Nothing of that was asked for.\n")
    assert len(json.loads(shop("log --since 1h -n 2 --json")[1])) == 2
    assert "is no date" in shop("log --since 7x")[1]
    code, said = shop("verify")
    assert code == 0 and said.startswith("✓ 4 records of this machine")
    (path,) = (tmp_path / "state").rglob("audit/*/*.jsonl")
    path.write_text(path.read_text().replace("lin is out", "lin is in"))
    code, said = shop("verify")
    assert code == 1 and "record 4 was changed" in said


def test_what_is_wrong_is_said_in_one_line(typed) -> None:
    for line, why in (
        ("who", "There is no space. Make one with"),
        ("create a/b", "'a/b' is no name"),
        ("add lin --role king", "invalid choice: 'king'"),
        ("add lin", "required: --role"),
        ("list shop", "No space 'shop'"),
    ):
        code, said = typed(line)
        assert code in (2, 11) and why in said and said.count("\n") == 1, said
    typed("create shop")
    typed("create other")
    assert (
        "There are 2 spaces. Name one with --space: shop, other."
        in typed("add lin --role owner")[1]
    )
    assert typed("who --space shop")[1].endswith(
        "Name a memory of the space shop: there is none yet.\n"
    )
    assert typed("add lin --role owner --space other")[0] == 0
