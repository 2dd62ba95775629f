"""The page of a session cannot be broken by what was said in it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.domain.note import Lang
from kimi_memory.formats.frontmatter import read
from kimi_memory.formats.session_page import transcript_markdown
from kimi_memory.nlp.basic.safe_text import clean
from tests.formats.strategies import examples, transcripts


@examples(60)
@given(transcripts(), st.sampled_from(Lang))
def test_only_headings_of_turns_and_quotes_stand_on_the_page(transcript, lang):
    front = read(transcript_markdown(transcript, lang), "x.md")
    assert front.values["kind"] == "session"
    assert front.values["turns"] == len(transcript.turns)
    _, title, *lines = front.body.split("\n")
    assert title.startswith("# 会话: " if lang is Lang.ZH else "# Session: ")
    headings = [line for line in lines if line.startswith("#")]
    assert len(headings) == len(transcript.turns)
    assert all(line.startswith(("### #", ">", "^t")) for line in lines if line)
    anchors = [line for line in lines if line.startswith("^")]
    assert anchors == [f"^t{turn.n}" for turn in transcript.turns]


@examples(60)
@given(transcripts())
def test_every_word_of_a_turn_is_on_the_page(transcript):
    page = transcript_markdown(transcript, Lang.EN)
    for turn in transcript.turns:
        block = "\n".join(f"> {line}".rstrip() for line in clean(turn.text).split("\n"))
        assert block in page
