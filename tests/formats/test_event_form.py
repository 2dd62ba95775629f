"""The text form of digests: lines with their turns, and what a person may add."""

from __future__ import annotations

import pytest

from kimi_memory.domain.pages import Digest, DigestLine, Part
from kimi_memory.formats import codec
from kimi_memory.formats.event_form import line_text, parse_line


def test_a_digest_is_read(doc):
    """
    ---
    id: digest-1
    kind: digest
    session: s1
    created: 2026-02-27T09:00:00Z
    at: 2026-02-27T09:00:00Z
    ---
    # Session digest: Move the billing job

    ## Decided

    - Keep Postgres … it has the locks we need. #4-5
    - my own remark

    ## Told

    - **Ann**: I moved to Porto #7
    """
    digest = codec.parse(doc, "x.md")
    assert isinstance(digest, Digest)
    assert digest.title == "Move the billing job"
    assert digest.part(Part.DECIDED) == (
        DigestLine(Part.DECIDED, "Keep Postgres … it has the locks we need.", 4, 5),
        DigestLine(Part.DECIDED, "my own remark"),
    )
    assert digest.part(Part.TOLD) == (DigestLine(Part.TOLD, "I moved to Porto", 7, 7, "Ann"),)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (DigestLine(Part.TOLD, "see PR #150 again", 3, 3), "see PR #150 again #3"),
        (DigestLine(Part.TOLD, "押金6800", 3, 4, "林晓雯"), "**林晓雯**: 押金6800 #3-4"),
        (
            DigestLine(Part.TOLD, "it was (2020-01-02)", 3, 3, "", "2025-12-10"),
            "it was (2020-01-02) #3 (2025-12-10)",
        ),
    ],
    ids=["a number of its own", "a name", "another day than the session's"],
)
def test_a_line_comes_back(line, text):
    assert line_text(line) == text
    assert parse_line(Part.TOLD, text) == line


@pytest.mark.parametrize("text", ["#3", "no turn here", "**Ann**: #4", "PR#15"])
def test_a_line_without_words_or_turn_is_a_persons_note(text):
    assert parse_line(Part.TOLD, text) == DigestLine(Part.TOLD, text)


def test_a_digest_lies_among_the_events_under_its_day(doc):
    """
    ---
    id: digest-1
    kind: digest
    session: s1
    created: 2026-02-27T09:00:00Z
    at: 2026-02-26T09:00:00Z
    ---
    # Session digest: Move the billing job
    """
    assert codec.place(codec.parse(doc, "x.md")) == "episodic/20260226_move-the-billing-job.md"
