"""The table of pages: address, who may see it, and what it does."""

from __future__ import annotations

from kimi_memory.web import decision_pages, note_pages, reading_pages, work_pages
from kimi_memory.web.page_types import Page

PAGES: tuple[Page, ...] = (
    Page("GET", "/", reading_pages.show_overview, whole=False),
    Page("GET", "/held", reading_pages.show_held, whole=False),
    Page("GET", "/search", reading_pages.show_search, whole=False),
    Page("GET", "/timeline", reading_pages.show_timeline, whole=False),
    Page("GET", "/told", reading_pages.show_told, whole=False),
    Page("GET", "/note/{id}", note_pages.show_note, whole=False),
    Page("POST", "/note/{id}", decision_pages.correct),
    Page("GET", "/file", note_pages.show_file),
    Page("GET", "/sessions", note_pages.show_sessions, whole=False),
    Page("GET", "/sessions/{id}", note_pages.show_session, whole=False),
    Page("GET", "/review", decision_pages.show_review),
    Page("POST", "/review", decision_pages.decide_review),
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
    Page("GET", "/health", work_pages.show_health),
)
NAVIGATION: tuple[tuple[str, str, str], ...] = (
    ("overview", "/", "o"),
    ("held", "/held", "b"),
    ("search", "/search", "/"),
    ("timeline", "/timeline", "t"),
    ("sessions", "/sessions", "s"),
    ("review", "/review", "r"),
    ("conflicts", "/conflicts", "c"),
    ("jobs", "/jobs", "j"),
    ("told", "/told", "a"),
    ("forget", "/forget", "f"),
    ("health", "/health", "h"),
)
"""Caption, address and key of the pages that every page leads to."""
EVERYBODY = frozenset(page.path for page in PAGES if not page.whole)
"""Pages that a person who is bound to a part has, too."""
