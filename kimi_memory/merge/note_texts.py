"""Three-way merge of the files of notes: the merged values, and all that a person wrote around."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import NamedTuple

from kimi_memory.domain.note import Note
from kimi_memory.errors import FormatError
from kimi_memory.formats import codec, frontmatter
from kimi_memory.formats.frontmatter import BOM
from kimi_memory.formats.frontmatter_patch import patch_values
from kimi_memory.merge.lines import common_lines, keep_both
from kimi_memory.merge.three_way import merge_tables, pick
from kimi_memory.nlp.basic.safe_text import Value, same, written

Extras = Mapping[str, Value]


class NoteText(NamedTuple):
    """A note and the text of its file."""

    text: str
    note: Note


class MergedText(NamedTuple):
    """The text of a merged note."""

    text: str
    lost: tuple[str, ...] = ()
    """Texts with lines that could not be taken over, whole."""


def merge_note_texts(
    base: NoteText | None, ours: NoteText, theirs: NoteText, note: Note, path: str
) -> MergedText:
    """Return the text that says `note` and holds the unknown keys, comments and prose of both."""
    # Nobody wrote anything around either note.
    if all(codec.render(side.note) == side.text for side in (ours, theirs)):
        same = (side.text for side in (ours, theirs) if side.note == note)
        return MergedText(next(same, "") or codec.render(note))
    form = pick(base and _form_of(base.text), _form_of(ours.text), _form_of(theirs.text), max)
    sides = [NoteText(_plain(side.text), side.note) for side in (ours, theirs)]
    first = base and NoteText(_plain(base.text), base.note)
    extras = {} if first is None else _unknown_keys(first, path)
    one, other = (_unknown_keys(side, path) for side in sides)
    wanted = merge_tables(extras, one, other, _choose_value)
    try:
        old = first and _bring_to(first, note, wanted, path)
        versions = [_bring_to(side, note, wanted, path) for side in sides]
    except FormatError:
        return MergedText(codec.render(note), tuple(sorted({ours.text, theirs.text})))
    for merged in _merge_versions(old, versions, path):
        # Lines that merge well can still break the front matter.
        if _holds(merged, note, wanted, path):
            return MergedText(_formed(merged, form))
    loses = {ours.text, theirs.text} if versions[0] != versions[1] else set()
    return MergedText(_formed(max(versions), form), tuple(sorted(loses)))


def _form_of(text: str) -> tuple[str, str]:
    """Return the mark a text begins with and how its lines end."""
    return BOM if text.startswith(BOM) else "", "\r\n" if "\r\n" in text else "\n"


def _plain(text: str) -> str:
    return text.removeprefix(BOM).replace("\r\n", "\n").replace("\r", "\n")


def _formed(text: str, form: tuple[str, str]) -> str:
    return form[0] + text.replace("\n", form[1])


def _unknown_keys(side: NoteText, path: str) -> dict[str, Value]:
    """Return what the front matter says besides the note, by key."""
    known = {"kind", *(field.name for field in fields(side.note))}
    values = frontmatter.read(side.text, path).values
    return {k: v for k, v in values.items() if k not in known and v is not None}


def _choose_value(one: Value, other: Value) -> Value:
    if isinstance(one, list) and isinstance(other, list):
        items = {written(item): item for item in (*one, *other)}
        return [items[key] for key in sorted(items)]
    # Values of different types cannot be compared; what would be written can.
    return max(one, other, key=written)


def _bring_to(side: NoteText, note: Note, extras: Extras, path: str) -> str:
    """Return a version of the text with the merged values."""
    text = codec.patch(side.text, side.note, note, path)
    gone = dict.fromkeys(_unknown_keys(side, path).keys() - extras.keys())
    return patch_values(text, {**gone, **extras}, path)


def _merge_versions(base: str | None, sides: Sequence[str], path: str) -> Iterator[str]:
    """Yield ways to merge what is left, the best first."""
    yield _merge_parts(base, sides)
    heads, bodies = zip(*(_split_head(text, path) for text in sides), strict=True)
    old = None if base is None else _split_head(base, path)[1]
    # Both heads say the same values by now, so only comments of the other are missing.
    stays, other = max(heads), min(heads)
    comments = [line for line in other.splitlines() if line.lstrip().startswith("#")]
    added = [line for line in comments if line not in stays.splitlines()]
    *first, last = stays.splitlines() or [""]
    head = "".join(f"{line}\n" for line in (*first, *added, last)) if stays else ""
    yield head + _merge_parts(old, bodies)


def _merge_parts(base: str | None, sides: Sequence[str]) -> str:
    ours, theirs = (side.split("\n") for side in sides)
    old = common_lines(ours, theirs) if base is None else base.split("\n")
    return "\n".join(keep_both(old, ours, theirs))


def _split_head(text: str, path: str) -> tuple[str, str]:
    block = frontmatter.find_block(text, path)
    return (text[: block.body], text[block.body :]) if block else ("", text)


def _holds(text: str, note: Note, extras: Extras, path: str) -> bool:
    """Whether a text says the note and the unknown keys."""
    try:
        found = NoteText(text, codec.parse(text, path))
        unknown = _unknown_keys(found, path)
    except FormatError:
        return False
    return found.note == codec.clean_note(note) and same(unknown, dict(extras))
