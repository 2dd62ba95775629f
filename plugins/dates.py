"""Relative dates of a question, resolved when it is asked.

Why it exists: "last Friday" and 上周五 mean another day every week, so they cannot be
words of a note; in a question they mean one day, which notes hold as ``d:2026-02-27``.
"""

from __future__ import annotations

from datetime import datetime

from kimi_memory import hookimpl
from kimi_memory.domain.search_types import Query
from kimi_memory.nlp.dates.date_terms import date_words


@hookimpl
def expand_query(query: Query, now: datetime) -> list[str]:
    """Add the typed words of the dates a query names, counted from `now`."""
    return date_words(query.text, now)
