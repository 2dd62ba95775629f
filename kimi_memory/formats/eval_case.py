"""A case of an eval: what a question must bring up, and what it must not."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from datetime import date

from kimi_memory.errors import FormatError
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.basic.patterns import normalise
from kimi_memory.nlp.basic.safe_text import Value

FOLDER = "evals"
SUFFIXES = (".yaml", ".yml")
_LATIN = re.compile(r"[a-z0-9]")
_ID = re.compile(r"(?:card|event|project|agent|identity|day)-\S+|session:\S+#\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One question and what is right about its answer."""

    path: str
    """The file it stands in."""
    name: str
    query: str
    expect: tuple[str, ...] = ()
    """Words, or ids of notes and turns, that must be among the hits."""
    forbid: tuple[str, ...] = ()
    """Words or ids that no hit may have."""
    abstain: bool = False
    """Nothing in memory answers it."""
    valid_at: date | None = None
    """Asked as on that day."""
    budget: int = 0
    """Most tokens of the context block that must hold what is expected; 0 for no such test."""
    limit: int = 0
    """How many hits count; the setting ``recall.limit`` if 0."""
    note: str = ""
    """What its author should know, such as an old spelling."""


_OLD_NAME = "as_of"
"""What `valid_at` was called in earlier files."""
# Those two do not stand in the file: they say where it is.
_KEYS = frozenset(f.name for f in fields(Case)) - {"path", "note"}


def is_eval(path: str) -> bool:
    """Whether a file of a memory holds cases."""
    return path.startswith(f"{FOLDER}/") and path.endswith(SUFFIXES)


def read_cases(text: str, path: str) -> list[Case]:
    """Read the cases of a file.

    Raises:
        FormatError: it is not strict YAML, or a case says nothing or cannot be understood.
    """
    from kimi_memory.formats import frontmatter_yaml  # few memories have cases

    try:
        values = frontmatter_yaml.load(text.removeprefix("\ufeff"), path, 1).values
    except FormatError as error:
        # The reader is that of notes, whose head is called so; here the whole file is YAML.
        why = error.why.replace("front matter", "YAML")
        raise FormatError(path, error.line, why, error.remedy) from None
    listed = (values or {}).get("cases")
    if not isinstance(listed, list) or set(values or {}) != {"cases"}:
        raise FormatError(path, 1, "this is no list of cases", "Write 'cases:' and a list below it")
    return [_Reader(one, path, number).case() for number, one in enumerate(listed, 1)]


def found_in(text: str, wanted: str) -> bool:
    """Whether a text says some words, up to case, width and spaces; Latin words stand whole."""
    words = normalise(wanted)
    if not words:
        return False
    # "Go" is not found in "Google"; Chinese words have no edges that could be asked for.
    before = r"(?<![a-z0-9])" if _LATIN.match(words[0]) else ""
    after = r"(?![a-z0-9])" if _LATIN.match(words[-1]) else ""
    return re.search(before + re.escape(words) + after, normalise(text)) is not None


def is_id(wanted: str) -> bool:
    """Whether something that is expected or forbidden names a note or a turn."""
    return _ID.fullmatch(wanted) is not None


def hits_of(wanted: str, texts: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield the ids of those among (id, text) pairs that a case expects, by id or by words."""
    for id, text in texts:
        if id == wanted or (not is_id(wanted) and found_in(text, wanted)):
            yield id


@dataclass(frozen=True, slots=True)
class _Reader:
    """One item of the list of cases."""

    value: Value
    path: str
    number: int

    def case(self) -> Case:
        """Return the case it describes."""
        if not isinstance(self.value, dict):
            raise self._make_error("is no mapping", "Write 'query:' and what is right about it")
        # The older name still works alone; of two dates nobody could say which is meant.
        if {_OLD_NAME, "valid_at"} <= set(self.value):
            raise self._make_error("has as_of and valid_at", "Remove 'as_of:'")
        if unknown := sorted(set(self.value) - _KEYS - {_OLD_NAME}):
            known = ", ".join(sorted(_KEYS))
            raise self._make_error(f"has the unknown key {unknown[0]!r}", f"Known are {known}")
        case = Case(
            path=self.path,
            name=self._read_text("name") or self._read_text("query"),
            query=self._read_text("query"),
            expect=self._read_texts("expect"),
            forbid=self._read_texts("forbid"),
            abstain=self._read_flag("abstain"),
            valid_at=self._read_day("valid_at") or self._read_day(_OLD_NAME),
            budget=self._read_count("budget"),
            limit=self._read_count("limit"),
            note=f"{self.path}: case {self.number}: write valid_at for as_of"
            if _OLD_NAME in self.value
            else "",
        )
        if not case.query:
            raise self._make_error("has no query", "Write the question as 'query:'")
        if not (case.expect or case.forbid or case.abstain):
            raise self._make_error("tests nothing", "Add 'expect:', 'forbid:' or 'abstain: true'")
        if case.expect and case.abstain:
            raise self._make_error("expects an answer and none", "Remove 'expect:' or 'abstain:'")
        return case

    @property
    def _case_values(self) -> Mapping[str, Value]:
        assert isinstance(self.value, dict)
        return self.value

    def _read_text(self, name: str) -> str:
        value = self._case_values.get(name)
        if isinstance(value, list | dict | bool):
            raise self._make_error(f"has a {name} that is no text", "Write one line of text")
        return "" if value is None else str(value).strip()

    def _read_texts(self, name: str) -> tuple[str, ...]:
        value = self._case_values.get(name)
        items = value if isinstance(value, list) else [value]
        if any(isinstance(item, list | dict | bool) for item in items):
            raise self._make_error(f"has a {name} that is no text or list of texts", "Quote it")
        return tuple(text for item in items if item is not None and (text := str(item).strip()))

    def _read_flag(self, name: str) -> bool:
        value = self._case_values.get(name)
        if value not in (None, True, False):
            raise self._make_error(f"has {name}: {value!r}", "Write true or false")
        return value is True

    def _read_count(self, name: str) -> int:
        value = self._case_values.get(name)
        if value is None:
            return 0
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise self._make_error(f"has {name}: {value!r}", "Write a whole number above 0")
        return value

    def _read_day(self, name: str) -> date | None:
        if not (text := self._read_text(name)):
            return None
        try:
            return date.fromisoformat(text)
        except ValueError:
            raise self._make_error(f"has {name}: {text!r}", "Write a day as 2026-02-27") from None

    def _make_error(self, why: str, remedy: str) -> FormatError:
        return FormatError(self.path, 1, f"case {self.number} {why}", remedy)
