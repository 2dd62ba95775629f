"""What is wrong with a file, line by line, and what a person can do about it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kimi_memory.domain.note import Card, Note, Status
from kimi_memory.domain.pages import Event, Proposal
from kimi_memory.errors import FormatError, KimiMemoryError
from kimi_memory.formats import codec
from kimi_memory.formats.page_lines import is_generated, sign_of
from kimi_memory.jobs.trace import Tracer
from kimi_memory.lsp.answers import Reader
from kimi_memory.lsp.spots import Spot, spots_in
from kimi_memory.operations.review_queue import pending
from kimi_memory.store.notes import sessions

_NOTE = re.compile(r"\A---\r?\n(?:.*\r?\n)*?(?:id|kind): ")


class Action(NamedTuple):
    """A command that would settle a finding."""

    title: str
    command: str
    arguments: tuple[str, ...]


class Finding(NamedTuple):
    """One thing that is wrong, or that waits."""

    code: str
    message: str
    line: int
    first: int
    last: int
    weight: int
    """1 an error, 2 a warning, 3 worth knowing, as the protocol has it."""
    actions: tuple[Action, ...] = ()


def find_faults(reader: Reader, path: str, text: str) -> list[Finding]:
    """Return what is wrong with the text of a file, as it stands in the editor."""
    if "/sessions/" in path or not path.endswith(".md"):
        return []
    lines = text.splitlines()
    return [
        *_note_faults(reader, path, text, lines),
        *_page_faults(path, text, lines),
        *_dead_links(reader, path, lines),
    ]


def _note_faults(reader: Reader, path: str, text: str, lines: Sequence[str]) -> Iterator[Finding]:
    if not _NOTE.match(text) or sign_of(text):
        return
    try:
        note = codec.parse(text, path)
    except FormatError as error:
        at = min(max(error.line - 1, 0), max(len(lines) - 1, 0))
        yield _whole(lines, at, "broken", str(error), 1)
        return
    if isinstance(note, Proposal):
        yield _proposal(reader, note, lines)
    if isinstance(note, Card) and note.status is Status.CONFLICTED:
        yield _conflict(note, lines)
    if isinstance(note, Card | Event):
        yield from _quote_faults(reader, note, lines)


def _proposal(reader: Reader, note: Proposal, lines: Sequence[str]) -> Finding:
    at = _line_of(lines, "kind:")
    # The decision is about the words of this moment: what changes later is refused.
    shown = [one.build().fingerprint for one in pending(reader.memory) if one.id == note.id]
    actions = tuple(
        Action(title, command, (note.id, mark))
        for mark in shown[:1]
        for title, command in (("Accept", "kimi.accept"), ("Reject", "kimi.reject"))
    )
    return _whole(lines, at, "waits", "This waits for your word.", 3, *actions)


def _conflict(note: Card, lines: Sequence[str]) -> Finding:
    keep = Action(
        f"Keep this one: {' '.join(note.value.split())[:60]}", "kimi.settle", (note.key, note.id)
    )
    words = f"{note.key} is in conflict: another card says otherwise."
    return _whole(lines, _line_of(lines, "status:"), "conflict", words, 2, keep)


def _quote_faults(reader: Reader, note: Note, lines: Sequence[str]) -> Iterator[Finding]:
    tracer = Tracer(reader.memory.store, reader.memory.history)
    for one in tracer.evidence(note):
        # A source without a hash quotes nothing, so there is nothing that could differ.
        if one.path and (one.verified or not one.source.quote):
            continue
        name = f"session:{one.source.session}#{one.source.first}"
        at = _source_line(lines, name)
        if not one.path:
            yield _whole(lines, at, "session", f"The session of {name} is gone.", 2)
        else:
            yield _whole(lines, at, "quote", f"The quote does not stand in {name}.", 2)


def _source_line(lines: Sequence[str], name: str) -> int:
    """Return the line that names a source: below its quote, else in the front matter."""
    listed = [n for n, line in enumerate(lines) if name in {one.name for one in spots_in(line)}]
    quoted = [n for n in listed if lines[n].startswith("— ")]
    return next(iter([*quoted, *listed]), 0)


def _page_faults(path: str, text: str, lines: Sequence[str]) -> Iterator[Finding]:
    if sign_of(text) and not is_generated(text):
        take = Action("Take over these edits", "kimi.takeEdits", ())
        words = "was edited by hand. The next daily job takes the lines over, or you do now."
        yield _whole(lines, _line_of(lines, "generated:"), "edited", f"{path} {words}", 3, take)


def _dead_links(reader: Reader, path: str, lines: Sequence[str]) -> Iterator[Finding]:
    # Until every file was read, nobody knows what is missing.
    if not reader.vault.filled.is_set():
        return
    own = reader.vault.page(path)
    for number, line in enumerate(lines):
        for spot in spots_in(line):
            if own is not None and spot.name == own.id:
                continue
            if _is_dead(reader, spot) and not line.startswith("  - "):
                yield Finding(
                    "dead", f"{spot.name} leads nowhere.", number, spot.first, spot.last, 2
                )


def _is_dead(reader: Reader, spot: Spot) -> bool:
    if spot.kind == "note":
        return not reader.vault.path_of(spot.name)
    if spot.kind == "page":
        return not reader.vault.resolve(spot.name)
    session = spot.name.removeprefix("session:").rpartition("#")[0] or spot.name.partition(":")[2]
    if reader.vault.resolve(f"session_{session}"):
        return False
    try:
        sessions.find(reader.memory.store, session)
    except KimiMemoryError:
        # What cannot be found, or is two, is a name that leads nowhere.
        return True
    return False


def _line_of(lines: Sequence[str], begins: str) -> int:
    return next((n for n, line in enumerate(lines) if line.startswith(begins)), 0)


def _whole(
    lines: Sequence[str], at: int, code: str, message: str, weight: int, *actions: Action
) -> Finding:
    last = len(lines[at]) if lines else 0
    return Finding(code, message, at, 0, last, weight, actions)
