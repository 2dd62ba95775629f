"""What known models want: the table finds them under the names servers give them."""

from __future__ import annotations

import pytest

from kimi_memory.llm.remote.embedding_models import Manner, chosen, manner_of


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
    assert chosen("nomic-embed-text") == manner_of("nomic-embed-text")
    assert chosen("nomic-embed-text", query="", note="n: ", weight=0.5) == Manner("", "n: ", 0.5)


def test_other_prefixes_mark_other_vectors() -> None:
    marks = {chosen("x", query, note).mark for query in ("", "q: ") for note in ("", "n: ")}
    assert len(marks) == 4
    assert chosen("x").mark == ""
