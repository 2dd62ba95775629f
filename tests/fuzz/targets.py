"""Every parser of foreign bytes, with what must hold of its answer.

A target takes any bytes. It returns, or raises one of the errors that are documented;
everything it asserts must hold whenever the parser accepts the bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from types import ModuleType

from kimi_memory.plugins import NAMES as BUNDLED

from kimi_memory.capture.ingest import from_bytes
from kimi_memory.capture.log import Screen
from kimi_memory.config import parse_settings, parse_user
from kimi_memory.domain.ids import safe_session_id
from kimi_memory.domain.note import Origin, Role
from kimi_memory.domain.search_types import ChunkSizes
from kimi_memory.domain.session import Session, Transcript, Turn
from kimi_memory.errors import FormatError, TranscriptError
from kimi_memory.formats import codec
from kimi_memory.formats.frontmatter import decode, read
from kimi_memory.formats.frontmatter_patch import patch_values
from kimi_memory.formats.job_file import job_json, job_of
from kimi_memory.formats.jsonl import (
    read_transcript_lines,
    seal,
    session_line,
    tombstone_line,
    tombstone_of,
    turn_line,
    unseal,
    view_json,
)
from kimi_memory.formats.session_page import transcript_markdown
from kimi_memory.hooks.host import Host
from kimi_memory.nlp.basic.patterns import language_of
from kimi_memory.nlp.basic.safe_text import PREFIX, fence, strip_injected
from kimi_memory.nlp.basic.sentences import sentences, snippet
from kimi_memory.nlp.dates.date_terms import date_words
from kimi_memory.nlp.dates.timestamps import find_moment
from kimi_memory.nlp.rules.strip_code import spoken_spans
from tests.fuzz import inputs

NOW = datetime(2026, 2, 27, 9, tzinfo=UTC)
READERS = tuple(name for name, hooks in BUNDLED.items() if "read_transcript" in hooks)
NAMES = tuple(inputs.READABLE)
LIMIT = 500


@dataclass(frozen=True, slots=True)
class Target:
    """One parser, what it is fed with and how it may refuse."""

    name: str
    run: Callable[[bytes], object]
    seeds: tuple[str, ...]
    refuses: tuple[type[Exception], ...] = ()
    wrap: str = "{}"
    """Around what is pumped up, so that the parser gets to it."""


@cache
def plugin(name: str) -> ModuleType:
    """A bundled plugin's module."""
    return import_module(f"kimi_memory.plugins.{name}")


@cache
def screen() -> Screen:
    """A screen with the bundled rules."""
    return Screen(Host(entry_points=False), b"k" * 32)


def _text(content: bytes) -> str:
    return content.decode("utf-8", "replace")


def front_matter(content: bytes) -> None:
    """What is read can be set again without a change, and a new key changes nothing else."""
    text = decode(content, "x.md")
    front = read(text, "x.md")
    assert patch_values(text, front.values, "x.md") == text
    changed = read(patch_values(text, {"状态": "新的: 值"}, "x.md"), "x.md")
    assert changed.values == {**front.values, "状态": "新的: 值"}
    assert changed.body == front.body


def note(content: bytes) -> None:
    """A note that is not changed keeps its bytes; written anew it says the same."""
    text = decode(content, "x.md")
    found = codec.parse(text, "x.md")
    assert codec.patch(text, found, found, "x.md") == text
    tidy = codec.clean_note(found)
    assert codec.parse(codec.render(tidy), "x.md") == tidy


def session_lines(content: bytes) -> None:
    """What is read of a session can be written, and reads the same."""
    found = read_transcript_lines(content.splitlines(keepends=True), "x.jsonl")
    again = [session_line(found.session), *map(turn_line, found.turns)]
    second = read_transcript_lines(again, "x.jsonl")
    assert (second.session, second.turns) == (found.session, found.turns)
    view_json(found).decode()
    transcript_markdown(found, language_of(found.session.title))


def record(content: bytes) -> None:
    """A record is sealed and opened without loss."""
    found = unseal(content)
    assert unseal(seal(found)).keys() == found.keys()


def tombstone(content: bytes) -> None:
    """A tombstone keeps what it bars."""
    found = tombstone_of(unseal(content))
    assert tombstone_of(unseal(tombstone_line(found))) == found


def job(content: bytes) -> None:
    """A job's file reads the same after it was written anew."""
    found = job_of(content)
    assert job_of(job_json(found)) == found


def settings(content: bytes) -> None:
    """Settings are read or refused."""
    parse_settings(_text(content))


def user_settings(content: bytes) -> None:
    """The user's own settings are read or refused."""
    parse_user(_text(content), Path("config"))


def reader(name: str, content: bytes) -> None:
    """A transcript gives turns that can be stored, whatever its file is called."""
    module = plugin(name)
    for file in NAMES:
        for transcript in module.read_transcript(from_bytes(file, content)) or ():
            assert transcript.turns
            assert safe_session_id(transcript.session.id) == transcript.session.id
            lines = [session_line(transcript.session), *map(turn_line, transcript.turns)]
            assert len(read_transcript_lines(lines, file).turns) == len(transcript.turns)
            assert all(turn.at.tzinfo is not None for turn in transcript.turns)


def transcript(content: bytes) -> None:
    """One of the readers takes the file, or none does."""
    for file in ("x.jsonl", "x.json", "x.md"):
        found = screen()._host.answer("read_transcript", file=from_bytes(file, content))
        list(found or ())


