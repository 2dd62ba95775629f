"""Tombstones: values that must neither be stored again nor shown."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import datetime
from functools import lru_cache

from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.basic.patterns import bare, normalise
from kimi_memory.nlp.basic.sentences import sentences

STATEMENT = 24
"""From so many bytes on (8 Chinese characters) a value is barred under any key."""
_SHORTEST = 8
"""Shorter values are small talk when they stand inside a longer text."""
PURGED = "⟦purged⟧"
"""Stands where a text was destroyed."""
KEYED = "hmac:"
"""Begins a hash that only the machine that made it can compare with words."""
Keyed = Callable[[str], str]
"""Returns the HMAC of a text under this machine's key."""
_ASKED = 16
"""Hex digits of the mark of a question."""
_HASH = re.compile(r"(?<![0-9a-f-])[0-9a-f]{10,64}(?![0-9a-f-])")
"""What may be a hash of words; the parts of a UUID are none."""
_PROJECT = "project:"
_PART = 4
"""From so many bytes on a sentence counts as part of a value of several."""


# What was forgotten stays barred by its words or their hash: a distiller reads the old turns again,
# and an import brings the same sentence.
@dataclass(frozen=True, slots=True)
class Tombstone:
    """One line of ``mid-term/tombstones.jsonl``."""

    scope: str
    """``memory``, ``project:<name>``, ``page:<path>``, or a scope such as ``agent:<name>``."""
    key: str
    """The card key, empty when the value is barred under any key."""
    value: str
    """Normalised value, or its keyed hash when `hashed`; empty bars the whole key.

    Older lines have the plain hash, from which a short value can be found by trying.
    """
    at: datetime
    by: str
    why: str = ""
    hashed: bool = False
    about: tuple[str, ...] = ()
    """Ids of the notes and turns that said it: by them it holds where the key is another."""

    def holds_in(self, scopes: Collection[str]) -> bool:
        """Whether it holds there: what was forgotten in one project is forgotten in all."""
        return self.scope in scopes or (bool(self.value) and self.scope.startswith(_PROJECT))


