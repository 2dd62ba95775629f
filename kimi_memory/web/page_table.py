"""The table of pages: address, who may see it, and what it does."""

from __future__ import annotations

from kimi_memory.web import (
    decision_pages,
    graph_pages,
    health_pages,
    note_pages,
    past_pages,
    reading_pages,
    usage_pages,
    work_pages,
)
from kimi_memory.web.page_types import Page

PAGES: tuple[Page, ...] = (
    Page("GET", "/", reading_pages.show_overview, whole=False),
    Page("GET", "/held", reading_pages.show_held, whole=False),
    Page("GET", "/search", reading_pages.show_search, whole=False),
    Page("GET", "/timeline", reading_pages.show_timeline, whole=False),
    Page("GET", "/told", reading_pages.show_told, whole=False),
    Page("GET", "/graph", graph_pages.show_graph, whole=False),
    Page("GET", "/note/{id}", note_pages.show_note, whole=False),
    Page("POST", "/note/{id}", decision_pages.correct),
    Page("GET", "/note/{id}/history", past_pages.show_history, whole=False),
    Page("GET", "/file", note_pages.show_file),
    Page("GET", "/blame", past_pages.show_blame),
    Page("GET", "/sessions", note_pages.show_sessions, whole=False),
    Page("GET", "/sessions/{id}", note_pages.show_session, whole=False),
    Page("GET", "/review", decision_pages.show_review),
    Page("POST", "/review", decision_pages.decide_review),
    Page("GET", "/review/all", decision_pages.show_alike),
    Page("POST", "/review/all", decision_pages.accept_alike),
    Page("GET", "/conflicts", decision_pages.show_conflicts),
    Page("POST", "/conflicts", decision_pages.decide_conflict),
    Page("GET", "/jobs", work_pages.show_jobs),
    Page("POST", "/jobs", work_pages.run_jobs),
    Page("GET", "/jobs/{id}", work_pages.show_job),
    Page("POST", "/jobs/{id}/undo", work_pages.undo_job),
    Page("GET", "/forget", decision_pages.show_forget),
    Page("POST", "/forget", decision_pages.decide_forget),
    Page("GET", "/purge", decision_pages.show_purge),
    Page("POST", "/purge", decision_pages.decide_purge),
    Page("GET", "/receipts", past_pages.show_receipts),
    Page("GET", "/usage", usage_pages.show_usage),
    Page("GET", "/health", health_pages.show_health),
    Page("POST", "/health", health_pages.mend),
)
NAVIGATION: tuple[tuple[tuple[str, str, str], ...], ...] = (
    (
        ("overview", "/", "o"),
        ("held", "/held", "b"),
        ("search", "/search", "/"),
        ("timeline", "/timeline", "t"),
        ("sessions", "/sessions", "s"),
        ("graph", "/graph", "n"),
    ),
    (
        ("review", "/review", "r"),
        ("conflicts", "/conflicts", "c"),
        ("forget", "/forget", "f"),
    ),
    (
        ("told", "/told", "a"),
        ("jobs", "/jobs", "j"),
        ("usage_page", "/usage", "u"),
        ("health", "/health", "h"),
    ),
)
"""Caption, address and key of the pages that every page leads to: what reads, what decides, what
is done."""
EVERYBODY = frozenset(page.path for page in PAGES if not page.whole)
"""Pages that a person who is bound to a part has, too."""
