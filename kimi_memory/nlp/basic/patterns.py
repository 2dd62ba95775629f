"""Patterns: compiled when they are first used, made of named parts, found by their literals.

Compiling all of ours takes longer than answering a question, and most processes use few. Those
that were compiled once are kept from one process to the next, as Python keeps compiled modules,
in a file in ``__pycache__`` that may vanish at any moment. What Python offers for that has no
public name: where it changes, patterns are compiled as ever.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import importlib.util
import marshal
import os
import re
import sys
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property, lru_cache, wraps
from pathlib import Path
from typing import Any, TypeVar, cast

_HAN_SET = re.compile(r"\[(?:\\u3400-\\u9fff|A-Za-z|\\d)+\]")

_MOST = 4096
"""A file with more rows holds those of many versions of the program, and begins anew."""
_SUM = 4
"""Bytes of the checksum at the start of the file."""
_UNKNOWN = (AttributeError, ImportError, OverflowError, RuntimeError, TypeError, ValueError)
"""What a Python with other inner parts raises, and a row that is not ours."""


class PatternCache:
    """The compiled patterns of a file: read at the first question, written at the end.

    Args:
        path: the file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._rows: dict[Any, Any] | None = None
        self._is_changed = False

    def compile_pattern(self, source: str, flags: int) -> re.Pattern[str]:
        """Return a compiled pattern.

        Args:
            source: the pattern. It is kept, so it must not come from anybody's memory.
            flags: its flags.
        """
        try:
            row = self.compute_once(("code", source, int(flags)), lambda: _encode(source, flags))
            return _decode(source, row)
        except _UNKNOWN:
            # The inner parts of Python changed: slower, and the same pattern.
            return re.compile(source, flags)

    def compute_once(self, key: tuple[str, str, int], compute: Callable[[], Any]) -> Any:
        """Return what was computed of a pattern before, or compute it now.

        Args:
            key: what was computed, the pattern and its flags.
            compute: returns numbers, texts and tuples of them.
        """
        if self._rows is None:
            self._rows = self._read_rows()
        if key not in self._rows:
            self._rows[key] = compute()
            self._is_changed = True
        return self._rows[key]

    def write_file(self) -> None:
        """Write what was computed since the file was read, if Python may write its caches."""
        if not self._is_changed or self._rows is None or sys.dont_write_bytecode:
            return
        content = marshal.dumps((sys.version, self._rows))
        beside = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        # Where Python's caches cannot be written, patterns are compiled each time.
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(exist_ok=True)
            try:
                beside.write_bytes(zlib.crc32(content).to_bytes(_SUM, "big") + content)
                beside.replace(self._path)
            finally:
                beside.unlink(missing_ok=True)

    def _read_rows(self) -> dict[Any, Any]:
        """Return what the file holds; nothing where it is damaged or of another Python."""
        # Whatever is wrong with the file, patterns can be compiled.
        with contextlib.suppress(OSError, EOFError, TypeError, ValueError):
            content = self._path.read_bytes()
            # A flipped bit could let a pattern of secrets find nothing.
            if zlib.crc32(content[_SUM:]).to_bytes(_SUM, "big") == content[:_SUM]:
                version, rows = marshal.loads(content[_SUM:])  # noqa: S302  who writes here writes the bytecode beside it
                if version == sys.version and len(rows) <= _MOST:
                    return dict(rows)
        return {}


def _encode(source: str, flags: int) -> tuple[Any, ...]:
    """Return what `re.compile` hands to the engine, as it may be stored."""
    compiler = importlib.import_module("re._compiler")
    tree = importlib.import_module("re._parser").parse(source, flags)
    order: list[str | None] = [None] * tree.state.groups
    for name, number in tree.state.groupdict.items():
        order[number] = name
    code = array("I", compiler._code(tree, flags)).tobytes()
    names = tuple(tree.state.groupdict.items())
    return code, int(flags) | int(tree.state.flags), tree.state.groups - 1, names, tuple(order)


def _decode(source: str, row: tuple[Any, ...]) -> re.Pattern[str]:
    code, flags, groups, names, order = row
    numbers = array("I", code).tolist()
    engine = importlib.import_module("_sre")
    pattern: re.Pattern[str] = engine.compile(source, flags, numbers, groups, dict(names), order)
    return pattern


