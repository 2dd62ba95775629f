"""A second look over real HTTP or by a language model; failing leaves the first look."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fakes.llm import Manner, Script, serve
from kimi_memory.plugins.reranker import JUDGED, create

from kimi_memory import hookimpl
from kimi_memory.domain.prompt import Prompt, Reply
from kimi_memory.errors import ModelError, UsageError
from kimi_memory.hooks.host import Host
from kimi_memory.llm.usage import metered

QUERY, TEXTS = "数据库端口是多少？", ["今天天气好", "端口是 5432", "我们用 Python"]
SCORES = [0.1, 9.5, 1.0]


def told(shape: str) -> Script:
    """A server that answers in the form one of the known ones has."""
    pairs = sorted(enumerate(SCORES), key=lambda pair: -pair[1])
    if shape == "tei":
        answer: Any = [{"index": n, "score": score} for n, score in pairs]
    elif shape == "data":
        answer = {"data": [{"index": n, "relevance_score": score} for n, score in pairs]}
    else:
        answer = {"results": [{"index": n, "relevance_score": score} for n, score in pairs]}
    return Script(say=lambda _: json.dumps(answer))


def host_with(**settings: Any) -> Host:
    return Host({"reranker": settings}, entry_points=False)


@pytest.mark.parametrize("shape", ["cohere", "data", "tei"])
def test_hook_rerank(shape: str) -> None:
    script = told(shape)
    with serve(script) as base:
        found = host_with(base_url=base, model="bge-reranker", timeout_seconds=5).answer(
            "rerank", query=QUERY, texts=TEXTS
        )
    assert found == SCORES
    (asked,) = script.to("/rerank")
    assert (asked["query"], asked["documents"], asked["texts"]) == (QUERY, TEXTS, TEXTS)
    assert (asked["model"], asked["top_n"]) == ("bge-reranker", 3)


def test_without_settings_it_passes() -> None:
    assert Host(entry_points=False).answer("rerank", query=QUERY, texts=TEXTS) is None
    assert host_with().answer("rerank", query=QUERY, texts=TEXTS) is None
    assert host_with(judge=True).answer("rerank", query=QUERY, texts=TEXTS) is None


def test_a_long_text_is_cut() -> None:
    script = told("cohere")
    with serve(script) as base:
        host_with(base_url=base).answer("rerank", query=QUERY, texts=["长" * 9999, "b", "c"])
    assert len(script.asked[0]["documents"][0]) == 1500
    assert "model" not in script.asked[0]


@pytest.mark.parametrize("manner", ["500", "garbage", "nothing", "broken off", "slow"])
def test_a_failing_server_is_a_model_error(manner: Manner) -> None:
    with serve(Script(manner=manner)) as base, pytest.raises(ModelError):
        host_with(base_url=base, timeout_seconds=0.5).answer("rerank", query=QUERY, texts=TEXTS)


@pytest.mark.parametrize(
    "answer",
    [
        {},
        [],
        {"results": [{"index": 0, "relevance_score": 1.0}]},
        {"results": [{"relevance_score": 1.0}] * 3},
        {"results": [{"index": n} for n in range(3)]},
        {"results": [{"index": n, "score": "high"} for n in range(3)]},
        {"results": 7},
    ],
    ids=str,
)
def test_an_answer_without_every_score_is_a_model_error(answer: Any) -> None:
    with (
        serve(Script(say=lambda _: json.dumps(answer))) as base,
        pytest.raises(ModelError, match="no score for each text"),
    ):
        host_with(base_url=base).answer("rerank", query=QUERY, texts=TEXTS)


class Judge:
    """A language model that scores as it is told."""

    def __init__(self, scores: list[float]) -> None:
        self.scores, self.prompts = scores, list[str]()

    @hookimpl
    def generate_text(self, prompt: Prompt) -> Reply:
        """Answer with the scores."""
        self.prompts.append(prompt.text)
        return Reply(text=json.dumps({"scores": self.scores}), model="echo", tokens_in=9)


def test_a_language_model_may_judge() -> None:
    host, judge = host_with(judge=True), Judge(SCORES)
    host.register(judge, "judge")
    with metered() as meter:
        assert host.answer("rerank", query=QUERY, texts=TEXTS) == SCORES
    assert meter.tokens_in == 9
    (prompt,) = judge.prompts
    assert "| 2. 端口是 5432" in prompt
    assert "打分" in prompt


def test_what_the_judge_was_not_shown_stays_behind_in_order() -> None:
    texts = [f"text {n}" for n in range(JUDGED + 3)]
    host = host_with(judge=True)
    host.register(Judge([float(n) for n in range(JUDGED)]), "judge")
    found = host.answer("rerank", query="which text?", texts=texts)
    assert found[:JUDGED] == list(range(JUDGED))
    assert found[JUDGED:] == [-1.0, -2.0, -3.0]


def test_a_judge_with_too_few_scores_is_a_model_error() -> None:
    host = host_with(judge=True)
    host.register(Judge([1.0]), "judge")
    with pytest.raises(ModelError, match="no score for each"):
        host.answer("rerank", query=QUERY, texts=TEXTS)


@pytest.mark.parametrize("settings", [{"base_url": 1}, {"judge": "yes"}, {"timeout_seconds": 0}])
def test_wrong_settings_are_named(settings: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"plugins\.reranker\."):
        create(settings)
