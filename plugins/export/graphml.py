"""GraphML of notes and links, as Gephi and networkx read it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree

from kimi_memory.domain.graph import Edge, seen_from
from kimi_memory.domain.note import Note
from kimi_memory.store.notes.notes import Filed

# Turns may hold control characters; XML 1.0 allows none, and readers stop at the first.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NODE_KEYS = {
    **dict.fromkeys(("label", "kind", "type", "status", "project", "lang", "path"), "string"),
    **{"created": "string", "confidence": "double", "importance": "double"},
    "temperature": "double",
}
_EDGE_KEYS = {
    **{"rel": "string", "inverse": "string", "weight": "double", "reason": "string"},
    **{"derived": "string", "suggested": "boolean"},
}


def render_graphml(filed: Sequence[Filed], edges: Sequence[Edge]) -> bytes:
    """Return notes and the links between them as a document."""
    root = ElementTree.Element("graphml", {"xmlns": "http://graphml.graphdrawing.org/xmlns"})
    for kind, keys in (("node", _NODE_KEYS), ("edge", _EDGE_KEYS)):
        for name, type in keys.items():
            names = {"id": f"{kind}-{name}", "for": kind, "attr.name": name, "attr.type": type}
            ElementTree.SubElement(root, "key", names)
    graph = ElementTree.SubElement(root, "graph", {"id": "memory", "edgedefault": "directed"})
    known = {one.note.id for one in filed}
    for one in filed:
        _add_element(graph, "node", {"id": one.note.id}, _node_fields(one.note, one.path))
    # Gephi and networkx refuse an edge to a node that is not there.
    for id in sorted({edge.target for edge in edges} - known):
        kind = "session" if id.startswith("session:") else "missing"
        _add_element(graph, "node", {"id": id}, {"label": id, "kind": kind})
    for number, edge in enumerate(edges):
        ends = {"id": f"e{number}", "source": edge.source, "target": edge.target}
        _add_element(graph, "edge", ends, _edge_fields(edge))
    ElementTree.indent(root, " ")
    return bytes(ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _add_element(
    graph: ElementTree.Element, kind: str, attributes: dict[str, str], values: dict[str, object]
) -> None:
    element = ElementTree.SubElement(graph, kind, attributes)
    for name, value in values.items():
        # Readers of GraphML take an empty element of a number for an error.
        if value not in (None, ""):
            data = ElementTree.SubElement(element, "data", {"key": f"{kind}-{name}"})
            text = str(value).lower() if isinstance(value, bool) else str(value)
            data.text = _NO_XML.sub("\ufffd", text)


def _node_fields(note: Note, path: str) -> dict[str, object]:
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


def _edge_fields(edge: Edge) -> dict[str, object]:
    return {
        "rel": str(edge.rel),
        "inverse": seen_from(edge.rel, forwards=False),
        "weight": edge.weight,
        "reason": edge.reason,
        "derived": edge.derived,
        "suggested": edge.suggested,
    }
