"""Scrubbing: a file without the text is still a file of its kind."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.domain.job import digest
from kimi_memory.domain.note import Role
from kimi_memory.domain.session import Session, Turn
from kimi_memory.domain.tombstone import hash_of
from kimi_memory.formats.jsonl import (
    context_of,
    is_whole,
    session_line,
    state_line,
    turn_line,
    unseal,
)
from kimi_memory.jobs.purge_file import Scrub, Targets, literals_of
from kimi_memory.jobs.purge_spellings import find_longer_words, spellings

KEYED = hash_of
"""A hash with no key is one, too."""
NOW = datetime(2026, 2, 27, 9, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("蓝鲸码头", "在蓝鲸码头见".encode()),
        ("蓝鲸码头", "蓝鲸\n> 码头".encode()),
        ("蓝鲸码头", json.dumps("蓝鲸码头").encode()),
        ("Violet Harbor", b"the VIOLET  harbor"),
        ("Violet Harbor", b"note.violet-harbor.md"),
        ("Violet Harbor", "Ｖｉｏｌｅｔ　Ｈａｒｂｏｒ".encode()),
        ('say "hi" now', rb'{"text":"say \"hi\" now"}'),
        ("two\nlines", rb'{"text":"two\nlines"}'),
        ("Café Zoë", "cafe\u0301 zoe\u0308".encode()),
        ("1234", b'"pin 1234."'),
        ("1234", rb'"a\n1234"'),
        ("😀 smile", rb'"\ud83d\ude00 smile"'),
        ("payload1", "暗号payload1是".encode()),
        ("payload1", rb'"\u6697payload1\u662f"'),
        ("payload1", rb'"a\npayload1"'),
        ("payload1", b"note.my-payload1_is.md"),
        ("payload1", b"payload1's"),
        ("小灶 v2", "用小灶 v2，".encode()),
    ],
)
def test_every_spelling_is_found(text: str, content: bytes) -> None:
    assert spellings([text]).search(content)


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("1234", b"sum:ab1234cd"),
        ("beef", b"deadbeef01"),
        ("蓝鲸码头", "蓝鲸的码头".encode()),
        ("Violet Harbor", b"violet harvest"),
        ("Violet Harbor", b"ultraviolet harbor"),
        ("payload1", b"payload10 and payload11"),
        ("13800138000", b"1380013800012"),
    ],
)
def test_what_is_not_the_text_is_left(text: str, content: bytes) -> None:
    assert not spellings([text]).search(content)


def test_longer_words_are_named_but_for_codes_and_hashes() -> None:
    said = (
        rb"payload10, my-payload1, Payload1a\npayload12 \u6697xpayload1; 1234567, annabelle, anna1"
    )
    longer = {"payload10", "Payload1a", "payload12", "xpayload1"}
    assert find_longer_words(["payload1", "1234"], said) == longer
    assert find_longer_words(["anna"], said) == {"annabelle"}
    assert find_longer_words(["蓝鲸", "payload10"], "蓝鲸码头".encode() + said) == set()


def test_the_slug_of_a_long_text_is_found_though_it_was_cut() -> None:
    text = "my very long secret sentence that no file name can hold as a whole, 甲乙丙"
    assert spellings([text]).search(b"note.my-very-long-secret-sentence-that-no-file.md")


def test_no_texts_find_nothing() -> None:
    assert not spellings([]).search(b"anything")


@given(st.text(min_size=4).filter(lambda t: len(t.split()) and sum(map(str.isalnum, t)) >= 4))
def test_a_text_is_found_as_it_stands_and_in_json(text: str) -> None:
    text = text.encode("utf-8", "replace").decode()
    found = spellings([text])
    assert found.search(f" {text.strip()} ".encode())
    assert found.search(json.dumps(f" {text.strip()} ").encode())


def session_file(*texts: str) -> bytes:
    lines, context = [session_line(Session("s", NOW, title="老地方"))], ""
    for n, text in enumerate(texts, 1):
        line = turn_line(Turn(n=n, at=NOW, role=Role.USER, text=text, context=context))
        context = context_of(context, line)
        lines.append(line)
    return b"".join([*lines, state_line({"name": "x"}, {"a": 1})])


def test_turns_before_the_text_keep_their_bytes_and_later_ones_their_chain() -> None:
    before = session_file("one", "two 老地方 two", "three")
    after = Scrub(Targets(("老地方 two",)), KEYED).content("short-term/session_s.jsonl", before)
    assert after.splitlines()[:2] == before.splitlines()[:2]
    context = ""
    for line in after.splitlines(keepends=True):
        assert is_whole(line)
        if b'"kind":"turn"' in line:
            assert unseal(line).get("context", "") == context
            context = context_of(context, line)
    assert "two ⟦purged⟧" in after.decode()


def test_what_does_not_hold_the_text_keeps_its_bytes() -> None:
    scrub = Scrub(Targets(("nowhere",)), KEYED)
    odd = b'{"a": 1,   "b":2}\n'
    files = {"a.json": odd, "b.jsonl": odd + b"torn", "c.md": b"\xff\r\nx"}
    assert {path: scrub.content(path, content) for path, content in files.items()} == files


def test_a_line_that_was_edited_by_hand_is_not_vouched_for() -> None:
    before = session_file("one", "two").replace(b"one", b"0ne 1234567")
    after = Scrub(Targets(("1234567",)), KEYED).content("short-term/session_s.jsonl", before)
    assert b"1234567" not in after
    assert not is_whole(after.splitlines(keepends=True)[1])


def test_every_word_of_a_session_goes_and_its_marks_stay() -> None:
    scrub = Scrub(Targets(sessions=frozenset({"s"})), KEYED)
    lines = scrub.content("episodic/sessions/2026-02/session_s.jsonl", session_file("one", "two"))
    records = [unseal(line) for line in lines.splitlines()]
    assert [r["text"] for r in records if r["kind"] == "turn"] == ["⟦purged⟧"] * 2
    assert (records[0]["title"], records[-1]["task"]) == ("⟦purged⟧", {})
    view = {"session_id": "s", "context": [{"n": 1, "text": "one"}], "temp_vars": {"a": 1}}
    shown = json.loads(scrub.content("short-term/session_s.json", json.dumps(view).encode()))
    assert (shown["context"], shown["temp_vars"]) == ([{"n": 1, "text": "⟦purged⟧"}], {})
    page = b"---\nid: s\n---\n\n# Session: secret\n\n### #1 user\n\n> one\n> more\n"
    clean = scrub.content("episodic/sessions/2026-02/session_s.md", page).decode()
    assert clean.endswith("# Session: ⟦purged⟧\n\n### #1 user\n\n> ⟦purged⟧\n")


def test_a_note_that_rests_on_a_purged_session_alone_is_emptied() -> None:
    scrub = Scrub(Targets(sessions=frozenset({"s"})), KEYED)
    one = b"---\nid: card-1\nsources:\n  - session:s#1 supports\n---\n\n# x\n"
    two = one.replace(b"---\n\n", b"  - session:t#1 supports\n---\n\n")
    assert scrub.content("semantic/a/b.md", one) == b""
    assert scrub.content("semantic/a/b.md", two) == two


def test_a_job_names_the_new_hashes_of_what_it_wrote() -> None:
    scrub = Scrub(Targets(("secret",)), KEYED)
    scrub.learn(b"a secret", b"a gap")
    job = json.dumps({"effects": [{"path": "a.md", "after": digest(b"a secret")}]}).encode()
    clean = json.loads(scrub.content("mid-term/jobs/distil-1.json", job))
    assert clean["effects"][0]["after"] == digest(b"a gap")


def test_paths_get_a_hash_in_place_of_the_text() -> None:
    scrub = Scrub(Targets(("Violet Harbor",), ids={"violet-harbor": "purged-1"}), KEYED)
    name = scrub.name("semantic/violet_harbor/about-Violet Harbor.md")
    assert "iolet" not in name
    assert name.startswith("semantic/purged-")
    assert name.endswith(".md")
    assert scrub.name("semantic/a/b.md") == "semantic/a/b.md"
    assert scrub.words(b"session:violet-harbor#1") == b"session:purged-1#1"


def test_small_talk_is_no_trace() -> None:
    assert literals_of(["ok", " a whole sentence that was said "], 24) == (
        "a whole sentence that was said",
    )
