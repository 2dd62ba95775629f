"""Files of notes, merged: values, and what a person wrote around them."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given

from kimi_memory.domain.note import Card, Note
from kimi_memory.formats import codec
from kimi_memory.merge.note_texts import MergedText, NoteText, merge_note_texts
from kimi_memory.merge.notes import merge_notes
from tests.formats.strategies import examples
from tests.merge.sides import forks
from tests.merge.values import card

PATH = "semantic/general/deploy.port.md"


def merged(base: str | None, ours: str, theirs: str) -> MergedText:
    sides = [NoteText(text, codec.parse(text, PATH)) for text in (ours, theirs)]
    old = None if base is None else NoteText(base, codec.parse(base, PATH))
    note = merge_notes(old and old.note, sides[0].note, sides[1].note).note
    found = merge_note_texts(old, sides[0], sides[1], note, PATH)
    assert found == merge_note_texts(old, sides[1], sides[0], note, PATH)
    assert codec.parse(found.text, PATH) == codec.clean_note(note)
    return found


@given(forks())
@examples(100)
def test_the_merged_file_says_the_merged_note(notes: tuple[Note, ...]) -> None:
    base, ours, theirs = (codec.render(note) for note in notes)
    assert merged(base, ours, theirs).lost == ()
    assert merged(None, ours, theirs).lost == ()


@given(forks())
@examples(100)
def test_words_around_the_note_are_never_lost(notes: tuple[Note, ...]) -> None:
    base, ours, theirs = (codec.render(note) for note in notes)
    ours, theirs = ours.replace("---\n", "---\n# of ours\n", 1), theirs + "\nOf theirs.\n"
    if codec.parse(theirs, PATH) == notes[2]:  # else the note itself ends in it
        found = merged(base, ours, theirs)
        everything = "\n".join((found.text, *found.lost))
        assert "# of ours" in everything
        assert "Of theirs." in everything


def changed(text: str, **values: object) -> str:
    note = codec.parse(text, PATH)
    assert isinstance(note, Card)
    return codec.patch(text, note, replace(note, **values), PATH)  # type: ignore[arg-type]  # any field


def test_unknown_keys_comments_and_prose_of_both_sides_stand_in_the_result() -> None:
    base = codec.render(card())
    ours = changed(base, value="8443").replace(
        "kind: card", "kind: card\n# checked by Li\nowner: Li"
    )
    ours += "\nSee the wiki.\n"
    theirs = changed(base, confidence=0.9).replace("\ntitle", "\ntitle")
    theirs = theirs.replace("# Port", "# Port\n\nAsk Wang first.").replace(
        "lang: en", "lang: en\nroom: 4"
    )
    found = merged(base, ours, theirs)
    for words in ("# checked by Li", "owner: Li", "See the wiki.", "Ask Wang first.", "room: 4"):
        assert found.text.count(words) == 1
    assert "<<<<<<<" not in found.text
    assert found.lost == ()


def test_prose_of_both_sides_at_one_place_is_kept_twice() -> None:
    base = codec.render(card())
    found = merged(base, base + "\nFrom here.\n", base + "\nFrom there.\n")
    assert found.text.endswith("\nFrom here.\nFrom there.\n")


def test_one_unknown_key_that_both_changed_has_the_greater_value() -> None:
    base = codec.render(card()).replace("kind: card", "kind: card\nroom: 1\nseats: [a]")
    ours = base.replace("room: 1", "room: 2").replace("[a]", "[a, b]")
    theirs = base.replace("room: 1", "room: 3").replace("[a]", "[a, c]")
    found = merged(base, ours, theirs)
    assert "room: 3\nseats: [a, b, c]\n" in found.text


def test_comments_at_one_place_of_the_head_are_both_kept() -> None:
    base = codec.render(card())
    ours = changed(base, tags=("a",)).replace("kind: card", "kind: card\n# one\naliases:\n  - x")
    theirs = changed(base, tags=("b",)).replace("kind: card", "kind: card\n# two\naliases:\n  - y")
    found = merged(base, ours, theirs)
    assert "# one" in found.text
    assert "# two" in found.text
    assert found.text.count("aliases:") == 1


def test_line_ends_and_the_mark_of_a_changed_side_are_kept() -> None:
    base = codec.render(card())
    ours = "\ufeff" + changed(base, value="8443").replace("\n", "\r\n")
    found = merged(base, ours, changed(base, tags=("a",)))
    assert found.text.startswith("\ufeff---\r\n")
    assert found.text.count("\n") == found.text.count("\r\n")


def test_a_head_in_braces_is_written_anew_and_its_text_is_not_lost() -> None:
    base = codec.render(card())
    head = '{id: card-1, kind: card, type: fact, key: deploy.port, created: "2026-02-27T09:00:00"}'
    ours = f"---\n{head}\n---\n\n# Port\n\n- Definition: 8443\n"
    found = merged(base, ours, changed(base, tags=("a",)))
    assert ours in found.lost
    assert "8443" in found.text


def test_a_label_that_both_sides_moved_does_not_hide_what_is_said() -> None:
    base = codec.render(card(applies="always"))
    line = "- When to use: always\n"
    ours = base.replace(line, "") + "\n" + line
    theirs = base.replace(line, line.replace("-", "*")) + "\nMore.\n"
    found = merged(base, ours, theirs)
    assert "More." in found.text or any("More." in text for text in found.lost)
