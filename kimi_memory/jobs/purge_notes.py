"""Notes that a purge removes whole, and what they say."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Set

from kimi_memory.domain.note import Card, Note
from kimi_memory.domain.pages import Digest, Event
from kimi_memory.errors import FormatError
from kimi_memory.formats import codec
from kimi_memory.jobs.purge_file import Scrub


def parse_note(path: str, content: bytes) -> Note | None:
    """Return the note in a file, None where it holds none."""
    if not path.endswith(".md") or path.startswith("episodic/sessions/"):
        return None
    try:
        return codec.parse(content.decode("utf-8"), path)
    except (FormatError, UnicodeDecodeError):
        return None


def find_gone_notes(
    paths: Iterable[str], read: Callable[[str], bytes], scrub: Scrub, ids: Set[str]
) -> dict[str, Note]:
    """Return the notes that go whole, by the path of their file."""
    notes = ((path, parse_note(path, read(path))) for path in paths)
    return {p: note for p, note in notes if note is not None and needs_removal(note, scrub, ids)}


def needs_removal(note: Note, scrub: Scrub, ids: Set[str]) -> bool:
    """Whether a note goes whole: what is left of a sentence could be guessed."""
    if isinstance(note, Digest):
        return note.session in ids
    # Also a proposal: what it would have written is from there.
    if ids and note.sources and {source.session for source in note.sources} <= ids:
        return True
    if not isinstance(note, Card | Event):
        return False
    return any(scrub.count(text.encode("utf-8", "replace")) for text in note_texts(note))


def yield_texts_from(note: Card | Event, ids: Set[str]) -> Iterator[str]:
    """Yield what a note says, where it rests on these sessions alone."""
    if note.sources and {source.session for source in note.sources} <= ids:
        yield from (note.key, *note_texts(note))


def note_texts(note: Card | Event) -> Iterator[str]:
    """Yield all that a note says."""
    yield from (note.title, note.key, *(quote.text for quote in note.quotes), *note.body_texts)
