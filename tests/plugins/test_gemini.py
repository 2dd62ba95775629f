"""The API of Gemini over real HTTP; models that take less of it are learnt from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fakes.llm import Manner, Script, serve
from kimi_memory.plugins.gemini import THINKING_TOKENS, Gemini, create

from kimi_memory.domain.health import Severity
from kimi_memory.domain.prompt import Prompt
from kimi_memory.errors import ModelError, UsageError

SCHEMA = {
    "type": "object",
    "required": ["type"],
    "properties": {
        "type": {"type": "string", "enum": ["rule", "fact"]},
        "all": {"type": "array", "maxItems": 3, "items": {"type": "integer"}},
    },
}
PROMPT = Prompt(text="总结一下", schema=SCHEMA, max_tokens=64)
GENERATE, EMBED = "/v1beta/models/gemini-x:generateContent", "/v1beta/models/e-1:batchEmbedContents"


def plugin(host: str, **more: Any) -> Gemini:
    given = {"base_url": f"{host}/v1beta", "model": "models/gemini-x", "embed_model": "e-1"}
    return create({**given, "timeout_seconds": 5, "query_seconds": 5, "tries": 1, **more})


def test_without_a_model_it_passes() -> None:
    assert create({}).generate_text(PROMPT) is None
    assert create({}).embed_texts(["a"], "query") is None


def test_the_request_has_the_form_of_the_api(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "k-1")
    script = Script(say=lambda _: '{"type": "rule"}')
    with serve(script) as host:
        reply = plugin(host, key_env="MY_KEY").generate_text(PROMPT)
    assert reply is not None
    assert (reply.text, reply.model, reply.cut) == ('{"type": "rule"}', "gemini:gemini-x", False)
    assert (reply.tokens_in, reply.tokens_out) == (120, 35)
    (asked,) = script.to(GENERATE)
    headers = asked.pop("headers")
    assert headers["x-goog-api-key"] == "k-1"
    assert "authorization" not in headers
    assert asked.pop("path") == GENERATE
    assert asked == {
        "contents": [{"role": "user", "parts": [{"text": "总结一下"}]}],
        "generationConfig": {
            "temperature": 0,
            "maxOutputTokens": 64,
            "thinkingConfig": {"thinkingBudget": 0},
            "responseMimeType": "application/json",
            "responseSchema": {
                "type": "OBJECT",
                "required": ["type"],
                "properties": {
                    "type": {"type": "STRING", "enum": ["rule", "fact"]},
                    "all": {"type": "ARRAY", "maxItems": 3, "items": {"type": "INTEGER"}},
                },
            },
        },
    }


@pytest.mark.parametrize(
    ("refuses", "sent"),
    [
        (("thinkingConfig",), 2),
        (("responseSchema",), 2),
        (("thinkingConfig", "responseSchema", "responseMimeType"), 4),
    ],
)
def test_what_a_model_refuses_is_left_out_from_then_on(refuses: tuple[str, ...], sent: int) -> None:
    script = Script(say=lambda _: "{}", refuses=refuses)
    with serve(script) as host:
        model = plugin(host)
        assert model.generate_text(PROMPT) is not None
        assert len(script.asked) == sent
        assert model.generate_text(PROMPT) is not None
    assert len(script.asked) == sent + 1
    config = script.asked[-1]["generationConfig"]
    assert not set(refuses) & set(config)
    more = THINKING_TOKENS if "thinkingConfig" in refuses else 0
    assert config["maxOutputTokens"] == 64 + more


def test_a_refusal_that_nothing_explains_is_an_error() -> None:
    with serve(Script(refuses=("contents",))) as host, pytest.raises(ModelError, match="400"):
        plugin(host).generate_text(PROMPT)


def test_a_blocked_prompt_says_why_and_a_cut_answer_is_marked() -> None:
    with (
        serve(Script(finish="blocked")) as host,
        pytest.raises(ModelError, match=r"refused the prompt \(SAFETY\)"),
    ):
        plugin(host).generate_text(PROMPT)
    with serve(Script(say=lambda _: '{"a": 1', finish="length")) as host:
        reply = plugin(host).generate_text(PROMPT)
    assert reply is not None
    assert reply.cut


@pytest.mark.parametrize("manner", ["500", "garbage", "nothing", "broken off", "redirect"])
def test_a_failing_server_is_a_model_error(manner: Manner) -> None:
    with serve(Script(manner=manner)) as host:
        with pytest.raises(ModelError, match=r"http://127\.0\.0\.1"):
            plugin(host).generate_text(PROMPT)
        assert plugin(host).embed_texts(["a"], "note") is None


def test_vectors_come_in_one_request() -> None:
    script = Script()
    with serve(script) as host:
        found = plugin(host, dimensions=16).embed_texts(["茶", "tea"], "note")
        assert plugin(host).embed_texts(["tea"], "similarity") is None
    assert found is not None
    assert found.model == "gemini:e-1/16"
    assert len(found.vectors) == 2
    (asked,) = script.to(EMBED)
    assert asked["requests"] == [
        {"model": "models/e-1", "outputDimensionality": 16, "content": {"parts": [{"text": text}]}}
        for text in ("茶", "tea")
    ]


@pytest.mark.parametrize("vector", [[0.0, 0.0], ["x"]])
def test_vectors_that_do_not_fit_are_none(vector: list[Any]) -> None:
    with serve(Script(embed=lambda _: vector)) as host:
        assert plugin(host).embed_texts(["a"], "query") is None


def test_health_asks_both_models(tmp_path: Path) -> None:
    with serve(Script()) as host:
        assert {one.severity for one in plugin(host).check_health(tmp_path)} <= {Severity.OK}
    (away, _) = plugin("http://127.0.0.1:9").check_health(tmp_path)
    assert away.severity is not Severity.OK
    assert "127.0.0.1:9" in away.message


def test_a_setting_of_the_wrong_type_is_named() -> None:
    with pytest.raises(UsageError, match=r"plugins\.gemini\.model"):
        create({"model": 3})