PATTERNS = PatternCache(Path(importlib.util.cache_from_source(__file__)).with_suffix(".patterns"))
atexit.register(PATTERNS.write_file)


def regex(source: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern like `re.compile`; a mistake in it shows at its first use."""
    return cast("re.Pattern[str]", _Regex(source, flags))  # it has every attribute of one


def rare(source: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern like `regex` that few texts hold: `search` looks for its words first.

    To look for a dozen words takes a fifth of what a long alternation takes to find nothing.
    """
    return cast("re.Pattern[str]", _Rare(source, flags))


class Phrases:
    """Several patterns that are asked together.

    Args:
        sources: the patterns.
        flags: flags of all of them.
    """

    def __init__(self, *sources: str, flags: int = 0) -> None:
        self._each = [_Rare(source, flags) for source in sources]

    def found_in(self, text: str) -> bool:
        """Whether a text has a match of one of them."""
        low = folded(text)
        for each in self._each:
            for word in each.words:
                if word in low:
                    if each.search(text):
                        return True
                    break
        return False


class _Regex:
    def __init__(self, source: str, flags: int) -> None:
        self._source, self._flags = source, flags

    @cached_property
    def _compiled_pattern(self) -> re.Pattern[str]:
        source = self._source
        if self._flags & re.IGNORECASE:
            # Python asks of each of 27,000 hanzi for its other case: 3 ms for every such set.
            source = _HAN_SET.sub(r"(?-i:\g<0>)", source)
        return PATTERNS.compile_pattern(source, self._flags)

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the compiled pattern, and keep it for the next time."""
        found = getattr(self._compiled_pattern, name)
        setattr(self, name, found)
        return found


class _Rare(_Regex):
    @cached_property
    def words(self) -> tuple[str, ...]:
        """One of which stands, `folded`, in what it is found in; "" where none is known."""
        return tuple(literals(self._source, self._flags)) or ("",)

    def search(self, text: str, *bounds: int) -> re.Match[str] | None:
        """Search like a compiled pattern."""
        low = text.lower() if text.isascii() else folded(text)
        for word in self.words:  # A generator would take as long as all the looking.
            if word in low:
                return self._compiled_pattern.search(text, *bounds)
        return None


# A named group, (?P<name>…), belongs to the pattern and is no part to write out.
_NAMED_PART = re.compile(r"(?<!\(\?P)<(\w+)>")


def rule(parts: Mapping[str, str], form: str, flags: int = 0) -> re.Pattern[str]:
    """Return the pattern of a form in which ``<name>`` stands for the part of that name."""
    return regex(spelled(parts, form), flags)


def spelled(parts: Mapping[str, str], form: str) -> str:
    """Return a form with every part written out."""
    return _NAMED_PART.sub(lambda found: f"(?:{spelled(parts, parts[found[1]])})", form)


# To compile every form of a slot takes a tenth of a second. A form is compiled for the first
# clause that holds one of its literals; most processes meet few.
MOST_LITERALS = 256
"""A pattern with more words than this is in most texts, or is no pattern of phrases."""
_FEW = 12
"""Letters a set may have to be worth looking for."""
_COMMON = frozenset(
    ("the", "for", "with", "our", "are", "was", "and", "that", "this", "you", "your", "will")
)
_Step = tuple[Any, Any]
_Words = frozenset[str]


def folded(text: str) -> str:
    """Return a text in which letters are the same that a pattern takes for the same."""
    if text.isascii():
        return text.lower()
    # These two are "i" to a pattern without case, and not to `str.casefold`.
    return text.replace("İ", "i").replace("ı", "i").casefold()


def literals(source: str, flags: int) -> _Words:
    """Return words of which every text holds one that a pattern is found in.

    Args:
        source: the pattern.
        flags: its flags.

    Returns:
        The words, `folded`, to be looked for in a text that is folded too; none where
        nothing can be said, or nothing that is worth it.
    """
    key = ("literals", source, int(flags))
    return frozenset(PATTERNS.compute_once(key, lambda: tuple(_find_literals(source, flags))))


def _find_literals(source: str, flags: int) -> _Words:
    # What parses a pattern has no public name. Where it changes, patterns are as slow as ever.
    parse = getattr(getattr(re, "_parser", None), "parse", None)
    if parse is None:
        return frozenset()
    tree = parse(source, flags)
    found = _required_words(list(tree), ignoring=bool(tree.state.flags & re.IGNORECASE))
    is_of_use = 0 < len(found) <= MOST_LITERALS and _rank_words(found)[0] > 1
    return found if is_of_use else frozenset()


def _weigh_word(word: str) -> int:
    """How much the presence of a word tells: 1 is as good as nothing, 4 as good as any."""
    if word.strip() in _COMMON:
        return 2
    return min(4, sum(1 if letter.isascii() else 2 for letter in word))


def _required_words(steps: Iterable[_Step], *, ignoring: bool) -> _Words:
    """Return the best words of a sequence: of each of its parts one must be there."""
    offers = [words for words in _candidate_words(steps, ignoring=ignoring) if words]
    return max(offers, key=_rank_words, default=frozenset())


def _rank_words(words: _Words) -> tuple[int, int]:
    return min(map(_weigh_word, words)), -len(words)


def _candidate_words(steps: Iterable[_Step], *, ignoring: bool) -> Iterator[_Words]:
    run = ""
    for step in steps:
        name, value = str(step[0]), step[1]
        if name == "LITERAL" and _is_steady(chr(value), ignoring=ignoring):
            run += folded(chr(value))
        elif name not in {"AT", "ASSERT", "ASSERT_NOT"}:  # these three take no room
            yield frozenset({run} - {""})
            yield _words_of_part(name, value, ignoring=ignoring)
            run = ""
    yield frozenset({run} - {""})


def _is_steady(letter: str, *, ignoring: bool) -> bool:
    """Whether a letter has no other forms than those that `folded` brings together."""
    if "\ud800" <= letter <= "\udfff":
        return False
    return not ignoring or letter.isascii() or letter.lower() == letter.upper()


def _words_of_part(name: str, value: Any, *, ignoring: bool) -> _Words:
    """Return the words of a part that holds parts."""
    if name == "BRANCH":
        each = [_required_words(steps, ignoring=ignoring) for steps in value[1]]
        return frozenset[str]().union(*each) if all(each) else frozenset()
    if name == "IN":
        return _letters_of_set(value, ignoring=ignoring)
    if name == "SUBPATTERN" and not (value[1] or value[2]):  # it changes no flags
        return _required_words(value[3], ignoring=ignoring)
    if name == "ATOMIC_GROUP":
        return _required_words(value, ignoring=ignoring)
    if name.endswith("_REPEAT") and value[0] > 0:
        return _required_words(value[2], ignoring=ignoring)
    return frozenset()


def _letters_of_set(choice: Iterable[_Step], *, ignoring: bool) -> _Words:
    """Return the letters of a set, where it is a small one and no more than that."""
    found: list[str] = []
    for kind, value in choice:
        first, last = (value, value) if str(kind) == "LITERAL" else _range_ends(str(kind), value)
        found += map(chr, range(first, min(last, first + _FEW) + 1))
    sure = len(found) <= _FEW and all(_is_steady(one, ignoring=ignoring) for one in found)
    return frozenset(map(folded, found)) if sure else frozenset()


def _range_ends(kind: str, value: Any) -> tuple[int, int]:
    """Return the ends of a range of letters; of anything else, of one that is too long."""
    return value if kind == "RANGE" else (0, _FEW)


# A session asks ten times what of each turn is its speaker's own, and each job weighs the lines
# of the last sessions for MEMORY.md anew: without this, its end takes half as long again.
LONGEST_KEPT = 4096
"""A longer text is read anew each time, so that a server keeps no large ones."""
_Result = TypeVar("_Result")


def keep_results(most: int) -> Callable[[Callable[[str], _Result]], Callable[[str], _Result]]:
    """Keep the latest results of a pure function of one text; they must not be changed."""

    def kept(function: Callable[[str], _Result]) -> Callable[[str], _Result]:
        known = lru_cache(maxsize=most)(function)

        @wraps(function)
        def ask(text: str) -> _Result:
            return known(text) if len(text) <= LONGEST_KEPT else function(text)

        return ask

    return kept
