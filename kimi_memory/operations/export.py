"""Export of a memory for other programs: cards by type, an index page, JSON, a graph."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from xml.etree import ElementTree

from kimi_memory.api.memory import Memory
from kimi_memory.domain.card import Card, CardType
from kimi_memory.domain.graph import Edge, seen_from
from kimi_memory.domain.note import Lang, Note
from kimi_memory.domain.status import Status
from kimi_memory.errors import FormatError, UsageError
from kimi_memory.formats.page_lines import TITLES
from kimi_memory.formats.templates import fill
from kimi_memory.jobs.graph import derive
from kimi_memory.jobs.pages import page_language
from kimi_memory.store.notes.notes import Filed, Shelf

INDEX = "index.md"
CARDS_FORMAT = "kimi_memory/cards/1"
"""Begins a JSON export, so that import knows it."""
_PAST = {Status.SUPERSEDED, Status.ARCHIVED}
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NODE_KEYS = {
    "label": "string",
    "kind": "string",
    "type": "string",
    "status": "string",
    "project": "string",
    "lang": "string",
    "path": "string",
    "created": "string",
    "confidence": "double",
    "importance": "double",
    "temperature": "double",
}
_EDGE_KEYS = {
    "rel": "string",
    "inverse": "string",
    "weight": "double",
    "reason": "string",
    "derived": "string",
    "suggested": "boolean",
}


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
    filed = _filed(memory, past=past)
    edges = list(derive(filed).edges.values())
    document = _graphml(filed, edges)
    write_outside(memory, path, document, force=force)
    return Exported(path, 1, len(filed), len(edges))


def export_json(memory: Memory, path: Path, *, past: bool = False, force: bool = False) -> Exported:
    """Write all cards and their links as one JSON document; arguments as for the graph."""
    filed = [one for one in _filed(memory, past=past) if isinstance(one.note, Card)]
    content = {
        "format": CARDS_FORMAT,
        "memory": memory.settings.memory.name,
        "at": memory.clock().isoformat(),
        "cards": [_members(one) for one in filed],
    }
    text = json.dumps(content, ensure_ascii=False, indent=1) + "\n"
    write_outside(memory, path, text.encode(), force=force)
    return Exported(path, 1, len(filed))


def export_index(
    memory: Memory, path: Path, *, past: bool = False, force: bool = False
) -> Exported:
    """Write a page that lists all cards by type; arguments as for the graph."""
    cards = _cards(memory, past=past)
    text = _index(memory, [(one, one.path) for one in cards])
    write_outside(memory, path, text.encode(), force=force)
    return Exported(path, 1, len(cards))


def export_cards(
    memory: Memory, folder: Path, *, past: bool = False, force: bool = False
) -> Exported:
    """Write every card, byte for byte, into a folder of its type, with an index page.

    Arguments are those of the graph; the folder must be empty or new without `force`.
    """
    prepare_folder(memory, folder, force=force)
    placed = list(_placed(_cards(memory, past=past)))
    for one, path in placed:
        write_outside(memory, folder / path, one.text.encode(), force=True)
    write_outside(memory, folder / INDEX, _index(memory, placed).encode(), force=True)
    return Exported(folder, len(placed) + 1, len(placed))


def _filed(memory: Memory, *, past: bool) -> list[Filed]:
    """Return the notes that can be read, in order of path."""
    shelf, found = Shelf(memory.store), []
    for entry in sorted(shelf.entries().values(), key=lambda entry: entry.path):
        try:
            found.append(shelf.file(entry.path))
        except FormatError:
            continue
    return [one for one in found if past or one.note.status not in _PAST]


def _cards(memory: Memory, *, past: bool) -> list[Filed]:
    return [one for one in _filed(memory, past=past) if isinstance(one.note, Card)]


def _placed(cards: Sequence[Filed]) -> Iterator[tuple[Filed, str]]:
    """Yield each card with its place in the export: a name taken by another gets the id's end."""
    taken: set[str] = set()
    for one in cards:
        assert isinstance(one.note, Card)
        name = PurePosixPath(one.path).name
        path = f"{one.note.type}/{name}"
        if path.casefold() in taken:
            path = f"{one.note.type}/{PurePosixPath(name).stem}-{one.note.id[-8:]}.md"
        taken.add(path.casefold())
        yield one, path


