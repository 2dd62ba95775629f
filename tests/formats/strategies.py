"""Hypothesis strategies for every value of the model, with nasty bilingual text."""

from __future__ import annotations

from dataclasses import fields
from datetime import UTC, date, datetime
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from hypothesis import settings
from hypothesis import strategies as st

from kimi_memory.domain.ids import derived_id
from kimi_memory.domain.job import Effect, Job, Op, Operation, Spent
from kimi_memory.domain.note import Card, Link, LinkRel, Note, Quote, Rel, Source
from kimi_memory.domain.pages import (
    Agent,
    Day,
    Digest,
    DigestLine,
    Event,
    Identity,
    Part,
    Project,
    Proposal,
    Todo,
)
from kimi_memory.domain.session import Session, Transcript, Turn
from kimi_memory.domain.tombstone import Tombstone
from kimi_memory.formats import codec

N = TypeVar("N", bound=Note)
R = TypeVar("R", Turn, Session, Transcript, Tombstone, Job, Effect)

NASTY = (
    "# heading",
    "## 我的使命",
    "\\## escaped",
    "### deep",
    "- item",
    "- 结果: 假的",
    "- [x] done",
    "[ ] box",
    "* star",
    "1. one",
    "> quote",
    "— [[session_01j]] #3",
    "---",
    "***",
    "```",
    "~~~python",
    "| a | b |",
    "key: value",
    "值：冒号",
    "Lesson: nothing",
    "**定义**: 粗体",
    "'single' \"double\"",
    "back\\slash \\n \\u4e2d",
    "<!-- comment -->",
    "&anchor *alias !tag",
    "{a: [1, 2}",
    "%YAML 1.2",
    "no",
    "yes",
    "null",
    "~",
    "0123",
    "12:30",
    "1.10",
    "-0",
    "1e5",
    "2026-02-27",
    "=",
    "<<",
    "@at `tick`",
    "a #not a comment",
    "\u3000全角空格\u3000",
    "tab\there",
    "emoji 🙂👨‍👩‍👧",
    "零宽\u200b字",
    "\ufeffmark",
    "\u2028separator",
    "carriage\rreturn",
    "bell\x07",
    "    indented code",
    "  two",
    "<<<<<<< HEAD",
)


def examples(count: int) -> settings:
    """Settings for a law: so many examples, more under a thorough profile."""
    return settings(max_examples=count * max(1, settings.default.max_examples // 100))


_CHARS = st.text(st.characters(codec="utf-8"), max_size=12)


def texts() -> st.SearchStrategy[str]:
    """Text of a few lines, any of which may look like Markdown or YAML."""
    line = st.one_of(st.sampled_from(NASTY), _CHARS)
    return st.lists(line, max_size=3).map("\n".join)


def words() -> st.SearchStrategy[str]:
    """One line of such text."""
    return st.one_of(st.sampled_from(NASTY), _CHARS)


def moments() -> st.SearchStrategy[datetime]:
    """Moments in UTC, some with fractions of a second."""
    return st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1)).map(
        lambda at: at.replace(tzinfo=UTC)
    )


def session_ids() -> st.SearchStrategy[str]:
    return st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,20}", fullmatch=True)


def quotes() -> st.SearchStrategy[Quote]:
    return st.builds(Quote, session_ids(), st.integers(1, 10**6), texts())


@st.composite
def sources(draw: st.DrawFn) -> Source:
    first = draw(st.integers(0, 1000))
    last = first + draw(st.integers(0, 5))
    quote = draw(st.sampled_from(["", "0123456789ab"]))
    return Source(draw(session_ids()), first, last, draw(st.sampled_from(Rel)), quote)


def links() -> st.SearchStrategy[Link]:
    weight = st.integers(0, 100).map(lambda hundredths: hundredths / 100)
    to = st.integers(1, 99).map(lambda n: f"card-{n}")
    return st.builds(Link, to, st.sampled_from(LinkRel), weight, words())


def _several(of: st.SearchStrategy) -> st.SearchStrategy:
    return st.lists(of, max_size=3).map(tuple)


def _share() -> st.SearchStrategy[float]:
    return st.floats(0, 1)


def _fields(kind: type, known: dict[str, st.SearchStrategy]) -> dict[str, st.SearchStrategy]:
    """Return a strategy for each field of a dataclass, by its type unless it is known."""
    types = get_type_hints(kind, localns={"Source": Source})
    return {
        one.name: known[one.name] if one.name in known else _of_type(types[one.name])
        for one in fields(kind)
    }


def _of_type(type: Any) -> st.SearchStrategy:
    if type in _TYPES:
        return _TYPES[type]
    if get_origin(type) is tuple:
        return _several(_of_type(get_args(type)[0]))
    if isinstance(type, UnionType):
        return st.one_of(*map(_of_type, get_args(type)))
    return st.sampled_from(type)


