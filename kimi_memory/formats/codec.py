"""The text form of notes: render, parse, patch, place."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, lru_cache
from importlib import import_module
from typing import Any

from kimi_memory.domain.note import Note
from kimi_memory.domain.pages import IDENTITY_HEAD, IDENTITY_PATH
from kimi_memory.errors import FormatError
from kimi_memory.formats import body_layout, body_patch, frontmatter
from kimi_memory.formats.body_layout import Body
from kimi_memory.formats.frontmatter import FrontMatter
from kimi_memory.formats.frontmatter_patch import patch_values
from kimi_memory.formats.note_format import Keys, Shape
from kimi_memory.formats.scalar import Value, entry, lines_of

_SHAPES = {
    "event": ("event_form", "EVENT"),
    "digest": ("event_form", "DIGEST"),
    "card": ("card_form", "SHAPE"),
    "project": ("pages_form", "PROJECT"),
    "agent": ("pages_form", "AGENT"),
    "identity": ("pages_form", "IDENTITY"),
    "day": ("event_form", "DAY"),
    "proposal": ("event_form", "PROPOSAL"),
}
"""Where the shape of each kind stands; it is imported when a note of that kind is met."""
KINDS = tuple(_SHAPES)
"""Every kind of note that has a file of its own."""
KNOWN, SHORT = 256, 8192
"""So many notes are known, of texts up to so many characters."""


# The notes of a shape are of one class; which one, only the kind tells.
@cache
def _load_shape(kind: str) -> Shape[Any]:
    module, name = _SHAPES[kind]
    shape: Shape[Any] = getattr(import_module(f"kimi_memory.formats.{module}"), name)
    return shape


def clean(note: Note) -> Note:
    """Return a note as its file can hold it: what is rendered parses back to this."""
    cleaned: Note = _load_shape(note.kind).clean(note)
    return cleaned


def render(note: Note, links: str | None = None) -> str:
    """Return the text of a new file that holds a note.

    Args:
        note: the note.
        links: what it shows of its links, which no reader takes for more; its own where None.
    """
    shape, tidy = _load_shape(note.kind), clean(note)
    head = [line for name, value in shape.values(tidy).items() for line in entry(name, value)]
    body = shape.body(tidy)
    if links is not None:
        body = replace(body, fields={**body.fields, "links": links})
    lines = body_layout.write(body, shape.layout, tidy.lang)
    return body_layout.body_lines(["---", *head, "---", "", *lines])


def parse(text: str, path: str) -> Note:
    """Return the note in a file's text.

    A job asks for the same few notes again and again, so those are known for a while.

    Raises:
        FormatError: The text holds no note of a known kind, or a broken one.
    """
    # So many texts of that length are 2 MB; longer ones are few, and would only fill memory.
    return _parse_cached_note(text, path) if len(text) <= SHORT else _parse_note(text, path)


def read_note(content: bytes, path: str) -> Note | None:
    """Return the note in the bytes of a file; None where nobody can read one."""
    try:
        return parse(frontmatter.decode(content, path), path)
    except FormatError:
        # Who asks here wants a note or nothing; `doctor` names broken files.
        return None


@lru_cache(maxsize=KNOWN)
def _parse_cached_note(text: str, path: str) -> Note:
    return _parse_note(text, path)


def _parse_note(text: str, path: str) -> Note:
    return build_note(frontmatter.read(text, path), path)


def build_note(front: FrontMatter, path: str) -> Note:
    """Return the note of a file whose front matter was read already.

    Raises:
        FormatError: The file holds no note of a known kind, or a broken one.
    """
    if path == IDENTITY_PATH and not front.values.get("id"):
        # People write this page in their own form, without a head.
        front = front._replace(values={**IDENTITY_HEAD, **front.values})
    keys = Keys(front, path)
    kind = keys.text("kind")
    if kind not in _SHAPES:
        why = f"unknown kind {kind!r}" if kind else "no 'kind' in the front matter"
        raise keys.refusal("kind", why, f"Write one of {', '.join(KINDS)}")
    shape = _load_shape(kind)
    note: Note = shape.build(keys, body_layout.read(lines_of(front.body), shape.layout))
    return note


def patch(text: str, old: Note, new: Note, path: str) -> str:
    """Return the text of `old` made to say `new`, touching only what differs.

    Unknown keys, comments, and whatever else a person wrote stay as they are.

    Raises:
        FormatError: The text cannot be made to say `new` without harm to the rest.
    """
    before, after, shape = clean(old), clean(new), _load_shape(new.kind)
    if before == after:
        return text
    values, wanted = shape.values(before), shape.values(after)
    changed: dict[str, Value] = {
        name: wanted.get(name)
        for name in (*values, *wanted)
        if values.get(name) != wanted.get(name)
    }
    headed = patch_values(text, changed, path)
    body = frontmatter.read(headed, path).body
    spliced = body_patch.patch(
        body, shape.layout, after.lang, shape.body(before), shape.body(after)
    )
    if "\n" not in body and "\r\n" in headed:  # no line of the body shows how lines end
        spliced = spliced.replace("\n", "\r\n")
    result = headed[: len(headed) - len(body)] + spliced
    if parse(result, path).lang is not after.lang:  # it was guessed from words now gone or come
        result = patch_values(result, {"lang": str(after.lang)}, path)
    # The last check before a person's file changes; a file that did not say `old` is not judged.
    if parse(text, path) == before and parse(result, path) != after:
        raise FormatError(path, 1, "the text cannot be changed without harming the rest")
    return result


def with_links(text: str, note: Note, links: str) -> str:
    """Return the text of a note that shows these links; no reader takes them for more."""
    shape, body = _load_shape(note.kind), frontmatter.read(text, note.id).body
    shown = (Body(fields={"links": f"{old}{links}"}) for old in ("before", ""))
    return text[: len(text) - len(body)] + body_patch.patch(body, shape.layout, note.lang, *shown)


def with_alias(text: str, name: str, path: str) -> str:
    """Return the text of a note by another name, besides those that it has."""
    known = frontmatter.read(text, path).values.get("aliases")
    names = known if isinstance(known, list) else [known] if known else []
    return text if name in names else patch_values(text, {"aliases": [*names, name]}, path)


def place(note: Note) -> str:
    """Return the path in the memory where a note belongs."""
    path: str = _load_shape(note.kind).place(clean(note))
    return path
