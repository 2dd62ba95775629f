"""Spans of text that must not reach the disk, and transcripts to be read."""

from __future__ import annotations

from collections.abc import Callable
from typing import BinaryIO, NamedTuple


class Span(NamedTuple):
    """Characters ``text[start:end]`` that a rule wants masked."""

    start: int
    end: int
    rule: str
    """Kebab-case name of what it is, such as ``aws-access-token``."""


class TranscriptFile(NamedTuple):
    """A file to ingest: its name, its beginning, and a way to read it all."""

    name: str
    head: bytes
    """The first 64 KiB."""
    open: Callable[[], BinaryIO]
    """Opens it from the start; the caller closes."""
