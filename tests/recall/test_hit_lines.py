"""Lines of hits: each thing once, whose it is, how sure, and what replaced it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from folders import NOW, Folder

from kimi_memory.domain.note import CardType, EventType, Quote, Source, Status
from kimi_memory.domain.pages import Event
from kimi_memory.domain.search_types import Query
from kimi_memory.formats.codec import render
from kimi_memory.recall.evidence import rests_on
from kimi_memory.recall.hit_lines import lines_of_hits as made
from kimi_memory.recall.render import Line, Section
from kimi_memory.recall.request import Request

SAID = "The ferry Aurora leaves from the old pier at seven."
LONG = f"{SAID} My sister Ida steers it, her dog Bo sleeps on deck, and a ticket costs nine euros."


@pytest.fixture
def boat(folder: Folder) -> Folder:
    """A chat of which cards quote two turns, one of them in part."""
    folder.session(
        "boat",
        [
            ("user", SAID),
            ("assistant", "Seven, from the old pier."),
            ("user", f"As I said to Ann: {LONG}"),
            ("assistant", "Fine."),
            ("user", "when does the ferry Aurora leave?"),
        ],
        archived=True,
    )
    for slug, n in (("pier", 1), ("again", 3)):
        quote = Quote("boat", n, SAID)
        folder.card(
            slug, SAID, SAID, quotes=(quote,), sources=(Source.from_quote(quote),), confidence=0.8
        )
    return folder


def lines(folder: Folder, query: str, **filters: object) -> dict[str, Line]:
    recall = folder.recall()
    hits = recall.search(Query(text=query, limit=20, **filters)).hits
    request = Request("live", 900, "lopimijm", query)
    return {line.id: line for line in made(recall.searcher(), hits, request)}


def test_a_card_stands_for_the_turn_it_quotes(boat: Folder) -> None:
    found = lines(boat, "from which pier does the Aurora leave at seven")
    assert "session:boat#1" not in found
    assert found["card-pier"].section is Section.KNOWN
    assert found["card-pier"].value >= found["card-again"].value > 0


def test_a_turn_that_says_much_more_stays(boat: Folder) -> None:
    assert "session:boat#3" in lines(boat, "from which pier does the Aurora leave at seven")


def test_what_only_asks_the_same_is_left_out(boat: Folder) -> None:
    assert "session:boat#5" not in lines(boat, "when does the ferry Aurora leave today")
    assert "session:boat#5" in lines(boat, "is the Aurora a ferry or a yacht, and who steers")


def test_what_is_far_behind_the_best_is_left_out(boat: Folder) -> None:
    boat.session("odd", [("user", "at the office we moved the old printer")], archived=True)
    found = lines(boat, "from which old pier does the ferry Aurora leave at seven")
    assert not [id for id in found if id.startswith("session:odd")]


def test_a_card_says_whose_when_how_sure_and_where(boat: Folder) -> None:
    line = lines(boat, "ferry Aurora pier")["card-pier"]
    assert line.labels == ("agent", "0.80")
    assert line.day == f"{NOW:%Y-%m-%d}"
    assert (line.path, line.lines) == ("semantic/general/pier.md", "")
    assert line.said.count("ferry Aurora") == 1


def test_the_day_of_a_card_is_that_since_when_it_holds(folder: Folder) -> None:
    folder.card(
        "wharf", "Wharf", "The ferry leaves from the wharf.", valid_from=NOW - timedelta(40)
    )
    assert lines(folder, "ferry wharf")["card-wharf"].day == "2026-01-18"


def test_what_was_replaced_says_by_what(folder: Folder) -> None:
    old = Quote("db", 1, "We use Redis for the queue.")
    folder.session("db", [("user", old.text), ("assistant", "Noted.")], archived=True)
    folder.card(
        "queue-old", "Queue", old.text, key="queue", status=Status.SUPERSEDED,
        quotes=(old,), sources=(Source.from_quote(old),),
    )  # fmt: skip
    gone = Quote("db", 9, "The name was Otter.")
    folder.card(
        "nameless", "Name", gone.text, key="name", status=Status.SUPERSEDED,
        quotes=(gone,), sources=(Source.from_quote(gone),),
    )  # fmt: skip
    folder.card(
        "queue", "Queue", "We use RabbitMQ for the queue.", key="queue",
        type=CardType.DECISION, created=NOW + timedelta(1), updated=NOW + timedelta(1),
    )  # fmt: skip
    told = lines(folder, "what was the queue before")
    assert "replaced by: We use RabbitMQ for the queue." in told["card-queue-old"].labels
    named = lines(folder, "what was Otter before", kind=("card",))
    assert "replaced" in named["card-nameless"].labels
    now = lines(folder, "which queue do we use, Redis or RabbitMQ")
    assert "card-queue-old" not in now
    assert "replaced by: We use RabbitMQ for the queue." in now["session:db#1"].labels


def test_a_value_is_replaced_within_its_own_project(folder: Folder) -> None:
    old = Quote("db", 1, "Otter stores everything in Redis.")
    folder.session("db", [("user", old.text), ("assistant", "Fine.")], archived=True)
    for slug, project, value, status in (
        ("otter-old", "otter", old.text, Status.SUPERSEDED),
        ("otter-new", "otter", "Otter stores everything in SQLite.", Status.ACTIVE),
        ("heron", "heron", "Heron stores everything in MySQL.", Status.ACTIVE),
    ):
        later = NOW + timedelta(days=2 if slug == "heron" else 1)
        proof = (
            {"quotes": (old,), "sources": (Source.from_quote(old),)} if slug[-3:] == "old" else {}
        )
        folder.card(
            slug, slug, value, key="store", project=project, status=status,
            created=later, updated=later, **(proof if slug == "otter-old" else {}),
        )  # fmt: skip
    event = Event(
        id="event-otter", title="Store of Otter", type=EventType.DECISION, at=NOW, content=old.text,
        created=NOW, updated=NOW, project="otter", quotes=(old,), sources=(Source.from_quote(old),),
    )  # fmt: skip
    folder.write("episodic/20260227_otter.md", render(event))
    found = lines(folder, "where is everything of Otter in Redis stored")
    label = "replaced by: Otter stores everything in SQLite."
    assert label in found["event-otter"].labels


def test_nods_and_asides_of_an_assistant_are_left_out(folder: Folder) -> None:
    folder.session(
        "pier",
        [
            ("user", "The ferry Aurora leaves from the old pier."),
            ("assistant", "Lovely weather for it."),
            ("user", "谢谢！"),
            ("assistant", "The old pier opens at six, so be there early."),
            ("user", "I come by bike."),
        ],
        archived=True,
    )
    found = lines(folder, "from which old pier does the ferry Aurora leave")
    assert "session:pier#4" in found and "session:pier#1" in found
    assert not {"session:pier#2", "session:pier#3"} & set(found)
    assert "session:pier#5" in found  # A person may answer in other words.


def test_what_an_agent_does_next_and_what_a_tool_echoes_are_left_out(folder: Folder) -> None:
    folder.session(
        "pier",
        [
            ("user", "The ferry Aurora leaves from the old pier."),
            ("assistant", "Let me update the old pier of the ferry Aurora first."),
            ("tool", "The file ferry/aurora_pier.py has been updated."),
            ("assistant", "The ferry Aurora now leaves from the old pier in the timetable, too."),
            ("tool", "1 failed: test_ferry reads the old pier of Aurora as a number"),
        ],
        archived=True,
    )
    found = {int(id.rpartition("#")[2]) for id in lines(folder, "the old pier of ferry Aurora")}
    assert found == {1, 4, 5}


def test_a_source_of_a_whole_session_is_no_quote(folder: Folder) -> None:
    folder.card("all", "All", "It was a long talk.", sources=(Source("boat", 1, 400),))
    recall = folder.recall()
    units = [hit.unit for hit in recall.search(Query(text="long talk")).hits]
    assert [rests_on(recall.searcher(), unit) for unit in units] == [()]


def test_an_order_of_a_person_stands_among_the_orders(folder: Folder) -> None:
    text = "Always name the ferry by its harbour."
    folder.session("rules", [("user", text), ("assistant", text)], archived=True)
    found = lines(folder, "name the ferry by its harbour")
    assert {id: line.section for id, line in found.items()} == {
        "session:rules#1": Section.ORDERS,
        "session:rules#2": Section.SAID,
    }


@pytest.mark.parametrize("status", [Status.SUPERSEDED, Status.ACTIVE])
def test_an_event_that_holds_no_more_says_so_where_nothing_says_by_what(
    folder: Folder, status: Status
) -> None:
    event = Event(
        id="event-quay", title="The quay", type=EventType.FINDING, at=NOW, created=NOW, updated=NOW,
        content="The northern quay is closed for ferries.", status=status,
    )  # fmt: skip
    folder.write("episodic/20260227_quay.md", render(event))
    found = lines(folder, "is the northern quay closed", status=("active", "superseded"))
    assert ("replaced" in found["event-quay"].labels) == (status is Status.SUPERSEDED)
