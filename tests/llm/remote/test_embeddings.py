"""Vectors of a server, as a plugin asks for them."""

from __future__ import annotations

import math

import pytest

from kimi_memory.errors import ModelError, UsageError
from kimi_memory.llm.remote.embeddings import Manner, Place, Row, Vectors, manner_of, unit
from kimi_memory.llm.remote.retry import Limits
from kimi_memory.llm.remote.settings import Choices


class Server:
    """Embeds a text as its length, and keeps what it was asked."""

    def __init__(self, *failures: str) -> None:
        self.asked: list[tuple[list[str], float]] = []
        self.failures = list(failures)

    def embed(self, texts: list[str], seconds: float) -> list[Row]:
        self.asked.append((texts, seconds))
        if self.failures:
            raise ModelError(self.failures.pop(), passing=False)
        return [unit([1.0, float(len(text))]) for text in texts]


def vectors_of(server: Server, model: str = "nomic-embed-text", **settings: object) -> Vectors:
    limits = Limits(tries=1, at_once=1)
    place = Place(server="test", model=model, limits=limits, seconds=60, batch=2)
    return Vectors(Choices("test", settings), place, server.embed)


def test_texts_are_asked_for_in_batches_with_what_stands_before_them() -> None:
    server = Server()
    rows = vectors_of(server).rows(["one", "两个", "three"], "note")
    assert [texts for texts, _ in server.asked] == [
        ["search_document: one", "search_document: 两个"],
        ["search_document: three"],
    ]
    assert rows is not None and len(rows) == 3
    assert all(math.isclose(math.hypot(*row), 1) for row in rows)


def test_a_question_waits_less_and_may_be_spoken_otherwise() -> None:
    server = Server()
    made = vectors_of(server, query_prefix="问：", query_seconds=2, embed_weight=3.0, batch=9)
    made.rows(["茶"], "query")
    made.rows(["a", "b", "c"], "note")
    assert server.asked[0] == (["问：茶"], 2)
    assert [(len(texts), seconds) for texts, seconds in server.asked[1:]] == [(3, 60)]
    assert made.manner.weight == 3.0 and made.manner.mark


def test_nobody_is_asked_without_a_model_or_for_likeness() -> None:
    server = Server()
    assert vectors_of(server, model="").rows(["a"], "note") is None
    assert vectors_of(server).rows(["a"], "similarity") is None
    assert server.asked == []


def test_a_server_that_fails_or_gives_rows_of_two_lengths_gives_none() -> None:
    assert vectors_of(Server("away")).rows(["a"], "note") is None
    limits = Limits(tries=1, at_once=1)
    place = Place(server="odd", model="m", limits=limits, seconds=60, batch=2)
    lengths = Vectors(Choices("test", {}), place, lambda texts, _: [[1.0] * len(t) for t in texts])
    assert lengths.rows(["a", "bb"], "note") is None
    assert lengths.rows(["aa", "bb"], "note") == [[1.0, 1.0], [1.0, 1.0]]


def test_a_setting_of_the_wrong_type_is_named() -> None:
    with pytest.raises(UsageError, match=r"plugins\.test\.note_prefix"):
        vectors_of(Server(), note_prefix=3)


@pytest.mark.parametrize("row", [[0.0, 0.0], [math.inf, 1.0], [math.nan]])
def test_a_row_without_direction_is_refused(row: Row) -> None:
    with pytest.raises(ValueError, match="no direction"):
        unit(row)


@pytest.mark.parametrize(
    ("model", "query", "note"),
    [
        ("nomic-embed-text:v1.5", "search_query: ", "search_document: "),
        ("BAAI/bge-m3", "", ""),
        ("bge-m3:latest", "", ""),
        ("BAAI/bge-large-zh-v1.5", "为这个句子生成表示以用于检索相关文章：", ""),
        ("BAAI/bge-base-en-v1.5", "Represent this sentence for", ""),
        ("intfloat/multilingual-e5-small", "query: ", "passage: "),
        ("intfloat/multilingual-e5-large-instruct", "Instruct: ", ""),
        ("qwen3-embedding:0.6b", "Instruct: ", ""),
        ("Qwen/Qwen3-Embedding-8B", "Instruct: ", ""),
        ("embeddinggemma", "task: search result | query: ", "title: none | text: "),
        ("mxbai-embed-large", "Represent this sentence for", ""),
        ("snowflake-arctic-embed2", "query: ", ""),
        ("snowflake-arctic-embed:33m", "Represent this sentence for", ""),
        ("all-minilm", "", ""),
        ("text-embedding-3-large", "", ""),
    ],
)
def test_prefixes_are_known_by_name(model: str, query: str, note: str) -> None:
    manner = manner_of(model)
    assert manner.query.startswith(query) and bool(manner.query) == bool(query)
    assert manner.note == note


def test_a_small_or_unknown_model_counts_least() -> None:
    assert manner_of("all-minilm").weight == manner_of("my-own").weight == 1.0
    assert manner_of("bge-m3").weight > manner_of("nomic-embed-text").weight > 1.0


def test_what_a_person_sets_stands_before_what_is_known() -> None:
    assert vectors_of(Server()).manner == manner_of("nomic-embed-text")
    set_here = vectors_of(Server(), query_prefix="", note_prefix="n: ", embed_weight=0.5)
    assert set_here.manner == Manner("", "n: ", 0.5)


def test_other_prefixes_mark_other_vectors() -> None:
    marks = {Manner(query, note).mark for query in ("", "q: ") for note in ("", "n: ")}
    assert len(marks) == 4
    assert Manner().mark == ""
