"""Relative dates of a query."""

from datetime import UTC, datetime

from kimi_memory.plugins.dates import expand_query
from kimi_memory.plugins.words import split_words

from kimi_memory.domain.search_types import Query

NOW = datetime(2026, 11, 18, tzinfo=UTC)


def test_hook_expand_query_resolves_both_languages() -> None:
    assert expand_query(Query(text="What did we do last Friday?"), NOW)[0] == "d:2026-11-13"
    assert expand_query(Query(text="上周五我们做了什么？"), NOW)[0] == "d:2026-11-13"
    assert expand_query(Query(text="What do we use?"), NOW) == []


def test_expansions_are_words_a_note_has() -> None:
    note = split_words("Deployed on 2026-11-13.")
    assert set(expand_query(Query(text="last Friday"), NOW)) <= set(note)
    assert set(expand_query(Query(text="上周"), NOW)) <= set(note)
    assert set(expand_query(Query(text="this month"), NOW)) <= set(note)