class Tombstones:
    """All tombstones of a memory: they say whether a text may be stored or shown.

    Args:
        stones: the lines of the file.
        keyed: the hash of this machine, without which keyed values hold by their ids alone.
    """

    def __init__(self, stones: Iterable[Tombstone], keyed: Keyed | None = None) -> None:
        self._stones = tuple(stones)
        # A keyed hash is made by the journal and costs more than all the rest, and most memories
        # need none.
        is_needed = any(stone.hashed and stone.value.startswith(KEYED) for stone in self._stones)
        self._keyed = keyed if is_needed else None
        self._about = frozenset(id for stone in self._stones for id in stone.about)
        self._plain_forms = {stone: _tombstone_form(stone) for stone in self._stones if stone.value}

    def __bool__(self) -> bool:
        """Whether there is any."""
        return bool(self._stones)

    def __iter__(self) -> Iterator[Tombstone]:
        """Yield them in the order they were set."""
        return iter(self._stones)

    def names(self, id: str) -> bool:
        """Whether one of them names a note or a turn."""
        return id in self._about

    def forms(self, text: str) -> frozenset[str]:
        """Return all that one of them may hold of a text: its words, bare, or their hashes."""
        found = _plain_forms(text)
        if self._keyed is None:
            return found
        return found | {keyed_hash(hash_of(words), self._keyed) for words in _normalise_words(text)}

    def keys(self) -> frozenset[str]:
        """Return the keys that have a tombstone."""
        return frozenset(stone.key for stone in self._stones if stone.key)

    def near(self, scopes: Collection[str]) -> list[Tombstone]:
        """Return the plain tombstones, whose values other words may repeat."""
        return [stone for stone in self._plain_forms if stone.holds_in(scopes) and not stone.hashed]

    def bars(
        self, scopes: Collection[str], key: str, texts: Iterable[str], quotes: Collection[str] = ()
    ) -> bool:
        """Whether what is said under a key must not be stored again.

        Args:
            scopes: where it is said.
            key: what it is about.
            texts: what is said, in one or several wordings.
            quotes: the words it rests on; it falls if all of them are barred.
        """
        said = [(text, self.forms(text)) for text in texts if text.strip()]
        for stone in self._stones:
            if not stone.holds_in(scopes):
                continue
            mine = stone.key in ("", key)
            # A tombstone without a value bars whatever is said under its key.
            if not stone.value:
                if mine:
                    return True
            elif any(
                self._plain_forms[stone] in found
                and (mine or _is_statement(text) or is_same_key(stone.key, key, text))
                for text, found in said
            ):
                return True
        # A draft may put forgotten words in new ones; what it quotes cannot.
        held = {
            self._plain_forms[stone]
            for stone in self._plain_forms
            if stone.holds_in(scopes)
            and (not stone.key or is_same_key(stone.key, key, stone.value))
        }
        return bool(quotes) and all(not held.isdisjoint(self.forms(quote)) for quote in quotes)

    def hides(self, text: str, scopes: Collection[str]) -> bool:
        """Whether a text says, even in a part, what must not be shown."""
        return bool(self._stones) and self.redact(text, scopes) != text

    def redact(self, text: str, scopes: Collection[str]) -> str:
        """Return a text without the sentences that say what was forgotten.

        Args:
            text: what was once said.
            scopes: where it was said: ``memory``, its project, its session.
        """
        near = [stone for stone in self._stones if stone.holds_in(scopes)]
        # The whole session was forgotten: no sentence of it may be shown.
        if any(stone.scope.startswith("session:") and not stone.value for stone in near):
            return ""
        held = {self._plain_forms[stone] for stone in near if stone.value}
        # A forgotten "yes" stands in thousands of texts.
        held = {form for form in held if len(form.encode()) >= _SHORTEST}
        if not held or not self._has_barred_value(text, held):
            return text
        parts = [text[first:last] for first, last in sentences(text)]
        rest = " ".join(part for part in parts if not self._is_barred_sentence(part, held)).strip()
        # What runs over several sentences cannot be cut out of them one by one.
        return "" if self._has_barred_value(rest, held) else rest

    def _has_barred_value(self, text: str, held: set[str]) -> bool:
        """Whether a text holds one of the values, or is one that only a hash is known of."""
        plain = bare(text)
        if any(form in plain for form in held) or not held.isdisjoint(self.forms(text)):
            return True
        parts = (text[first:last] for first, last in sentences(text))
        return any(not held.isdisjoint(self.forms(part)) for part in parts)

    def _is_barred_sentence(self, sentence: str, held: set[str]) -> bool:
        plain = bare(sentence)
        if not plain:
            return False
        if not held.isdisjoint(self.forms(sentence)) or any(form in plain for form in held):
            return True
        # Of a value in two sentences neither may be shown alone.
        return len(plain.encode()) >= _PART and any(plain in form for form in held)


@lru_cache(maxsize=4096)
def _plain_forms(text: str) -> frozenset[str]:
    words = _normalise_words(text)
    return frozenset((*words, *map(hash_of, words)))


def _normalise_words(text: str) -> tuple[str, str]:
    return normalise(text), bare(text)


def hash_of(words: str) -> str:
    """Return the plain hash of words, as it stood in tombstones of earlier versions."""
    return hashlib.sha256(words.encode()).hexdigest()


def keyed_hash(digest: str, keyed: Keyed) -> str:
    """Return what stands in a tombstone instead of words, made of their plain hash."""
    return f"{KEYED}{keyed(digest)}"


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


def is_same_key(one: str, other: str, said: str) -> bool:
    """Whether two keys are of one matter: equal, or one goes on with words of what is said.

    So end the keys of further values of one thing: `cat.name`, `cat.name.the-cat-is-momo`.
    """
    short, long = sorted((one, other), key=len)
    if short == long or not (short and long.startswith(f"{short}.")):
        return short == long
    plain = bare(said)
    return all(bare(word) in plain for word in long.removeprefix(f"{short}.").split("-"))


def _tombstone_form(stone: Tombstone) -> str:
    return stone.value if stone.hashed else bare(stone.value) or normalise(stone.value)


def _is_statement(text: str) -> bool:
    return len(normalise(text).encode()) >= STATEMENT
