"""The API of OpenAI over real HTTP; servers that know less of it are learnt from."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from fakes.llm import Manner, Script, serve
from kimi_memory.plugins.openai_compatible import OpenAICompatible, create

from kimi_memory.domain.prompt import Prompt
from kimi_memory.errors import ModelError, UsageError

SCHEMA = {"type": "object"}
PROMPT = Prompt(text="总结一下", schema=SCHEMA, max_tokens=64)


def plugin(host: str, **more: Any) -> OpenAICompatible:
    given = {"base_url": f"{host}/v1", "model": "gpt", "embed_model": "bge-m3"}
    return create({**given, "timeout_seconds": 5, "query_seconds": 5, "tries": 1, **more})


@pytest.mark.parametrize(
    "settings", [{}, {"model": "m", "embed_model": "e"}, {"base_url": "http://x"}]
)
def test_without_server_and_model_it_passes(settings: dict[str, Any]) -> None:
    assert create(settings).generate_text(PROMPT) is None
    assert create(settings).embed_texts(["a"], "query") is None


def test_an_answer_comes_back_with_its_cost() -> None:
    script = Script(say=lambda _: '{"好": true}')
    with serve(script) as host:
        reply = plugin(host).generate_text(PROMPT)
    assert reply is not None
    assert reply.model == "openai_compatible:gpt"
    assert (reply.text, reply.tokens_in, reply.tokens_out) == ('{"好": true}', 120, 30)
    (asked,) = script.to("/v1/chat/completions")
    assert asked["max_tokens"] == 64
    assert asked["temperature"] == 0
    assert asked["response_format"]["json_schema"]["schema"] == SCHEMA


@pytest.mark.parametrize(
    ("refuses", "form", "sent"),
    [
        ((), "json_schema", 1),
        (("json_schema",), "json_object", 2),
        (("json_schema", "json_object"), None, 3),
        (("max_tokens",), "json_schema", 2),
        (("temperature",), "json_schema", 2),
        (("json_schema", "json_object", "max_tokens", "temperature"), None, 5),
    ],
)
def test_what_a_server_refuses_is_left_out_from_then_on(
    refuses: tuple[str, ...], form: str | None, sent: int
) -> None:
    script = Script(say=lambda _: "{}", refuses=refuses)
    with serve(script) as host:
        model = plugin(host)
        assert model.generate_text(PROMPT) is not None
        assert len(script.asked) == sent
        assert model.generate_text(PROMPT) is not None
    assert len(script.asked) == sent + 1
    last = script.asked[-1]
    assert last.get("response_format", {}).get("type") == form
    assert ("max_completion_tokens" in last) == ("max_tokens" in refuses)


def test_a_refusal_that_nothing_explains_is_an_error() -> None:
    with serve(Script(refuses=("model",))) as host, pytest.raises(ModelError, match="400"):
        plugin(host).generate_text(PROMPT)


@pytest.mark.parametrize("manner", ["500", "garbage", "nothing", "broken off", "redirect"])
def test_a_failing_server_is_a_model_error(manner: Manner) -> None:
    with serve(Script(manner=manner)) as host:
        with pytest.raises(ModelError, match=r"http://127\.0\.0\.1"):
            plugin(host).generate_text(PROMPT)
        assert plugin(host).embed_texts(["a"], "query") is None


@pytest.mark.parametrize("manner", ["slow", "drip"])
def test_a_slow_server_costs_its_timeout_at_most(manner: Manner) -> None:
    with serve(Script(manner=manner)) as host:
        began = time.monotonic()
        with pytest.raises(ModelError):
            plugin(host, timeout_seconds=0.3).generate_text(PROMPT)
        assert plugin(host, query_seconds=0.3).embed_texts(["a"], "query") is None
    assert time.monotonic() - began < 20


class Odd(Script):
    """A server whose JSON is not what was asked for."""

    reply: Any = None

    def answer(self, path: str, body: dict[str, Any]) -> Any:
        return self.reply


ODD: list[Any] = [
    [],
    {},
    {"choices": []},
    {"choices": [{}]},
    {"choices": [{"message": {"content": 7}}]},
    {"choices": [{"message": None}]},
    {"data": [{"index": 0}]},
    {"data": [{"index": 1, "embedding": [1.0]}]},
    {"data": [{"index": 0, "embedding": []}]},
    {"data": [{"index": 0, "embedding": ["x"]}]},
    {"data": 7},
]


@pytest.mark.parametrize("reply", ODD, ids=str)
def test_an_odd_answer_is_a_model_error(reply: Any) -> None:
    script = Odd()
    script.reply = reply
    with serve(script) as host:
        with pytest.raises(ModelError):
            plugin(host).generate_text(PROMPT)
        assert plugin(host).embed_texts(["a"], "query") is None


def test_an_answer_without_text_or_counts_is_empty() -> None:
    script = Odd()
    script.reply = {"choices": [{"message": {"content": None}, "finish_reason": "length"}]}
    with serve(script) as host:
        reply = plugin(host).generate_text(PROMPT)
    assert reply is not None
    assert (reply.text, reply.tokens_in, reply.cut) == ("", 0, True)


def test_vectors_come_back_in_order_and_of_unit_length() -> None:
    script = Script(embed=lambda text: [float(text), 1.0])
    with serve(script) as host:
        found = plugin(host, batch=3, dimensions=2).embed_texts(
            [str(n) for n in range(1, 8)], "note"
        )
    assert found is not None
    slopes = [row[0] / row[1] for row in found.vectors]
    assert slopes == pytest.approx(list(range(1, 8)))
    assert all(row[0] ** 2 + row[1] ** 2 == pytest.approx(1.0) for row in found.vectors)
    assert {one["dimensions"] for one in script.to("/v1/embeddings")} == {2}
    assert found.model.endswith("/v1:bge-m3/2")
    assert found.weight == 2.0


def test_a_server_is_asked_no_faster_than_it_may_be() -> None:
    """Over real sockets, from several threads: six requests, a tenth of a second apart."""
    began: list[float] = []

    def embed(text: str) -> list[float]:
        began.append(time.monotonic())
        return [float(text), 1.0]

    with serve(Script(embed=embed)) as host:
        paced = plugin(host, batch=1, at_once=4, per_minute=600)
        assert paced.embed_texts(["0"], "note") is not None  # What loads its modules.
        began.clear()
        assert paced.embed_texts([str(n) for n in range(1, 7)], "note") is not None
    assert len(began) == 6
    assert max(began) - min(began) >= 0.45  # Five spans; the first answer may have been late.


def test_the_key_is_that_of_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SILICON", "sk-7")
    script = Script()
    with serve(script) as host:
        plugin(host, key_env="SILICON").embed_texts(["a"], "note")
    assert script.asked[0]["headers"]["authorization"] == "Bearer sk-7"


@pytest.mark.parametrize(
    "settings", [{"base_url": 3}, {"timeout_seconds": -1}, {"batch": 0}, {"key_env": True}]
)
def test_wrong_settings_are_named(settings: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"plugins\.openai_compatible\."):
        create(settings)


def test_the_doctor_asks_each_model_once(tmp_path: Path) -> None:
    script = Script(say=lambda _: "ok")
    with serve(script) as host:
        model = plugin(host)
        said = {one.message: str(one.severity) for one in model.check_health(tmp_path)}
    assert list(said.values()) == ["ok", "ok"]
    assert len(script.asked) == 2
    # The server is gone now.
    dead = model.check_health(tmp_path)
    assert [str(one.severity) for one in dead] == ["warning", "warning"]
    assert all("does not answer" in one.message and host in one.message for one in dead)
    assert create({}).check_health(tmp_path) == []
