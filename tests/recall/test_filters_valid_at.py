"""Recall as of a day: what held then, whatever became of it, and nothing of later."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

import pytest
from folders import Folder

from kimi_memory.domain.note import Role, Status
from kimi_memory.domain.tombstone import Tombstone
from kimi_memory.formats.jsonl import tombstone_line
from kimi_memory.nlp.basic.patterns import normalise
from kimi_memory.recall.query_parser import parse
from kimi_memory.store.notes.notes import TOMBSTONES

JAN, FEB, MAR = (datetime(2026, month, 10, 12, tzinfo=UTC) for month in (1, 2, 3))
NOW = datetime(2026, 4, 1, tzinfo=UTC)


def end_of(day: datetime) -> datetime:
    return day.replace(hour=23, minute=59, second=59)


def ids(folder: Folder, text: str, **filters: object) -> set[str]:
    return {hit.unit.id for hit in folder.ask(text, **filters).hits}


def turn(folder: Folder, id: str, at: datetime, text: str) -> None:
    folder.session(id, [(str(Role.USER), text)], at=at)


@pytest.fixture
def chain(folder: Folder) -> Folder:
    """A choice that was changed twice, in both languages, with the talk it is from."""
    turn(folder, "jan", JAN, "We choose MySQL as the database. 数据库用 MySQL。")
    turn(folder, "feb", FEB, "We move to PostgreSQL as the database. 数据库换成 PostgreSQL。")
    turn(folder, "mar", MAR, "We move to SQLite as the database. 数据库换成 SQLite。")
    past = {"status": Status.SUPERSEDED, "key": "db.choice", "updated": NOW}
    folder.card(
        "db-1", "Database 数据库", "MySQL is the database. 数据库是 MySQL。",
        valid_from=JAN, valid_to=FEB, **past,
    )  # fmt: skip
    folder.card(
        "db-2", "Database 数据库", "PostgreSQL is the database. 数据库是 PostgreSQL。",
        valid_from=FEB, valid_to=MAR, supersedes=("card-db-1",), **past,
    )  # fmt: skip
    folder.card(
        "db-3", "Database 数据库", "SQLite is the database. 数据库是 SQLite。",
        valid_from=MAR, supersedes=("card-db-2",), key="db.choice",
    )  # fmt: skip
    return folder


@pytest.mark.parametrize("question", ["which database do we use?", "我们用什么数据库？"])
@pytest.mark.parametrize(
    ("moment", "found"),
    [
        (JAN - timedelta(days=1), set()),
        (end_of(JAN), {"card-db-1", "session:jan#1"}),
        (FEB - timedelta(seconds=1), {"card-db-1", "session:jan#1"}),
        (end_of(FEB), {"card-db-2", "session:jan#1", "session:feb#1"}),
        (end_of(MAR), {"card-db-3", "session:jan#1", "session:feb#1", "session:mar#1"}),
    ],
    ids=["before", "january", "last moment", "february", "march"],
)
def test_what_held_then_is_found_and_nothing_of_later(
    chain: Folder, question: str, moment: datetime, found: set[str]
) -> None:
    assert ids(chain, question, valid_at=moment) == found
    chain.index().refresh()
    assert ids(chain, question, valid_at=moment) == found


def test_what_held_then_ranks_as_live(chain: Folder) -> None:
    then = chain.ask("which database", kind=("card",), valid_at=end_of(JAN)).hits
    now = chain.ask("which database", kind=("card",)).hits
    assert [hit.unit.id for hit in then] == ["card-db-1"]
    assert [hit.unit.id for hit in now] == ["card-db-3"]
    assert "status" not in then[0].parts
    assert "validity" not in then[0].parts
    assert then[0].unit.status == "superseded"
    assert then[0].score == pytest.approx(now[0].score, abs=0.05)


def test_without_a_moment_nothing_changes(chain: Folder) -> None:
    assert ids(chain, "which database", kind=("card",)) == {"card-db-3"}
    superseded = ids(chain, "which database", status=("superseded",))
    assert superseded == {"card-db-1", "card-db-2"}


def test_filters_hold_beside_a_moment(chain: Folder) -> None:
    assert ids(chain, "database", valid_at=end_of(FEB), kind=("turn",)) == {
        "session:jan#1",
        "session:feb#1",
    }
    assert ids(chain, "database", valid_at=end_of(FEB), status=("superseded",)) == {"card-db-2"}
    assert ids(chain, "", valid_at=end_of(JAN)) == {"card-db-1", "session:jan#1"}


def test_a_superseded_card_without_an_end_ends_where_its_successor_begins(folder: Folder) -> None:
    past = {"status": Status.SUPERSEDED, "updated": NOW}
    folder.card("tea-1", "Tea", "Green tea is preferred.", valid_from=JAN, **past)
    folder.card(
        "tea-2", "Tea", "Black tea is preferred.", valid_from=FEB, supersedes=("card-tea-1",)
    )
    folder.card("cup", "Tea cup", "The tea cup is blue.", valid_from=JAN, **past)
    assert ids(folder, "tea", valid_at=end_of(JAN)) == {"card-tea-1", "card-cup"}
    assert ids(folder, "tea", valid_at=end_of(FEB)) == {"card-tea-2", "card-cup"}
    assert ids(folder, "tea", valid_at=NOW + timedelta(days=1)) == {"card-tea-2"}


def test_a_card_without_a_beginning_counts_from_when_it_was_made(folder: Folder) -> None:
    folder.card("port", "Port", "The port is 8080.", created=FEB, updated=NOW)
    assert ids(folder, "port", valid_at=end_of(JAN)) == set()
    assert ids(folder, "port", valid_at=end_of(FEB)) == {"card-port"}


def test_what_ran_out_comes_back_and_what_was_put_away_does_not(folder: Folder) -> None:
    gone = {"status": Status.ARCHIVED, "valid_from": JAN, "updated": NOW}
    folder.card("door", "Door code", "The door code is 1234.", expires=FEB, **gone)
    folder.card("room", "Door room", "The room is 7.", **gone)
    assert ids(folder, "door room", valid_at=end_of(JAN)) == {"card-door"}
    assert ids(folder, "door room", valid_at=end_of(MAR)) == set()


def forget(folder: Folder, values: Iterable[str], key: str) -> None:
    lines = [tombstone_line(Tombstone("memory", key, normalise(v), NOW, "me")) for v in values]
    folder.write(TOMBSTONES, b"".join(lines))


@pytest.mark.parametrize("status", [Status.SUPERSEDED, Status.ARCHIVED])
def test_what_was_forgotten_stays_away_at_every_moment(chain: Folder, status: Status) -> None:
    value = "The harbour office pays 90 euros. 港口办公室付九十欧元。"
    turn(chain, "pay", JAN, value)
    chain.card(
        "pay", "Pay", value, key="pay.day", valid_from=JAN, valid_to=MAR, status=status, updated=NOW
    )
    index = chain.index()
    assert "card-pay" in {h.unit.id for h in chain.ask("harbour office", index, valid_at=FEB).hits}
    forget(chain, [value], "pay.day")
    found = {hit.unit.id for hit in chain.ask("harbour office", index, valid_at=FEB).hits}
    assert found.isdisjoint({"card-pay", "session:pay#1"})
    assert "card-db-1" in ids(chain, "which database", valid_at=end_of(JAN))


def test_pages_count_from_when_they_were_written_and_those_without_a_date_not_at_all(
    folder: Folder,
) -> None:
    folder.write("PROJECT.md", "# Harbour\n\nThe harbour project.\n")
    turn(folder, "jan", JAN, "The harbour opens.")
    assert ids(folder, "harbour", valid_at=end_of(JAN)) == {"session:jan#1"}


def test_relative_dates_count_from_the_moment(chain: Folder) -> None:
    query = parse("database valid-at:2026-02-10", NOW)
    assert query.valid_at == datetime(2026, 2, 10, 23, 59, 59, 999999, tzinfo=UTC)
    assert query.text == "database"
    found = chain.recall().search(query).hits
    assert {hit.unit.id for hit in found if hit.unit.kind == "card"} == {"card-db-2"}


def test_related_notes_are_those_of_the_moment(chain: Folder) -> None:
    from kimi_memory.domain.note import Link

    links = (Link("card-db-1"), Link("card-db-3"))
    chain.card("host", "Host", "The host runs the database.", valid_from=JAN, links=links)
    [then] = chain.ask("host runs", kind=("card",), valid_at=end_of(JAN), limit=1).hits
    assert [one.id for one in then.related] == ["card-db-1"]
    [now] = chain.ask("host runs", kind=("card",), limit=1).hits
    assert [one.id for one in now.related] == ["card-db-3"]
