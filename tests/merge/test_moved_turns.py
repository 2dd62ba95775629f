"""Evidence that follows its turns."""

from __future__ import annotations

from dataclasses import replace

from kimi_memory.domain.note import Quote, Source
from kimi_memory.domain.pages import Day, Digest, DigestLine, Part
from kimi_memory.domain.tombstone import Tombstone
from kimi_memory.merge.moved_turns import Moved, bar_sessions, repoint_note, repoint_tombstones
from tests.merge.values import NOW, card, said

MOVES = {"s1": (Moved(3, "s1-aa"),)}


def test_sources_and_quotes_of_moved_turns_name_the_session_they_are_in() -> None:
    early, late = Quote("s1", 2, "tea"), Quote("s1", 4, "coffee")
    sources = (Source.from_quote(early), Source.from_quote(late), said("s2", 9), Source("s1", 2, 4))
    [new] = repoint_note(card(quotes=(early, late), sources=sources), MOVES)
    assert [str(one) for one in new.sources] == [
        f"session:s1#2 supports {early.hash}",
        f"session:s1-aa#4 supports {late.hash}",
        "session:s2#9 supports",
        "session:s1#2 supports",
        "session:s1-aa#3-4 supports",
    ]
    assert new.quotes == (early, replace(late, session="s1-aa"))  # type: ignore[attr-defined]  # a card
    assert repoint_note(new, {}) == [new]


def test_a_quote_of_a_run_of_turns_goes_with_its_turn() -> None:
    quote = Quote("s1", 4, "coffee")
    [new] = repoint_note(
        card(quotes=(quote,), sources=(Source("s1", 2, 4, quote=quote.hash),)), MOVES
    )
    assert [str(one) for one in new.sources] == [
        "session:s1#2 supports",
        f"session:s1-aa#3-4 supports {quote.hash}",
    ]


def test_turns_that_parted_twice_have_each_their_place() -> None:
    twice = {"s1": (Moved(3, "s1-aa"), Moved(5, "s1-bb"))}
    quotes = (Quote("s1", 2, "tea"), Quote("s1", 4, "milk"), Quote("s1", 6, "coffee"))
    whole = Source("s1", 2, 6, quote=quotes[1].hash)
    [new] = repoint_note(card(quotes=quotes, sources=(whole,)), twice)
    assert [str(one) for one in new.sources] == [
        "session:s1#2 supports",
        f"session:s1-aa#3-4 supports {quotes[1].hash}",
        "session:s1-bb#5-6 supports",
    ]
    assert [one.session for one in new.quotes] == ["s1", "s1-aa", "s1-bb"]  # type: ignore[attr-defined]  # a card
    stone = Tombstone("session:s1", "", "", NOW, "li")
    scopes = [found.scope for found in bar_sessions([stone], twice)]
    assert scopes == ["session:s1", "session:s1-aa", "session:s1-bb"]


def test_lines_of_a_digest_about_moved_turns_become_one_of_their_own() -> None:
    lines = (DigestLine(Part.TOLD, "tea", 1, 1), DigestLine(Part.TOLD, "coffee", 3, 4))
    digest = Digest(
        id="digest-1", created=NOW, updated=NOW, title="Talk", session="s1", at=NOW, lines=lines
    )
    stays, moved = repoint_note(digest, MOVES)
    assert (stays.session, stays.lines) == ("s1", lines[:1])  # type: ignore[attr-defined]  # a digest
    assert (moved.session, moved.lines) == ("s1-aa", lines[1:])  # type: ignore[attr-defined]  # a digest
    assert moved.id != digest.id
    assert repoint_note(stays, MOVES) == [stays]


def test_lines_of_a_day_name_the_session_their_words_are_in() -> None:
    told = ("09:00 Li: tea [[session_s1]] #2", "09:05 Li: coffee [[session_s1]] #3")
    day = Day(id="d", created=NOW, updated=NOW, date=NOW.date(), sessions=told)
    [new] = repoint_note(day, MOVES)
    assert new.sessions == (told[0], "09:05 Li: coffee [[session_s1-aa#^t3|#3]]")  # type: ignore[attr-defined]  # a day


def test_a_forgotten_turn_and_session_stay_forgotten_where_they_went() -> None:
    about = Tombstone("memory", "", "coffee", NOW, "li", about=("session:s1#2", "session:s1#3"))
    whole = Tombstone("session:s1", "", "", NOW, "li")
    found = list(bar_sessions(repoint_tombstones([about, whole], MOVES), MOVES))
    assert found[0].about == ("session:s1#2", "session:s1#3", "session:s1-aa#3")
    assert [stone.scope for stone in found] == ["memory", "session:s1", "session:s1-aa"]
