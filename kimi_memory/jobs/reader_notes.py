"""The reader's own notes on generated pages: those that count, and those nobody confirmed."""

from __future__ import annotations

from kimi_memory.formats.page_lines import NOTES, read_page
from kimi_memory.store.store import Store

SECTION = "notes"
"""The section of a proposal that would add to the notes of a page."""


def notes_of(text: str) -> str:
    """Return the reader's own section of a page."""
    # Most pages have none, and reading one line by line takes longer than this look.
    low = text.casefold()
    return read_page(text).notes if any(title.casefold() in low for title in NOTES) else ""


def confirmed_notes(store: Store, path: str) -> str:
    """Return the notes of the last version of a page that counts; empty where there is none."""
    if not store.exists(path):
        return ""
    return notes_of(store.served(path).usable.decode("utf-8", "replace"))


def unconfirmed_lines(text: str, confirmed: str) -> list[str]:
    """Return the lines of a text that the confirmed notes lack, without empty ones."""
    known = {line.strip() for line in confirmed.splitlines()}
    return [line for line in text.splitlines() if line.strip() and line.strip() not in known]


def has_unconfirmed(store: Store, path: str, text: str) -> bool:
    """Whether a page that is there holds notes that wait for a person's word."""
    notes = notes_of(text)
    return bool(notes and unconfirmed_lines(notes, confirmed_notes(store, path)))
