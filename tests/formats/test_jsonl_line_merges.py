"""What git leaves in a merged file: marks, taken apart into versions, and two sessions in one."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.domain.note import Role
from kimi_memory.domain.session import Session, Turn
from kimi_memory.formats.jsonl import (
    has_marks,
    is_joined,
    line_of_marks,
    parts_of,
    read_transcript_lines,
    session_line,
    split_marks,
    turn_line,
)
from tests.test_copies import git

PLAIN = "<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> 1e01bff\n"
DIFF3 = "<<<<<<< HEAD\nours\n||||||| 99aa\nbase\n=======\ntheirs\n>>>>>>> other\n"
SHOWN = f"```\n{PLAIN}```\n"


@pytest.mark.parametrize(
    "text", [PLAIN, DIFF3, f"# Title\n\n{PLAIN}after\n", f"a\n{PLAIN}b\n{DIFF3}"]
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_marks_are_found(text: str, end: str) -> None:
    content = text.replace("\n", end).encode()
    assert has_marks("a.md", content)
    assert has_marks("a.jsonl", content)
    first = next(n for n, row in enumerate(text.split("\n"), 1) if row.startswith("<<<<<<<"))
    assert line_of_marks("a.md", content) == first


@pytest.mark.parametrize(
    "text",
    [
        "A heading\n=======\n\nIts text.\n",
        "In a conflict git writes <<<<<<< HEAD, then =======, then >>>>>>> branch.\n",
        "冲突里先是 <<<<<<< HEAD，再是\n=======\n最后是 >>>>>>> 分支。\n",
        "<<<<<<< HEAD alone\n",
        ">>>>>>> quoted mail\n>>>>>>> more of it\n=======\n",
        f"How a conflict looks:\n\n```\n{PLAIN}```\n",
        f"~~~~ text\n```\n{PLAIN}~~~~\n",
        "    " + PLAIN.replace("\n", "\n    "),
        "> " + PLAIN.replace("\n", "\n> "),
        "=======\n<<<<<<< HEAD\n>>>>>>> other\n",
    ],
)
def test_what_only_speaks_of_marks_has_none(text: str) -> None:
    assert not has_marks("a.md", text.encode())


@pytest.mark.parametrize(
    ("text", "base", "ours", "theirs"),
    [
        (PLAIN, "", "ours\n", "theirs\n"),
        (DIFF3, "base\n", "ours\n", "theirs\n"),
        (f"a\n{DIFF3}b\n{PLAIN}", "a\nbase\nb\n", "a\nours\nb\nours\n", "a\ntheirs\nb\ntheirs\n"),
        (f"{SHOWN}{PLAIN}", SHOWN, f"{SHOWN}ours\n", f"{SHOWN}theirs\n"),
        ("<<<<<<< HEAD\n```\n=======\nb\n>>>>>>> c\n", "", "```\n", "b\n"),
        ("<<<<<<< HEAD\nno end\n", *["<<<<<<< HEAD\nno end\n"] * 3),
        ("<<<<<<< HEAD\na\n=======\n=======\nb\n>>>>>>> c\n", "", "a\n", "=======\nb\n"),
    ],
    ids=["plain", "diff3", "two", "in a block of code", "a block in it", "no end", "a heading"],
)  # fmt: skip
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_versions_are_taken_apart(
    text: str, base: str, ours: str, theirs: str, end: str
) -> None:
    found = split_marks("a.md", text.replace("\n", end).encode())
    assert tuple(found) == tuple(one.replace("\n", end).encode() for one in (base, ours, theirs))


@given(
    st.lists(st.sampled_from(["a", "b", "=", "======", "|||", "<<<"]), max_size=6),
    st.lists(st.sampled_from(["c", "d", "<<<<<<<", ">>"]), min_size=1, max_size=4),
    st.lists(st.sampled_from(["e", "f", "#"]), min_size=1, max_size=4),
)
def test_what_git_wrote_with_its_marks_is_what_both_sides_had(
    tmp_path_factory: pytest.TempPathFactory, base: list[str], ours: list[str], theirs: list[str]
) -> None:
    place = tmp_path_factory.mktemp("marks")
    texts = {
        name: "\n".join(["start", *lines, "end", ""])
        for name, lines in (("ours", ours), ("base", base), ("theirs", theirs))
    }
    for name, text in texts.items():
        (place / name).write_text(text, encoding="utf-8")
    merged = git(Path(place), "merge-file", "-p", "--diff3", *texts, check=False).encode()
    found = split_marks("a.txt", merged)
    if has_marks("a.txt", merged):
        assert found.ours.decode() == texts["ours"]
        assert found.theirs.decode() == texts["theirs"]
        assert found.base.decode() == texts["base"]
    assert not any(has_marks("a.txt", one) for one in found)


AT = datetime(2026, 2, 27, 9, tzinfo=UTC)
ONE = Session("s", AT, host="cli")
OTHER = replace(ONE, started=AT.replace(hour=10))


def turn(text: str) -> bytes:
    return turn_line(Turn(1, AT, Role.USER, text))


def test_one_session_is_one_part():
    lines = [session_line(ONE), turn('she said "kind":"session" aloud')]
    assert parts_of(lines) == [(1, lines, None)]
    assert not is_joined(b"".join(lines))


def test_each_further_session_is_named_after_its_own_first_line():
    lines = [session_line(ONE), turn("茶"), session_line(OTHER), turn("coffee"), turn("milk")]
    first, second = parts_of(lines)
    assert is_joined(b"".join(lines))
    assert (first.first, first.lines, second.first) == (1, lines[:2], 3)
    read = read_transcript_lines(second.lines, "s.jsonl")
    assert [one.text for one in read.turns] == ["coffee", "milk"]
    assert read.session == second.session
    assert read.session.id.startswith("s-")
    assert replace(read.session, id="s") == OTHER
    swapped = parts_of([*lines[:2], *lines[2:4]])
    assert swapped[1].session == second.session, "what follows does not change the name"


def test_a_torn_header_begins_nothing():
    lines = [session_line(ONE), b'{"kind":"session","id":\n', b'{"kind":"session","id":"x"}\n']
    assert len(parts_of(lines)) == 1
    assert not is_joined(b"".join(lines))
