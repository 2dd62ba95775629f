"""Tombstones: values that must not come back, and what they silence."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from kimi_memory.text.normal import bare, normalise
from kimi_memory.text.sentences import sentences

STATEMENT = 24
"""From so many bytes on (8 Chinese characters) a value is barred under any key."""
_WORDS = 8
"""Shorter values are small talk when they stand inside a longer text."""
_PART = 4
"""From so many bytes on a sentence counts as part of a value of several."""


@dataclass(frozen=True, slots=True)
class Tombstone:
    """One line of ``mid-term/tombstones.jsonl``."""

    scope: str
    """``memory``, ``project:<name>``, ``page:<path>``, or a scope such as ``agent:<name>``."""
    key: str
    """The card key, empty when the value is barred under any key."""
    value: str
    """Normalised value, or its hash when `hashed`; empty bars the whole key."""
    at: datetime
    by: str
    why: str = ""
    hashed: bool = False


class Stones:
    """All tombstones of a memory, asked whether a text is barred or must not be shown."""

    def __init__(self, stones: Iterable[Tombstone]) -> None:
        self._stones = tuple(stones)
        self._forms = {stone: _held(stone) for stone in self._stones if stone.value}

    def __bool__(self) -> bool:
        """Whether there is any."""
        return bool(self._stones)

    def keys(self) -> frozenset[str]:
        """Return the keys that have a tombstone."""
        return frozenset(stone.key for stone in self._stones if stone.key)

    def near(self, scopes: Collection[str], key: str) -> list[Tombstone]:
        """Return the plain tombstones of a key, whose values other words may repeat."""
        return [
            stone
            for stone in self._forms
            if stone.scope in scopes and stone.key == key and not stone.hashed
        ]

    def bar(self, scopes: Collection[str], key: str, texts: Iterable[str]) -> bool:
        """Whether one of the texts, said under a key, is what must not come back."""
        said = [(text, forms(text)) for text in texts if text.strip()]
        for stone in self._stones:
            if stone.scope not in scopes:
                continue
            mine = stone.key in ("", key)
            if not stone.value:
                if mine:
                    return True
            elif any(
                self._forms[stone] in found and (mine or _is_statement(text))
                for text, found in said
            ):
                return True
        return False

    def rest_on_barred(self, scopes: Collection[str], key: str, quotes: Collection[str]) -> bool:
        """Whether all the words that something rests on are barred."""
        held = {
            self._forms[stone]
            for stone in self._forms
            if stone.scope in scopes and stone.key in ("", key)
        }
        return bool(quotes) and all(not held.isdisjoint(forms(quote)) for quote in quotes)

    def silence(self, text: str, scopes: Collection[str]) -> str:
        """Return a text without the sentences that say what was forgotten.

        Args:
            text: what was once said.
            scopes: where it was said: ``memory``, its project, its session.
        """
        near = [stone for stone in self._stones if stone.scope in scopes]
        if any(stone.scope.startswith("session:") and not stone.value for stone in near):
            return ""
        held = {self._forms[stone] for stone in near if stone.value}
        held = {form for form in held if len(form.encode()) >= _WORDS}
        if not held or not _speaks(text, held):
            return text
        parts = [text[first:last] for first, last in sentences(text)]
        rest = " ".join(part for part in parts if not _repeats(part, held)).strip()
        # What runs over several sentences cannot be cut out of them one by one.
        return "" if _speaks(rest, held) else rest


def forms(text: str) -> frozenset[str]:
    """Return all that a tombstone may hold of a text: its words, bare, or their hashes."""
    return _forms(text)


@lru_cache(maxsize=4096)
def _forms(text: str) -> frozenset[str]:
    words = (normalise(text), bare(text))
    return frozenset((*words, *map(hash_of, words)))


def hash_of(words: str) -> str:
    """Return the hash that stands in a tombstone instead of its words."""
    return hashlib.sha256(words.encode()).hexdigest()


def _held(stone: Tombstone) -> str:
    return stone.value if stone.hashed else bare(stone.value) or normalise(stone.value)


def _is_statement(text: str) -> bool:
    return len(normalise(text).encode()) >= STATEMENT


def _speaks(text: str, held: set[str]) -> bool:
    """Whether a text holds one of the values, or is one that only a hash is known of."""
    plain = bare(text)
    if any(form in plain for form in held) or not held.isdisjoint(forms(text)):
        return True
    return any(not held.isdisjoint(forms(text[first:last])) for first, last in sentences(text))


def _repeats(sentence: str, held: set[str]) -> bool:
    plain = bare(sentence)
    if not plain:
        return False
    if not held.isdisjoint(forms(sentence)) or any(form in plain for form in held):
        return True
    return len(plain.encode()) >= _PART and any(plain in form for form in held)
