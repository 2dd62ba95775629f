"""The command ``export``: cards by type, an index page, JSON, a graph, sessions.

Why it exists: what a memory holds is its owner's, and other programs read other forms.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from enum import Enum
from pathlib import Path, PurePosixPath

from kimi_memory import Memory, hookimpl
from kimi_memory.cli.filter_options import add_as_of, open_at
from kimi_memory.cli.shared import find_memory, open_memory, say, show, show_json
from kimi_memory.domain.command import Command
from kimi_memory.domain.ids import zulu
from kimi_memory.domain.note import Card, CardType, Lang, Link, Quote, Source, Status
from kimi_memory.domain.session import Json, Transcript, Turn
from kimi_memory.errors import FormatError, UsageError
from kimi_memory.formats.card_form import page_language
from kimi_memory.formats.page_lines import TITLES, fill
from kimi_memory.jobs.graph import derive
from kimi_memory.operations.bundles import Compression, export_bundle
from kimi_memory.store.files.outside import check_outside
from kimi_memory.store.notes import sessions
from kimi_memory.store.notes.notes import Filed, Shelf

from .graphml import render_graphml

INDEX = "index.md"
_BUNDLE = "bundle"
CARDS_FORMAT = "kimi_memory/cards/1"
"""Begins a JSON export, so that import knows it."""
SESSION_FORMAT = "kimi_memory/session/1"
"""Says that turns of tools are part of it, too; `read_session` looks for it."""
_PAST = {Status.SUPERSEDED, Status.ARCHIVED}


@hookimpl
def register_commands() -> list[Command]:
    """Add ``export``."""
    help = "write a bundle for another copy; or cards, an index, JSON or a graph for programs"
    return [Command("export", help, _add_arguments, _export, "export")]


def _add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "form",
        choices=[_BUNDLE, *_FORMS],
        help="the memory with its history as one file, which 'import bundle' takes; cards by "
        "type or all as JSON, which import takes back; sessions as JSON, which ingest takes back; "
        "for reading only: an index page, a graph",
    )
    parser.add_argument("path", type=Path, help="where to: a folder for cards and sessions")
    parser.add_argument("--all", action="store_true", help="superseded and archived ones too")
    parser.add_argument("--force", action="store_true", help="replace what is there")
    parser.add_argument(
        "--since",
        metavar="POINT",
        default="",
        help="of a bundle: only what came after a point in the history",
    )
    add_as_of(parser, held=True)
    parser.add_argument(
        "--compress",
        choices=["auto", "none", "gzip"],
        default="auto",
        help="of a bundle; auto: none, as git compressed it already",
    )
    parser.add_argument(
        "--encrypt",
        action="append",
        default=[],
        metavar="RECIPIENT",
        help="of a bundle: for this key of age or SSH, or a file of keys; may be repeated",
    )
    parser.add_argument(
        "--sign",
        action="store_true",
        help="of a bundle: write a signature beside it, FILE.sig, with the key under [signing]",
    )


def _export(arguments: Namespace) -> int:
    """Export and say how much."""
    if arguments.form == _BUNDLE:
        if arguments.as_of or arguments.copy or arguments.valid_at:
            raise UsageError("A bundle holds a history. For a memory of then: branch add --at.")
        return _export_bundle(arguments)
    # The memory of then lies in another folder; this one may not be written to either.
    check_outside(find_memory(arguments).resolve(), arguments.path)
    with open_at(arguments) as memory:
        export = _FORMS[arguments.form]
        found = export(memory, arguments.path, past=arguments.all, force=arguments.force)
    if arguments.json:
        show_json(found)
        return 0
    edges = f" and {found.edges} links" if found.edges else ""
    what = "sessions" if arguments.form == "sessions" else "notes"
    show(f"{found.notes} {what}{edges} in {found.path} ({found.files} files)")
    return 0


def _export_bundle(arguments: Namespace) -> int:
    compress: Compression = "gzip" if arguments.compress == "gzip" else "none"
    with open_memory(arguments) as memory:
        found = export_bundle(
            memory,
            arguments.path,
            since=arguments.since,
            compress=compress,
            recipients=arguments.encrypt,
            signed=arguments.sign,
        )
    if arguments.json:
        show_json(found)
        return 0
    since = say("what came after {commit}", commit=found.base[:10])
    what = since if found.base else say("the whole memory")
    version, size = f"v{found.version} ({found.commit[:10]})", f"{found.bytes:,}"
    text = "{file}: {what}, {version}, {bytes} bytes"
    show(say(text, file=found.path, what=what, version=version, bytes=size))
    if found.signature:
        show(say("signed: {file}", file=found.signature))
    for line in found.left_out:
        show(say("left out: {what}", what=line))
    return 0


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written where."""

    path: Path
    files: int
    notes: int
    edges: int = 0


