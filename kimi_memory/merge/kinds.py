"""Kinds of files, as merges tell them apart: by their paths, then by what is in them."""

from __future__ import annotations

import hashlib
import re
from enum import StrEnum

from kimi_memory.errors import FormatError
from kimi_memory.formats import frontmatter
from kimi_memory.formats.page_lines import sign_of

TOMBSTONES = "mid-term/tombstones.jsonl"
LARGEST = 50 * 1024 * 1024
"""A larger file is not looked into."""


class Kind(StrEnum):
    """How a file is merged, where it is neither a session nor a note."""

    VIEW = "view"
    """What people see of a session, made from its records."""
    PAGE = "page"
    """A generated page; made from the cards."""
    USAGE = "usage"
    JOB = "job"
    THREAD = "thread"
    SETTINGS = "settings"
    TEXT = "text"
    BINARY = "binary"


_PATHS = {
    Kind.USAGE: re.compile(r"mid-term/usage\.jsonl"),
    Kind.JOB: re.compile(r"mid-term/jobs/[^/]+\.json"),
    Kind.THREAD: re.compile(r"mid-term/agents/[^/]+/threads/[^/]+\.jsonl"),
    Kind.SETTINGS: re.compile(r"memory\.toml"),
    Kind.VIEW: re.compile(
        r"short-term/session_[^/]+\.json|episodic/sessions/(?:[^/]+/)*session_[^/]+\.md"
    ),
}
_SESSION = re.compile(r"(?:short-term|episodic/sessions(?:/[^/]+)*)/session_[^/]+\.jsonl")


def is_session(path: str) -> bool:
    """Whether the records of a session lie there."""
    return _SESSION.fullmatch(path) is not None


def is_view(path: str) -> bool:
    """Whether what people see of a session lies there."""
    return _PATHS[Kind.VIEW].fullmatch(path) is not None


def is_record(path: str) -> bool:
    """Whether a file tells what happened, and not what is known: tombstones, jobs and the like."""
    kinds = (Kind.USAGE, Kind.JOB, Kind.THREAD)
    return path == TOMBSTONES or any(_PATHS[kind].fullmatch(path) for kind in kinds)


def view_of(path: str) -> str:
    """Return where people see the session whose records lie at a path."""
    end = ".json" if path.startswith("short-term/") else ".md"
    return path.removesuffix(".jsonl") + end


def kind_of(path: str, content: bytes) -> Kind:
    """Return how a file is merged."""
    for kind, pattern in _PATHS.items():
        if pattern.fullmatch(path):
            return kind
    text = read_text(content)
    if text is None:
        return Kind.BINARY
    return Kind.PAGE if path.endswith(".md") and sign_of(text) else Kind.TEXT


def mark_of(content: bytes) -> str:
    """Return the digits that tell two files of one name apart."""
    return hashlib.sha256(content).hexdigest()[:8]


def read_text(content: bytes) -> str | None:
    """Return the text of a file; None where it is none, or too long."""
    if len(content) > LARGEST or b"\0" in content:
        return None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return None


def has_id(text: str) -> bool:
    """Whether a text would be taken for a note."""
    try:
        return bool(frontmatter.read(text, "").values.get("id"))
    except FormatError:
        return True
