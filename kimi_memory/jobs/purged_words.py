"""The words that a purge took out elsewhere, found by who still has them.

Nothing secret travels: where the other history has a mark, this one has the words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from kimi_memory.domain.session import Json
from kimi_memory.domain.tombstone import PURGED
from kimi_memory.jobs.purge_file import HASH, SESSION_FILE
from kimi_memory.jobs.purge_spellings import is_latin, spellings
from kimi_memory.store.git.purged_pairs import Washed

_MOST_MARKS = 20
"""In a longer row of marks nobody can tell which word stood at which."""
_LONGEST = 200_000
_NAME = re.compile(r"(?:hmac:)?[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*")
_HEX = re.compile(r"[0-9a-f]{10,64}")


class _Text(NamedTuple):
    """A text as it was, and as the purge left it."""

    old: str
    new: str


class Purged(NamedTuple):
    """What a purge of another copy did."""

    texts: tuple[str, ...]
    """What it destroyed."""
    names: Mapping[str, str]
    """Ids and hashes that were made of words, each with what stands there in its place."""


def find_purged_words(
    washed: Sequence[Washed], sessions: Collection[str], kept: Sequence[bytes]
) -> Purged:
    """Return what a purge of another copy destroyed.

    Args:
        washed: the files that differ between both histories.
        sessions: sessions that went as a whole; their words need not be named.
        kept: what the other copy has now; what stands there was not destroyed.
    """
    texts = {text for one in washed if not _is_of(one, sessions) for text in _yield_texts(one)}
    found, known = dict[str, None](), spellings(())
    # Where one mark stands, it is sure what stood there; with that, most others are known.
    for text in sorted(texts, key=lambda text: (text.new.count(PURGED), text)):
        if _wash(text.old, known) != text.new and (words := tuple(_align(text))):
            found |= dict.fromkeys(words)
            known = spellings(tuple(found))
    sure = tuple(one for one in found if not any(map(spellings([one]).search, kept)))
    known = spellings(sure)
    names = dict(pair for one in washed for pair in _yield_names(one, known))
    held = {name for content in kept for name in HASH.findall(content)} if names else set()
    return Purged(sure, {old: new for old, new in names.items() if old.encode() not in held})


def _wash(text: str, words: re.Pattern[bytes]) -> str:
    return words.sub(PURGED.encode(), text.encode()).decode("utf-8", "replace")


def _yield_names(washed: Washed, words: re.Pattern[bytes]) -> Iterator[tuple[str, str]]:
    """Yield what the other copy put in the place of hashes, with a key that only it has."""
    before, after = _split_lines(washed)
    for old, new in zip(before, after, strict=False) if len(before) == len(after) else ():
        ours, theirs = (_NAME.findall(line) for line in (_wash(old, words), new))
        if old != new and len(ours) == len(theirs):
            pairs = [pair for pair in zip(ours, theirs, strict=True) if pair[0] != pair[1]]
            yield from ((o, n) for o, n in pairs if _HEX.fullmatch(o) or "purged-" in n)
            # The id of a session may end in a hash.
            parts = (zip(o.split("-"), n.split("-"), strict=False) for o, n in pairs)
            yield from ((o, n) for one in parts for o, n in one if o != n and _HEX.fullmatch(o))


def _split_lines(washed: Washed) -> tuple[list[str], list[str]]:
    old, new = (side.decode("utf-8", "replace").splitlines() for side in (washed.old, washed.new))
    return old, new


def _is_of(washed: Washed, sessions: Collection[str]) -> bool:
    found = SESSION_FILE.fullmatch(washed.path)
    return found is not None and found["id"] in sessions


def _align(text: _Text) -> Iterator[str]:
    parts = text.new.split(PURGED)
    if not 1 < len(parts) <= _MOST_MARKS or len(text.old) > _LONGEST:
        return
    found = re.fullmatch("(.+?)".join(map(re.escape, parts)), text.old, re.DOTALL)
    spans = map(found.span, range(1, len(parts))) if found else ()
    words = (_widen(text.old, *span).strip() for span in spans)
    yield from filter(None, words)


def _widen(text: str, first: int, last: int) -> str:
    """Return a part of a text with the rest of the words that it begins or ends within."""
    # A purge of an earlier version took parts of words; ours takes whole ones.
    while first and is_latin(text[first - 1]) and is_latin(text[first]):
        first -= 1
    while last < len(text) and is_latin(text[last]) and is_latin(text[last - 1]):
        last += 1
    return text[first:last]


def _yield_texts(washed: Washed) -> Iterator[_Text]:
    """Yield the texts of a file that have marks, each beside what it was."""
    if PURGED.encode() not in washed.new:
        return
    before, after = _split_lines(washed)
    if washed.path.endswith(".json"):
        before, after = ["\n".join(before)], ["\n".join(after)]
    for one, other in zip(before, after, strict=False) if len(before) == len(after) else ():
        if PURGED in other:
            yield from _pair_values(_parse(one), _parse(other))


def _parse(line: str) -> Json:
    """Return the JSON value of a line, or the line."""
    try:
        found: Json = json.loads(line)
    except ValueError:
        return line
    return found if isinstance(found, dict) else line


def _pair_values(old: Json, new: Json) -> Iterator[_Text]:
    if isinstance(old, str) and isinstance(new, str):
        if PURGED in new and PURGED not in old:
            yield _Text(old, new)
    elif isinstance(old, dict) and isinstance(new, dict):
        for name in old.keys() & new.keys():
            yield from _pair_values(old[name], new[name])
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for one, other in zip(old, new, strict=True):
            yield from _pair_values(one, other)