def _index(memory: Memory, placed: Sequence[tuple[Filed, str]]) -> str:
    cards = [(one.note, path) for one, path in placed if isinstance(one.note, Card)]
    lang = page_language(memory.settings, [card for card, _ in cards])
    groups = [
        {
            "title": TITLES[type][lang is Lang.EN],
            "cards": [_line(card, path) for card, path in cards if card.type is type],
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


def _line(card: Card, path: str) -> dict[str, str]:
    return {
        "title": card.title.replace("[", "(").replace("]", ")"),
        "path": path,
        "key": card.key,
        "value": " ".join(card.value.split()),
        "status": str(card.status),
        "confidence": f"{card.confidence:.2f}",
    }


def _members(one: Filed) -> dict[str, object]:
    card = one.note
    assert isinstance(card, Card)
    moments = ("created", "updated", "verified", "valid_from", "valid_to", "expires")
    texts = ("id", "title", "type", "status", "lang", "key", "value", "applies", "usage", "caveats")
    found: dict[str, object] = {name: str(getattr(card, name)) for name in texts}
    for name in moments:
        at = getattr(card, name)
        found[name] = at.isoformat() if at else None
    return found | {
        "tags": list(card.tags),
        "category": card.category,
        "project": card.project,
        "scope": card.scope,
        "confidence": card.confidence,
        "importance": card.importance,
        "temperature": card.temperature,
        "trust": str(card.trust),
        "supersedes": list(card.supersedes),
        "sources": [str(source) for source in card.sources],
        "quotes": [{"source": f"session:{q.session}#{q.n}", "text": q.text} for q in card.quotes],
        "links": [
            {"to": link.to, "rel": str(link.rel), "weight": link.weight, "reason": link.reason}
            for link in card.links
        ],
        "path": one.path,
    }


def _graphml(filed: Sequence[Filed], edges: Sequence[Edge]) -> bytes:
    root = ElementTree.Element("graphml", {"xmlns": "http://graphml.graphdrawing.org/xmlns"})
    for kind, keys in (("node", _NODE_KEYS), ("edge", _EDGE_KEYS)):
        for name, type in keys.items():
            names = {"id": f"{kind}-{name}", "for": kind, "attr.name": name, "attr.type": type}
            ElementTree.SubElement(root, "key", names)
    graph = ElementTree.SubElement(root, "graph", {"id": "memory", "edgedefault": "directed"})
    known = {one.note.id for one in filed}
    for one in filed:
        _element(graph, "node", {"id": one.note.id}, _node(one.note, one.path))
    for id in sorted({edge.target for edge in edges} - known):
        kind = "session" if id.startswith("session:") else "missing"
        _element(graph, "node", {"id": id}, {"label": id, "kind": kind})
    for number, edge in enumerate(edges):
        ends = {"id": f"e{number}", "source": edge.source, "target": edge.target}
        _element(graph, "edge", ends, _relation(edge))
    ElementTree.indent(root, " ")
    return bytes(ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _element(
    graph: ElementTree.Element, kind: str, attributes: dict[str, str], values: dict[str, object]
) -> None:
    element = ElementTree.SubElement(graph, kind, attributes)
    for name, value in values.items():
        if value not in (None, ""):
            data = ElementTree.SubElement(element, "data", {"key": f"{kind}-{name}"})
            text = str(value).lower() if isinstance(value, bool) else str(value)
            data.text = _NO_XML.sub("\ufffd", text)


def _node(note: Note, path: str) -> dict[str, object]:
    return {
        "label": getattr(note, "title", "") or getattr(note, "name", "") or note.id,
        "kind": note.kind,
        "type": str(getattr(note, "type", "")),
        "status": str(note.status),
        "project": getattr(note, "project", ""),
        "lang": str(note.lang),
        "path": path,
        "created": note.created.isoformat(),
        "confidence": getattr(note, "confidence", None),
        "importance": getattr(note, "importance", None),
        "temperature": getattr(note, "temperature", None),
    }


def _relation(edge: Edge) -> dict[str, object]:
    return {
        "rel": str(edge.rel),
        "inverse": seen_from(edge.rel, forwards=False),
        "weight": edge.weight,
        "reason": edge.reason,
        "derived": edge.derived,
        "suggested": edge.suggested,
    }


def _outside(memory: Memory, path: Path) -> None:
    if path.resolve().is_relative_to(memory.root):
        raise UsageError(f"{path} lies in the memory itself. Export to a place outside of it.")


def prepare_folder(memory: Memory, folder: Path, *, force: bool) -> None:
    """Raise UsageError where a folder lies in the memory, or is not empty without `force`."""
    _outside(memory, folder)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())) and not force:
        raise UsageError(f"{folder} is not empty. Name a new folder, or give --force.")


def write_outside(memory: Memory, path: Path, content: bytes, *, force: bool) -> None:
    """Write a file of an export.

    Raises:
        UsageError: it lies in the memory, is there already, or cannot be written.
    """
    _outside(memory, path)
    if path.exists() and not force:
        raise UsageError(f"{path} is there already. Name another file, or give --force.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as error:
        why = error.strerror or error
        raise UsageError(f"{path} cannot be written: {why}. Name another place.") from error