def export_graph(
    memory: Memory, path: Path, *, past: bool = False, force: bool = False
) -> Exported:
    """Write the graph of notes and sessions as GraphML, as Gephi and networkx read it.

    Args:
        memory: an open memory.
        path: a file outside of the memory.
        past: superseded and archived notes as well.
        force: replace a file that is there.

    Raises:
        UsageError: the path lies in the memory, or there is a file already.
    """
    filed = _read_notes(memory, past=past)
    edges = list(derive(filed).edges.values())
    document = render_graphml(filed, edges)
    _write(memory, path, document, force=force)
    return Exported(path, 1, len(filed), len(edges))


def export_json(memory: Memory, path: Path, *, past: bool = False, force: bool = False) -> Exported:
    """Write all cards and their links as one JSON document; arguments as for the graph."""
    filed = [one for one in _read_notes(memory, past=past) if isinstance(one.note, Card)]
    content = {
        "format": CARDS_FORMAT,
        "memory": memory.settings.memory.name,
        "at": memory.clock().isoformat(),
        "cards": [_card_fields(one) for one in filed],
    }
    text = json.dumps(content, ensure_ascii=False, indent=1) + "\n"
    _write(memory, path, text.encode(), force=force)
    return Exported(path, 1, len(filed))


def export_index(
    memory: Memory, path: Path, *, past: bool = False, force: bool = False
) -> Exported:
    """Write a page that lists all cards by type; arguments as for the graph."""
    cards = _read_cards(memory, past=past)
    text = _render_index(memory, [(one, one.path) for one in cards])
    _write(memory, path, text.encode(), force=force)
    return Exported(path, 1, len(cards))


def export_cards(
    memory: Memory, folder: Path, *, past: bool = False, force: bool = False
) -> Exported:
    """Write every card, byte for byte, into a folder of its type, with an index page.

    Arguments are those of the graph; the folder must be empty or new without `force`.
    """
    _prepare_folder(memory, folder, force=force)
    placed = list(_place_cards(_read_cards(memory, past=past)))
    for one, path in placed:
        # Byte for byte and not rendered: unknown keys and comments of a person go along.
        _write(memory, folder / path, one.text.encode(), force=True)
    _write(memory, folder / INDEX, _render_index(memory, placed).encode(), force=True)
    return Exported(folder, len(placed) + 1, len(placed))


def export_sessions(
    memory: Memory, folder: Path, *, past: bool = False, force: bool = False
) -> Exported:
    """Write each session, open or ended, as a JSON file in a folder of its month.

    Args:
        memory: an open memory.
        folder: an empty or new one, outside of the memory.
        past: no difference: what was said is never past.
        force: write into a folder that is not empty.

    Raises:
        UsageError: the folder lies in the memory, or it is not empty.
    """
    _prepare_folder(memory, folder, force=force)
    count = 0
    for place in sessions.places(memory.store):
        try:
            transcript = sessions.read(memory.store, place.path)
        except FormatError:
            continue  # 'verify' names it; its own file can be copied as it is.
        month = f"{transcript.session.started:%Y-%m}"
        path = folder / month / f"{PurePosixPath(place.path).stem}.json"
        text = json.dumps(_session_members(transcript), ensure_ascii=False, indent=1)
        _write(memory, path, f"{text}\n".encode("utf-8", "replace"), force=True)
        count += 1
    return Exported(folder, count, count)


def _read_notes(memory: Memory, *, past: bool) -> list[Filed]:
    """Return the notes that can be read, in order of path."""
    return [one for one in Shelf(memory.store).notes() if past or one.note.status not in _PAST]


def _read_cards(memory: Memory, *, past: bool) -> list[Filed]:
    return [one for one in _read_notes(memory, past=past) if isinstance(one.note, Card)]


