"""Whose notes are: by the turns they rest on, and by the names they say."""

from __future__ import annotations

from dataclasses import replace

import pytest
from folders import Folder

from kimi_memory.domain.note import Origin, Quote, Source
from kimi_memory.recall.request import Request
from kimi_memory.recall.served import names_of, person_of, served_by

ASKED = Request("live", 900, "0123456789abcdef")


@pytest.fixture
def shop(folder: Folder) -> Folder:
    """A memory of two people, and cards of the databases that they use."""
    quotes = {
        "ben": Quote("b1", 1, "The shop uses MongoDB as its database."),
        "cara": Quote("c1", 1, "For reports a database named DuckDB is enough."),
    }
    for slug, quote in quotes.items():
        folder.card(
            slug, slug, quote.text, quotes=(quote,), sources=(Source.from_quote(quote),),
            trust=Origin.HUMAN,
        )  # fmt: skip
        name = slug.title()
        said = [(name, quote.text), ("assistant", "Fine."), (name, "Thanks, that was all.")]
        folder.session(quote.session, said, archived=True)
    folder.card("dana", "Database of Dana", "Dana picked PostgreSQL.")
    said = [("Dana", "A database is a table with locks."), ("assistant", "It is.")]
    folder.session("d1", said, archived=True)
    return folder


@pytest.mark.parametrize("name", ["Ben", "Cara"])
def test_a_card_counts_as_the_words_of_who_said_what_it_rests_on(shop: Folder, name: str) -> None:
    hits = {hit.unit.id: hit for hit in shop.ask(f"Which database does {name} use?").hits}
    boosted = {id for id, hit in hits.items() if "speaker" in hit.parts and hit.unit.kind == "card"}
    assert boosted == {f"card-{name.lower()}"}


def test_a_card_that_names_a_person_counts_as_about_them(shop: Folder) -> None:
    hits = {hit.unit.id: hit for hit in shop.ask("Which database does Dana use?").hits}
    assert "speaker" in hits["card-dana"].parts
    assert "speaker" not in hits["card-ben"].parts


def test_nobody_is_favoured_where_no_speaker_is_named(shop: Folder) -> None:
    assert not [hit for hit in shop.ask("Which database do we use?").hits if "speaker" in hit.parts]


def test_a_shared_card_names_nobody_of_a_private_session(shop: Folder) -> None:
    quote = Quote("p1", 1, "The cellar database is Redis.")
    said = [("Zoe", quote.text), ("assistant", "Noted.")]
    shop.session("p1", said, archived=True, user="zoe", area="user")
    shop.card(
        "cellar", "cellar", quote.text, quotes=(quote,), sources=(Source.from_quote(quote),),
        trust=Origin.HUMAN,
    )  # fmt: skip
    searcher = shop.index().searcher()
    [row] = [hit.unit for hit in shop.ask("cellar database").hits if hit.unit.id == "card-cellar"]
    assert person_of(searcher, row, ASKED) == ""
    assert names_of(searcher, row) == frozenset()
    shared = next(hit.unit for hit in shop.ask("shop database").hits if hit.unit.id == "card-ben")
    assert person_of(searcher, shared, ASKED) == "Ben"


def test_people_of_hidden_sessions_do_not_count(folder: Folder) -> None:
    folder.session("a1", [("Ann", "The shop database is Redis.")], archived=True)
    folder.session(
        "b1", [("Bob", "My salary went up in May.")], archived=True, user="bob", area="user"
    )
    searcher = folder.index().searcher()
    [unit] = [hit.unit for hit in folder.ask("shop database").hits if hit.unit.session == "a1"]
    assert person_of(searcher, unit, ASKED) == "Ann"
    assert served_by(searcher, ASKED).several
    # Nothing in the block of another caller says that somebody else talks to this memory.
    ann, bob = (ASKED._replace(within=(f"user:{name}",)) for name in ("ann", "bob"))
    assert person_of(searcher, unit, ann) == ""
    assert not served_by(searcher, ann).several
    assert person_of(searcher, unit, bob) == "Ann"
    bound = ASKED._replace(bound=lambda query: replace(query, within=("user:ann",)))
    assert person_of(searcher, unit, bound) == ""
