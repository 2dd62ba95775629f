"""Digests in the life of a memory: filed with the session, cut when words are forgotten."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from kimi_memory import Memory
from kimi_memory.domain.note import Role
from kimi_memory.domain.operation_types import Wanted
from kimi_memory.domain.pages import Digest, DigestLine, Part
from kimi_memory.domain.session import Session, Transcript, Turn
from kimi_memory.jobs.digests import is_quoted
from kimi_memory.operations.forget import forget
from kimi_memory.store.notes.notes import Shelf
from tests.conftest import Clock

NOON = datetime(2026, 2, 27, 12, 0, tzinfo=UTC)
EN = (
    "I'm restoring a 1974 sailboat in Kiel with my uncle.",
    "The mast came from Doctor Abernathy in Oslo, it is spruce.",
)
ZH = ("我在青岛开了一家花店，叫小满。", "房租每月四千，房东姓孙。")


def digests(memory: Memory) -> list[Digest]:
    return [
        filed.note
        for filed in Shelf(memory.store).notes(Digest.kind)
        if isinstance(filed.note, Digest)
    ]


def talk(memory: Memory, *said: str, **about: str) -> None:
    session = memory.session(**about)
    for text in said:
        session.turn(Role.USER, text)
        session.turn(Role.ASSISTANT, "Good.")
    session.end()


@pytest.mark.parametrize("said", [EN, ZH], ids=["en", "zh"])
def test_a_session_that_ends_has_a_digest(memory: Memory, said: tuple[str, str]) -> None:
    talk(memory, *said, project="boats")
    (digest,) = digests(memory)
    assert [line.text for line in digest.lines] == list(said)
    assert [line.first for line in digest.lines] == [1, 3]
    assert digest.project == "boats"
    text = (memory.root / memory.get(digest.id).path).read_text("utf-8")
    assert f"- {said[0]} #1\n" in text


def test_what_is_said_days_after_the_beginning_has_its_own_day(
    memory: Memory, clock: Clock
) -> None:
    session = memory.session()
    session.turn(Role.USER, EN[0])
    session.turn(Role.ASSISTANT, "Good.")
    clock.move(days=3)
    session.turn(Role.USER, EN[1])
    session.end()
    (digest,) = digests(memory)
    assert [line.day for line in digest.lines] == ["", "2026-03-02"]
    text = (memory.root / memory.get(digest.id).path).read_text("utf-8")
    assert f"- {EN[1]} #3 (2026-03-02)\n" in text
    page = (memory.root / "MEMORY.md").read_text("utf-8")
    assert f"- {EN[0]} (2026-02-27) ^" in page
    assert f"- {EN[1]} (2026-03-02) ^" in page


def test_small_talk_has_none(memory: Memory) -> None:
    talk(memory, "hello!", "thanks, bye")
    assert digests(memory) == []


def test_an_undone_session_leaves_no_digest(memory: Memory) -> None:
    session = memory.session()
    for text in EN:
        session.turn(Role.USER, text)
    report = session.end()
    assert digests(memory)
    memory.undo(report.id)
    assert digests(memory) == []


@pytest.mark.parametrize(
    ("words", "rest"), [("Doctor Abernathy in Oslo", [EN[0]]), ("sailboat", [EN[1]])]
)
def test_forgotten_words_leave_the_digest(memory: Memory, words: str, rest: list[str]) -> None:
    talk(memory, *EN)
    forget(memory, Wanted(query=words))
    (digest,) = digests(memory)
    assert [line.text for line in digest.lines] == rest
    assert words not in digest.title


def test_a_forgotten_session_has_no_digest_left(memory: Memory) -> None:
    talk(memory, *EN)
    (digest,) = digests(memory)
    forget(memory, Wanted(session=digest.session))
    assert digests(memory)[0].status == "archived"


def test_what_was_forgotten_stays_out_of_later_digests(memory: Memory) -> None:
    memory.remember(EN[1], key="boat.mast")
    forget(memory, Wanted(key="boat.mast"))
    talk(memory, *EN)
    (digest,) = digests(memory)
    assert [line.text for line in digest.lines] == [EN[0]]


def test_a_secret_never_stands_in_a_digest(memory: Memory) -> None:
    talk(memory, EN[0], "The router at my uncle's has the password: tr0ub4dor-Kiel-77")
    (digest,) = digests(memory)
    assert [line.text for line in digest.lines] == [EN[0]]


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("I sold the van", True),
        ("I sold the van … to a baker", True),
        ("bold offer → I sold the van", True),
        ("I bought the van", False),
        ("…", False),
    ],
)
def test_a_line_must_stand_in_its_turns(text: str, quoted: bool) -> None:
    turns = (
        Turn(1, NOON, Role.ASSISTANT, "A **bold** offer"),
        Turn(2, NOON, Role.USER, "I sold the van, cheaply, to a baker"),
    )
    transcript = Transcript(Session("s", NOON), turns)
    assert is_quoted(DigestLine(Part.TOLD, text, 1, 2), transcript) is quoted


def test_words_without_the_address_of_their_link_are_quoted() -> None:
    text = "Renamed [`pump.py`](src/pump.py) today."
    transcript = Transcript(Session("s", NOON), (Turn(1, NOON, Role.ASSISTANT, text),))
    line = DigestLine(Part.FOUND, "Renamed `pump.py` today.", 1, 1)
    assert is_quoted(line, transcript)


def test_words_with_a_closed_arrow_are_quoted() -> None:
    turn = Turn(1, NOON, Role.ASSISTANT, "`stop()` → `halt()` in **`pump.py`**.")
    line = DigestLine(Part.FOUND, "`stop()`→`halt()` in `pump.py`.", 1, 1)
    assert is_quoted(line, Transcript(Session("s", NOON), (turn,)))


def test_what_a_model_thought_is_no_part_of_its_answer(memory: Memory) -> None:
    session = memory.session()
    session.turn(Role.USER, "Why does `export.py` write the wrong bytes for the harbour list?")
    for said in ("Let me read `export.py`.", "Reading on.", "Running the tests."):
        session.turn(Role.ASSISTANT, said)
        session.turn(Role.TOOL, "ok")
    session.turn(
        Role.ASSISTANT,
        "<think>\nThe cause must be `reader.py`, which drops every third berth.\n</think>\n"
        "The cause was `export.py`: it opened the harbour list as latin-1; it writes UTF-8 now.",
    )
    session.end()
    (digest,) = digests(memory)
    text = (memory.root / memory.get(digest.id).path).read_text("utf-8")
    assert "latin-1" in text and "reader.py" not in text
