"""Keyed hashes: words that a file must not hold, known again on the machine that has the key."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from kimi_memory.nlp.basic.characters import normalise

if TYPE_CHECKING:
    from kimi_memory.domain.tombstone import Keyed
    from kimi_memory.store.wal.journal import Journal

_ASKED = 16
"""Hex digits."""
_HASH = re.compile(r"(?<![0-9a-f-])[0-9a-f]{10,64}(?![0-9a-f-])")
"""What may be a hash of words; the parts of a UUID are none."""


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
    # Normalised, so that the same question is the same however it was typed.
    return keyed(f"asked\0{normalise(words)}")[:_ASKED] if words else ""


def hashes_in(mark: str) -> Iterator[str]:
    """Yield what may be hashes of words in the id that a host gave something."""
    yield from _HASH.findall(mark)


def keyed_digits(digits: str, keyed: Keyed) -> str:
    """Return as many hex digits that only this machine can make of the given ones."""
    return keyed(f"digits\0{digits}")[: len(digits)]


def keyed_mark(mark: str, keyed: Keyed) -> str:
    """Return the id that something has since its words were purged; often the same."""
    return _HASH.sub(lambda found: keyed_digits(found[0], keyed), mark)