def _place_cards(cards: Sequence[Filed]) -> Iterator[tuple[Filed, str]]:
    """Yield each card with its place in the export: a name taken by another gets the id's end."""
    taken: set[str] = set()
    for one in cards:
        assert isinstance(one.note, Card)
        name = PurePosixPath(one.path).name
        path = f"{one.note.type}/{name}"
        # Folders of macOS and Windows take A.md and a.md for one file.
        if path.casefold() in taken:
            path = f"{one.note.type}/{PurePosixPath(name).stem}-{one.note.id[-8:]}.md"
        taken.add(path.casefold())
        yield one, path


def _render_index(memory: Memory, placed: Sequence[tuple[Filed, str]]) -> str:
    cards = [(one.note, path) for one, path in placed if isinstance(one.note, Card)]
    lang = page_language(memory.settings.memory.language, [card for card, _ in cards])
    groups = [
        {
            "title": TITLES[type][lang is Lang.EN],
            "cards": [_index_entry(card, path) for card, path in cards if card.type is type],
        }
        for type in CardType
    ]
    # Its front matter says that it repeats cards, so that importing it adds nothing.
    head = f"---\nkind: overview\ngenerated: {memory.now().date().isoformat()}\n---\n"
    return head + fill(
        "notes/INDEX",
        lang,
        name=memory.settings.memory.name,
        groups=[group for group in groups if group["cards"]],
        count=len(cards),
        at=memory.now().date().isoformat(),
    )


def _index_entry(card: Card, path: str) -> dict[str, str]:
    return {
        "title": card.title.replace("[", "(").replace("]", ")"),
        "path": path,
        "key": card.key,
        "value": " ".join(card.value.split()),
        "status": str(card.status),
        "confidence": f"{card.confidence:.2f}",
    }


def _card_fields(one: Filed) -> dict[str, object]:
    return {field.name: _plain(getattr(one.note, field.name)) for field in fields(one.note)} | {
        "path": one.path,
    }


def _session_members(transcript: Transcript) -> dict[str, Json]:
    session = transcript.session
    texts: dict[str, Json] = {
        name: getattr(session, name)
        for name in ("agent", "user", "project", "channel", "host", "title", "area", "continues")
    }
    found: dict[str, Json] = {
        "format": SESSION_FORMAT,
        "id": session.id,
        "timestamp": zulu(session.started),
        **{name: text for name, text in texts.items() if text},
        "turns": [_turn_members(turn) for turn in transcript.turns],
    }
    more: dict[str, Json] = {
        "current_task": dict(transcript.task),
        "temp_vars": dict(transcript.variables),
        "metadata": dict(transcript.metadata),
        "ended": zulu(transcript.ended) if transcript.ended else None,
    }
    return found | {name: value for name, value in more.items() if value}


def _turn_members(turn: Turn) -> Json:
    said: dict[str, Json] = {
        "role": str(turn.role),
        "content": turn.text,
        "timestamp": zulu(turn.at),
        "speaker": turn.speaker,
        "origin": str(turn.origin),
        "tool_calls": list(turn.tool_calls),
        "ref": turn.ref,
    }
    return {name: value for name, value in said.items() if value or name == "content"}


def _plain(value: object) -> object:
    """Return the value of a field of a card as JSON knows it."""
    match value:
        case Enum() | Source():
            return str(value)
        case datetime():
            return value.isoformat()
        case Quote():
            return {"source": f"session:{value.session}#{value.n}", "text": value.text}
        case Link():
            return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
        case tuple():
            return [_plain(one) for one in value]
    return value


def _prepare_folder(memory: Memory, folder: Path, *, force: bool) -> None:
    """Raise UsageError where a folder lies in the memory, or is not empty without `force`."""
    check_outside(memory.root, folder)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())) and not force:
        raise UsageError(f"{folder} is not empty. Name a new folder, or give --force.")


def _write(memory: Memory, path: Path, content: bytes, *, force: bool) -> None:
    """Write a file of an export.

    Raises:
        UsageError: it lies in the memory, is there already, or cannot be written.
    """
    check_outside(memory.root, path)
    if path.exists() and not force:
        raise UsageError(f"{path} is there already. Name another file, or give --force.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as error:
        why = error.strerror or error
        raise UsageError(f"{path} cannot be written: {why}. Name another place.") from error


_FORMS = {
    "cards": export_cards,
    "json": export_json,
    "sessions": export_sessions,
    "index": export_index,
    "graphml": export_graph,
}
