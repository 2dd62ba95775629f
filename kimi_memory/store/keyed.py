"""Keyed hashes: words that a file must not hold, known again on the machine that has the key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kimi_memory.text.normal import normalise

if TYPE_CHECKING:
    from kimi_memory.model.tombstone import Keyed
    from kimi_memory.store.journal import Journal

_ASKED = 16
"""Hex digits."""


def keyed_by(journal: Journal) -> Keyed:
    """Return the HMAC of texts under this machine's key.

    The key lies outside of every memory, so a copy of the folder is not enough to try words
    against the hashes in it.
    """

    def keyed(text: str) -> str:
        return journal.sign(b"keyed\0" + text.encode("utf-8", "surrogatepass")).decode()

    return keyed


def asked(words: str, keyed: Keyed) -> str:
    """Return what a receipt holds of a question: the same for the same words, and none of them."""
    return keyed(f"asked\0{normalise(words)}")[:_ASKED] if words else ""
