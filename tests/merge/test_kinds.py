"""Kinds of files: told by their paths, then by what is in them."""

from __future__ import annotations

import pytest

from kimi_memory.merge import kinds
from kimi_memory.merge.kinds import Kind, has_id, is_session, is_view, kind_of, read_text, view_of


@pytest.mark.parametrize(
    ("path", "content", "kind"),
    [
        ("mid-term/usage.jsonl", b"", Kind.USAGE),
        ("mid-term/jobs/daily-1.json", b"{}", Kind.JOB),
        ("memory.toml", b"", Kind.SETTINGS),
        ("short-term/session_a.json", b"{}", Kind.VIEW),
        ("episodic/sessions/2026-02/session_a.md", b"", Kind.VIEW),
        ("notes/茶.md", "绿茶".encode(), Kind.TEXT),
        ("notes/tea.md", b"\xff\xfe", Kind.BINARY),
        ("notes/tea.md", b"a\0b", Kind.BINARY),
    ],
)
def test_a_file_is_of_one_kind(path: str, content: bytes, kind: Kind) -> None:
    assert kind_of(path, content) is kind


def test_a_view_lies_beside_its_session() -> None:
    for path in ("short-term/session_a.jsonl", "episodic/sessions/2026-02/session_a.jsonl"):
        assert is_session(path)
        assert is_view(view_of(path))
        assert not is_session(view_of(path))


def test_a_text_that_is_too_long_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinds, "LARGEST", 3)
    assert read_text(b"abc") == "abc"
    assert read_text(b"abcd") is None


@pytest.mark.parametrize(
    ("text", "taken"),
    [("---\nid: card-1\n---\n", True), ("---\ntags: [a]\n---\n", False), ("plain", False),
     ("---\nid: [\n---\n", True)],
    ids=["with an id", "without", "no head", "broken head"],
)  # fmt: skip
def test_what_may_be_a_note_is_taken_for_one(text: str, taken: bool) -> None:
    assert has_id(text) is taken
