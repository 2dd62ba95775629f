"""Files nobody can parse, in a memory that goes on around them."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from kimi_memory import Memory
from kimi_memory.capture.ingest import open_file
from kimi_memory.errors import FormatError, TranscriptError
from tests.fuzz.inputs import CARD, EVENT, LINES, READABLE

STRANGE: dict[str, bytes] = {
    "bom": b"\xef\xbb\xbf" + CARD.replace("000001", "000002").encode(),
    "crlf": CARD.replace("000001", "000003").replace("\n", "\r\n").encode(),
    "lone cr": CARD.replace("000001", "000004").replace("\n", "\r").encode(),
    "utf-16": CARD.encode("utf-16"),
    "gb18030": CARD.encode("gb18030"),
    "nul": CARD.replace("数据库", "\0").encode(),
    "png": b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 8,
    "dashes": b"---\n" * 20_000,
    "repeated keys": b"---\nid: card-1\nid: card-2\nkind: card\n---\nx\n",
    "tag": b"---\nid: !!python/object/apply:os.system [touch owned]\nkind: card\n---\nx\n",
    "alias": b"---\nid: &a card-1\nkind: card\nkey: *a\n---\nx\n",
    "words of yaml": b"---\nid: no\nkind: 1:30\nkey: =\ncreated: 2026-02-30\n---\nx\n",
    "brace": b'{"id": "card-1", "kind": "card"}\n',
    "plus": b"+++\nid = 'card-1'\n+++\nx\n",
    "rule": b"---\n---\n---\nx\n",
    "conflict": CARD.replace(
        "status: active\n", "<<<<<<< HEAD\nstatus: active\n=======\nstatus: stale\n>>>>>>> b\n"
    ).encode(),
    "cut": CARD.encode()[:200],
    "empty": b"",
    "one line": b"a" * 200_000,
    "deep": b"---\nid: card-1\nkind: card\nx: " + b"[" * 50_000 + b"\n---\n",
    "no such kind": CARD.replace("kind: card", "kind: 卡片").encode(),
    "no such type": CARD.replace("type: decision", "type: 决定").encode(),
    "no such day": EVENT.replace("at: 2026-02-27", "at: 2026-02-30").encode(),
}
PLACES = ("semantic/db", "episodic", "mid-term/projects", "long-term", "conflicts", ".")


def plant(root: Path) -> dict[Path, bytes]:
    """Put every strange file into every folder."""
    planted = {
        root / place / f"{name.replace(' ', '-')}.md": content
        for place in PLACES
        for name, content in STRANGE.items()
    }
    for path, content in planted.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return planted


def test_strange_files_stay_as_they_are_and_stop_no_job(memory: Memory) -> None:
    planted = plant(memory.root)
    with memory.session("s") as talk:
        talk.turn("user", "我们最后决定用 PostgreSQL，因为它支持 JSONB。")
        talk.turn("user", "We decided to deploy on Fridays at three.")
    memory.consolidate("daily")
    memory.consolidate("weekly")
    assert any("PostgreSQL" in hit.snippet for hit in memory.recall("用什么数据库").hits)
    assert any("Friday" in hit.snippet for hit in memory.recall("when do we deploy").hits)
    memory.context("task", "数据库 deploy")
    # What parses is a note like any other and may be marked by the jobs.
    changed = {path.name for path, content in planted.items() if path.read_bytes() != content}
    assert changed <= {"bom.md", "crlf.md", "lone-cr.md"}
    assert not list(memory.root.rglob("owned"))


def test_a_damaged_session_is_refused_and_kept(memory: Memory) -> None:
    path = memory.root / "short-term/session_s1.jsonl"
    damaged = LINES.replace('"n":1', '"n":-1').encode()
    path.write_bytes(damaged)
    with pytest.raises(FormatError):
        memory.session("s1")
    with pytest.raises(FormatError):
        memory.end("s1")
    assert memory.recall("PostgreSQL") is not None
    assert path.read_bytes() == damaged


def test_strange_transcripts_are_refused_or_read_whole(memory: Memory, tmp_path: Path) -> None:
    names = [*READABLE, "x.txt", "x.bin"]
    for number, content in enumerate(STRANGE.values()):
        path = tmp_path / f"{number}-{names[number % len(names)]}"
        path.write_bytes(content)
        try:
            reports = list(memory.ingest([open_file(path)]))
        except TranscriptError:
            continue
        assert all(report.stored <= report.spoken for report in reports)


def test_huge_files_are_read_or_refused(memory: Memory, tmp_path: Path, is_long: bool) -> None:
    """One line, many lines and a note, of 85 MB where there is time for it."""
    size = 85_000_000 if is_long else 2_000_000
    turn = b'{"role":"user","content":"' + random.Random(7).randbytes(64).hex().encode() + b'"}\n'
    (tmp_path / "lines.jsonl").write_bytes(turn * (size // len(turn) // 20))
    (tmp_path / "line.json").write_bytes(b'{"id":"x","turns":[' + b" " * size)
    (tmp_path / "text.md").write_bytes("User: 一\nAssistant: 二\n".encode() * (size // 4000))
    (memory.root / "semantic").mkdir(exist_ok=True)
    (memory.root / "semantic/huge.md").write_bytes(b"---\nid: card-1\n" + b"-" * size)
    for path in sorted(tmp_path.glob("*.*")):
        try:
            assert all(report.stored for report in memory.ingest([open_file(path)]))
        except TranscriptError:
            assert path.name == "line.json"
    memory.consolidate("daily")
    assert memory.recall("一二").hits
