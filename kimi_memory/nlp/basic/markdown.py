"""Marks of Markdown that a quotation leaves out."""

from __future__ import annotations

from kimi_memory.nlp.basic.patterns import regex

LINK = regex(r"\[([^\[\]\n]{1,200})\]\([^()\s]{1,300}\)")
"""A link: its words are what is read."""
EMPHASIS = regex(r"(?<![/*])\*{2,3}(?![/*])")
"""The marks of bold text. ``tests/**/*.ts`` is a path, and ``__init__`` a name."""
