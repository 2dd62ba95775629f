"""``ingest``: store transcripts of other programs, each turn once."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping
from pathlib import Path

from kimi_memory.api.memory import Memory
from kimi_memory.capture.ingest import Ingested, find_files, from_bytes, open_file
from kimi_memory.cli.progress import Progress
from kimi_memory.cli.shared import open_memory, show, show_json, show_note
from kimi_memory.domain.screen import TranscriptFile
from kimi_memory.errors import TranscriptError
from kimi_memory.nlp.basic.counted import counted


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("path", type=Path, nargs="*", help="files or folders; - or none: stdin")
    parser.add_argument("--open", action="store_true", help="leave the sessions open")
    parser.add_argument("--no-distill", action="store_true", help="archive later, by distill")


def run(arguments: Namespace) -> int:
    """Store, then end and distil what is new. Files no reader knows are named and skipped."""
    reports: list[Ingested] = []
    failed: list[str] = []
    skipped: list[str] = []
    with open_memory(arguments, follow=True) as memory, Progress("turns") as progress:
        for file in _open_transcripts(arguments.path, skipped):
            try:
                reports += memory.ingest([file], progress.add)
            except TranscriptError as error:
                # One broken file of a folder must not keep the others out.
                failed.append(str(error))
        # Once for each session, after all files: parts of one session may lie in several.
        for id in dict.fromkeys(report.session for report in reports if report.session):
            _finish_session(memory, arguments, id)
    _print_result(arguments, reports, {"failed": failed, "skipped": skipped})
    # One broken file of many is named; only where nothing could be read did the command fail.
    return TranscriptError.exit_code if failed and not reports else 0


def _open_transcripts(paths: list[Path], skipped: list[str]) -> Iterator[TranscriptFile]:
    if paths in ([], [Path("-")]):
        # Bytes, as the encoding of a transcript is for its reader to find out.
        yield from_bytes("-", sys.stdin.buffer.read())
        return
    yield from map(open_file, find_files(paths, skipped))


def _finish_session(memory: Memory, arguments: Namespace, id: str) -> None:
    if arguments.open:
        return
    if arguments.no_distill:
        memory.mark_ended(id)
    else:
        memory.end(id)


def _print_result(
    arguments: Namespace, reports: list[Ingested], not_taken: Mapping[str, list[str]]
) -> None:
    if arguments.json:
        rows = [
            {"file": r.file, "session": r.session, "spoken": r.spoken, "stored": r.stored}
            for r in reports
        ]
        show_json({"sessions": rows, **not_taken})
        return
    for report in reports:
        new = f"{report.stored} of {counted(report.spoken, 'turns')} new"
        show(f"{report.file}: {report.session or 'known'}, {new}")
    for line in (*not_taken["failed"], *(f"skipped {line}" for line in not_taken["skipped"])):
        show_note(f"kimi-memory: {line}")