def chunks(content: bytes) -> None:
    """Chunks of a page lie on it, in order, and hold text."""
    text = _text(content)
    found = plugin("markdown").split_note(text, ChunkSizes())
    lines = len(re.split(r"\r\n|\r|\n", text))
    assert all(1 <= chunk.first <= chunk.last <= lines and chunk.text for chunk in found)
    assert [chunk.first for chunk in found] == sorted(chunk.first for chunk in found)


def words(content: bytes) -> None:
    """Words hold no blank and are the same each time."""
    text = _text(content)
    found = plugin("words").split_words(text)
    assert found == plugin("words").split_words(text)
    assert all(word and not re.search(r"\s", word) for word in found)


def injected(content: bytes) -> None:
    """What is shown to a model as memory is not captured again, nor ends its block."""
    text = _text(content)
    assert strip_injected(text) in (text, strip_injected(text))
    block = fence([text], "0123456789abcdef")
    inner = block.split("\n")[1:-1]
    assert all(line.startswith(PREFIX) for line in inner)
    assert strip_injected(f"before\n{block}\nafter") == "before\n\nafter"


def sentence_spans(content: bytes) -> None:
    """Sentences lie in order, do not overlap and leave out only white space."""
    text = _text(content)
    for spans in (sentences(text), spoken_spans(text)):
        ends = [0, *(end for _, end in spans)]
        assert all(end <= start for end, (start, _) in zip(ends, spans, strict=False))
        assert all(text[start:end].strip() == text[start:end] != "" for start, end in spans)
    left = sentences(text)
    gaps = zip([0, *(e for _, e in left)], [*(s for s, _ in left), len(text)], strict=True)
    assert not "".join(text[start:end] for start, end in gaps).strip()


def snippets(content: bytes) -> None:
    """A snippet is a piece of its text, within the limit."""
    text = _text(content)
    shown, start, end = snippet(text, ["postgresql", "部署", text[:3].lower()], 80)
    assert 0 <= start <= end <= len(text)
    assert shown.strip("…").strip() in text
    assert len(shown) <= 80 + 2


def dates(content: bytes) -> None:
    """The words of dates are typed and each named once."""
    found = date_words(_text(content), NOW)
    assert len(set(found)) == len(found)
    assert all(re.fullmatch(r"[a-z]{1,2}:\S+", word) for word in found)
    find_moment(_text(content))


def secrets(content: bytes) -> None:
    """What passed the screen can be stored, and passes it again as it is."""
    passed = screen().pass_text(_text(content)).text
    passed.encode()
    assert "\x00" not in passed
    spans = plugin("privacy").create({}).screen_text(_text(content))
    assert all(0 <= span.start < span.end <= len(_text(content)) for span in spans)


def drafts(content: bytes) -> None:
    """Whatever is learnt from words quotes them."""
    lines = [line for line in _text(content).split("\n") if line.strip()][:LIMIT]
    roles = ((Role.USER, Origin.HUMAN), (Role.ASSISTANT, Origin.AGENT))
    turns = tuple(
        Turn(n, NOW + timedelta(minutes=n), roles[n % 2][0], line, origin=roles[n % 2][1])
        for n, line in enumerate(lines, 1)
    )
    session = Session("s1", NOW)
    found = plugin("distiller").distil_session(Transcript(session, turns)) or []
    catch = plugin("triggers").create({}).capture_turn
    found = [*found, *(draft for turn in turns for draft in catch(turn=turn, session=session))]
    texts = {turn.n: turn.text for turn in turns}
    assert all(quote.text in texts[quote.n] for draft in found for quote in draft.quotes)
    assert all(draft.key and draft.value.strip() for draft in found)


_CHATS = tuple(inputs.READABLE.values())
_TEXTS = (inputs.TALK, inputs.PAGE, inputs.CARD)
_BLOCK = "---\na: {}\n---\n"
TARGETS = (
    Target("front_matter", front_matter, (inputs.CARD, inputs.EVENT), (FormatError,), _BLOCK),
    Target("note", note, (inputs.CARD, inputs.EVENT), (FormatError,), inputs.CARD + "{}"),
    Target("session_lines", session_lines, (inputs.LINES,), (FormatError,), inputs.LINES + "{}"),
    Target("record", record, (inputs.LINES, inputs.TOMBSTONE), (ValueError,)),
    Target("tombstone", tombstone, (inputs.TOMBSTONE,), (ValueError,)),
    Target("job", job, (inputs.JOB,), (ValueError,)),
    Target("settings", settings, (inputs.SETTINGS,), (FormatError,), 'a = "{}"'),
    Target("user_settings", user_settings, (inputs.USER_SETTINGS,), (FormatError,), 'a = "{}"'),
    *(Target(name, partial(reader, name), _CHATS, (TranscriptError,)) for name in READERS),
    Target("transcript", transcript, _CHATS, (TranscriptError,), "User: {}\nAssistant: b\n"),
    Target("split_note", chunks, _TEXTS),
    Target("split_words", words, _TEXTS),
    Target("injected", injected, _TEXTS),
    Target("sentences", sentence_spans, _TEXTS),
    Target("snippet", snippets, _TEXTS),
    Target("dates", dates, _TEXTS),
    Target("secrets", secrets, _TEXTS),
    Target("drafts", drafts, _TEXTS),
)
