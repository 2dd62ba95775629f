"""``ingest``: transcripts from files and from standard input."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.cli.answers import answer


def test_ingest_reads_standard_input_in_a_real_process(folder: Path) -> None:
    chat = json.dumps(
        {"id": "c", "messages": [{"role": "user", "content": "我叫林夏，住在成都。"}]}
    )
    command = [sys.executable, "-m", "kimi_memory", "ingest", "--json"]
    done = subprocess.run(command, input=chat.encode(), capture_output=True, check=True)
    report = json.loads(done.stdout)
    assert [(s["spoken"], s["stored"]) for s in report["sessions"]] == [(1, 1)]
    again = json.loads(
        subprocess.run(command, input=chat.encode(), capture_output=True, check=True).stdout
    )
    assert [(s["spoken"], s["stored"]) for s in again["sessions"]] == [(1, 0)]


def test_files_no_reader_knows_are_named_and_the_rest_is_stored(
    folder: Path, tmp_path: Path, capsys
) -> None:
    files = tmp_path / "in"
    files.mkdir()
    (files / "a.json").write_text(
        '{"id": "a", "messages": [{"role": "user", "content": "hello there"}]}'
    )
    (files / "b.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    report = answer(capsys, "ingest", str(files))
    assert [s["stored"] for s in report["sessions"]] == [1]
    assert "b.png" in report["failed"][0]


def test_ingest_can_leave_sessions_open_or_undistilled(
    folder: Path, tmp_path: Path, capsys
) -> None:
    for id in ("a", "b"):
        (tmp_path / f"{id}.json").write_text(
            json.dumps({"id": id, "messages": [{"role": "user", "content": f"hello {id}"}]})
        )
    answer(capsys, "ingest", str(tmp_path / "a.json"), "--open")
    assert answer(capsys, "session", "list") == ["a"]
    answer(capsys, "ingest", str(tmp_path / "b.json"), "--no-distill")
    assert [r["subject"] for r in answer(capsys, "distill")] == ["b"]
    assert answer(capsys, "distill") == []