def _notes(kind: type[N], **known: st.SearchStrategy) -> st.SearchStrategy[N]:
    """Clean notes of a kind with every field that its class has.

    Args:
        kind: the class.
        known: strategies of fields that do not take every value of their type.
    """
    start = datetime(2026, 2, 27, tzinfo=UTC)
    known["id"] = words().map(lambda seed: derived_id(kind.kind, start, repr(seed)))
    return st.builds(kind, **_fields(kind, known)).map(codec.clean_note)


def scopes() -> st.SearchStrategy[str]:
    """Scopes of notes: mostly everybody's."""
    return st.just("") | st.sampled_from(["agent:a", "user:小李", "session:s1"]) | words()


@st.composite
def digest_lines(draw: st.DrawFn) -> DigestLine:
    first = draw(st.integers(0, 10**6))
    last = first + draw(st.integers(0, 5))
    day = draw(st.just("") | st.dates().map(str))
    return DigestLine(draw(st.sampled_from(Part)), draw(texts()), first, last, draw(words()), day)


_TYPES: dict[Any, st.SearchStrategy] = {
    str: texts(),
    bool: st.booleans(),
    int: st.integers(0, 10**6),
    float: _share(),
    date: st.dates(),
    datetime: moments(),
    NoneType: st.none(),
    Quote: quotes(),
    Source: sources(),
    Link: links(),
    Operation: st.builds(Operation, st.sampled_from(Op), words(), words(), texts()),
    Spent: st.builds(Spent, *[st.integers(0, 10**6)] * len(fields(Spent))),
    Todo: st.builds(Todo, texts(), st.booleans()),
    DigestLine: digest_lines(),
}
"""Values of each type that a field of a note or a record may have."""


def cards() -> st.SearchStrategy[Card]:
    """Clean cards."""
    key = words().map(lambda key: f"k{key}")
    return _notes(Card, key=key, scope=scopes(), temperature=st.floats(0, 10))


def proposals() -> st.SearchStrategy[Proposal]:
    """Clean proposals."""
    target = st.sampled_from(["long-term/IDENTITY.md", "long-term/原则.md"])
    return _notes(Proposal, target=target, section=st.sampled_from(["beliefs", "growth", ""]))


KINDS: dict[str, st.SearchStrategy[Note]] = {
    "event": _notes(Event, scope=scopes()),
    "digest": _notes(Digest, session=session_ids(), scope=scopes()),
    "card": cards(),
    "project": _notes(Project),
    "agent": _notes(Agent),
    "identity": _notes(Identity),
    "day": _notes(Day),
    "proposal": proposals(),
}


def notes() -> st.SearchStrategy[Note]:
    """Clean notes of any kind."""
    return st.one_of(*KINDS.values())


def _records(kind: type[R], /, **known: st.SearchStrategy) -> st.SearchStrategy[R]:
    """Records of a kind with every field that its class has, as `_notes` makes notes."""
    return st.builds(kind, **_fields(kind, known))


def _context() -> st.SearchStrategy[str]:
    return st.sampled_from(["", "0123456789ab"])


def turns(n: st.SearchStrategy[int] | None = None) -> st.SearchStrategy[Turn]:
    """Turns with any text that UTF-8 can hold."""
    calls = _several(json_tables())
    return _records(Turn, n=n or st.integers(1, 10**6), context=_context(), tool_calls=calls)


def sessions() -> st.SearchStrategy[Session]:
    area = st.sampled_from(["", "agent", "user", "session"])
    return _records(Session, id=session_ids(), area=area, after=_context())


def json_tables() -> st.SearchStrategy[dict]:
    """Objects that JSON can hold."""
    leaf = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | words()
    tree = st.recursive(
        leaf,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words(), inner, max_size=3),
        max_leaves=6,
    )
    return st.dictionaries(words(), tree, max_size=3)


def transcripts() -> st.SearchStrategy[Transcript]:
    known = {name: json_tables() for name in ("task", "variables", "metadata")}
    said = st.lists(turns(), max_size=14).map(tuple)
    return _records(Transcript, session=sessions(), turns=said, **known)


def tombstones() -> st.SearchStrategy[Tombstone]:
    scope = st.sampled_from(["memory", "project:雅典娜", "agent:a", "user:小李"])
    return _records(Tombstone, scope=scope)


def jobs() -> st.SearchStrategy[Job]:
    effects = _several(_records(Effect, path=st.just("a/b.md")))
    kind = st.sampled_from(["distil", "daily"])
    return _records(Job, id=st.just("job-1"), kind=kind, effects=effects)
