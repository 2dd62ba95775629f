"""Destroying the words of cards whose time is over, where ``[ttl] purge_on_expiry`` says so."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from kimi_memory.api.memory import Memory
from kimi_memory.domain.job import JobReport
from kimi_memory.domain.note import LIVE, Card, Status
from kimi_memory.errors import FormatError, KimiMemoryError
from kimi_memory.formats.card_form import Head
from kimi_memory.operations.forget import Doomed, PurgeReport, is_purgeable
from kimi_memory.store.notes.notes import Shelf

RESPITE = timedelta(days=1)
"""Between the archive and the end: nothing is destroyed in the night a clock was wrong."""


def purge_expired(
    memory: Memory, destroy: Callable[[Memory, Doomed], PurgeReport]
) -> list[JobReport]:
    """Destroy what was quoted for cards that were archived because their time was over.

    Args:
        memory: open for writing.
        destroy: carries out a purge; another one where several machines have the memory.

    Returns:
        One report, or none where nothing was to go.
    """
    if not memory.settings.ttl.purge_on_expiry:
        return []
    texts, left_out = _find_doomed(memory)
    if not texts:
        return []
    try:
        report = destroy(memory, Doomed(texts=tuple(texts)))
    except KimiMemoryError as error:
        # One text that cannot be purged must not stop the schedule; the report says why.
        return [JobReport("", "purge", "expired", failed=str(error))]
    return [
        JobReport(
            report.id, "purge", "expired", paths=report.files, left_out=tuple(left_out),
            commit=report.commit,
        )
    ]  # fmt: skip


def _find_doomed(memory: Memory) -> tuple[list[str], list[str]]:
    """Return the words that are to go, and a line for each card whose words stay."""
    shelf = Shelf(memory.store)
    heads = shelf.heads()
    # What was said once may stand behind two cards, of which one is still held to be so.
    held = {hash for head in heads if head.status in LIVE for hash in head.quoted}
    doomed: dict[str, None] = {}
    left_out = []
    for head in heads:
        if head.status is not Status.ARCHIVED or not _is_over(head, memory):
            continue
        card = _read_card(shelf, head)
        quotes = card.quotes if card else ()
        texts = [one.text for one in quotes if one.hash not in held and is_purgeable(one.text)]
        doomed.update(dict.fromkeys(texts))
        if len(texts) < len(quotes):
            left_out.append(f"{head.id}: some of its words stay, as other cards rest on them")
    return list(doomed), left_out


def _read_card(shelf: Shelf, head: Head) -> Card | None:
    try:
        [card] = [one for one in shelf.cards(head.key) if one.id == head.id]
    except (FormatError, ValueError):  # It waits for a person's word, or is damaged.
        return None
    return card


def _is_over(head: Head, memory: Memory) -> bool:
    ended = head.expires is not None and head.updated >= head.expires
    return ended and head.updated + RESPITE <= memory.now()
