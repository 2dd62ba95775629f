"""Ollama over real HTTP from a scripted server; every failure leaves rules and keywords alone."""

from __future__ import annotations

import json
import logging
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from fakes.llm import Manner, Script, serve
from kimi_memory.plugins.ollama import Ollama, create

from kimi_memory.domain.prompt import Prompt
from kimi_memory.errors import ModelError, UsageError

PROMPT = Prompt(text="总结一下", schema={"type": "object"}, max_tokens=64)


def plugin(host: str, **more: Any) -> Ollama:
    given = {"model": "qwen3:4b", "embed_model": "all-minilm", "host": host, "timeout_seconds": 5}
    return create({**given, "query_seconds": 5, "tries": 1, **more})


def test_without_a_model_it_passes() -> None:
    assert create({}).generate_text(PROMPT) is None
    assert create({}).embed_texts(["a"], "query") is None
    assert plugin("http://127.0.0.1:9").embed_texts(["a"], "similarity") is None


def test_an_answer_comes_back_with_its_cost() -> None:
    script = Script(say=lambda _: '{"好": true}')
    with serve(script) as host:
        reply = plugin(host).generate_text(PROMPT)
    assert reply is not None
    assert (reply.text, reply.model) == ('{"好": true}', "ollama:qwen3:4b")
    assert (reply.tokens_in, reply.tokens_out, reply.cut) == (120, 30, False)
    (asked,) = script.to("/api/chat")
    assert asked["format"] == {"type": "object"}
    assert asked["think"] is False
    assert asked["options"]["num_predict"] == 64
    assert asked["options"]["temperature"] == 0


def test_the_context_is_as_large_as_the_prompt_needs() -> None:
    script = Script()
    with serve(script) as host:
        for text in ("short", "很长的对话。" * 2000):
            plugin(host).generate_text(Prompt(text=text, max_tokens=1000))
    sizes = [one["options"]["num_ctx"] for one in script.to("/api/chat")]
    assert sizes[0] == 2048
    assert sizes[1] >= 10_000
    assert sizes[1] % 2048 == 0


def test_an_answer_that_was_cut_says_so() -> None:
    with serve(Script(finish="length")) as host:
        reply = plugin(host).generate_text(PROMPT)
    assert reply is not None
    assert reply.cut


@pytest.mark.parametrize("manner", ["500", "garbage", "nothing", "broken off", "redirect"])
def test_a_failing_server_is_a_model_error(manner: Manner) -> None:
    with serve(Script(manner=manner)) as host, pytest.raises(ModelError, match="Ollama at http"):
        plugin(host).generate_text(PROMPT)


@pytest.mark.parametrize("manner", ["slow", "drip"])
def test_a_slow_server_costs_its_timeout_at_most(manner: Manner) -> None:
    with serve(Script(manner=manner)) as host, pytest.raises(ModelError):
        began = time.monotonic()
        plugin(host, timeout_seconds=0.3).generate_text(PROMPT)
    assert time.monotonic() - began < 20


def open_lines(host: str) -> int:
    """Return how many lines to a port of this machine are open."""
    port = f":{urlsplit(host).port:04X}"
    rows = Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:]
    return sum(row.split()[2].endswith(port) and row.split()[3] == "01" for row in rows)


@pytest.mark.parametrize("manner", ["well", "500", "drip", "broken off"])
def test_no_line_is_left_open(manner: Manner) -> None:
    with serve(Script(manner=manner)) as host:
        asked = plugin(host, timeout_seconds=0.3, tries=1)
        try:
            asked.generate_text(PROMPT)
        except ModelError as error:
            failure: object = error  # its traceback holds every frame, as a log might
        else:
            failure = None
        assert open_lines(host) == 0, failure


def test_vectors_come_back_as_unit_vectors_with_the_prefix_sent() -> None:
    script = Script(embed=lambda _: [3.0, 4.0])
    with serve(script) as host:
        embed = plugin(host, query_prefix="query: ", note_prefix="passage: ", embed_weight=2)
        found = embed.embed_texts(["部署", "deploy"], "query")
        embed.embed_texts(["x"], "note")
    assert found is not None
    assert found.vectors == [[0.6, 0.8], [0.6, 0.8]]
    assert found.model.startswith("ollama:all-minilm#")
    assert found.weight == 2.0
    assert [one["input"] for one in script.to("/api/embed")] == [
        ["query: 部署", "query: deploy"],
        ["passage: x"],
    ]


def test_a_known_model_gets_its_prefixes_and_weight() -> None:
    script = Script()
    with serve(script) as host:
        found = plugin(host, embed_model="nomic-embed-text").embed_texts(["x"], "query")
    assert found is not None
    assert found.weight == 1.5
    assert script.asked[0]["input"] == ["search_query: x"]


def test_many_texts_are_sent_in_batches_and_come_back_in_order() -> None:
    script = Script(embed=lambda text: [float(text), 1.0])
    with serve(script) as host:
        found = plugin(host, batch=4).embed_texts([str(n) for n in range(1, 11)], "note")
    assert found is not None
    assert sorted(len(one["input"]) for one in script.asked) == [2, 4, 4]
    slopes = [row[0] / row[1] for row in found.vectors]
    assert slopes == pytest.approx(list(range(1, 11)))


@pytest.mark.parametrize(
    "script",
    [
        Script(manner="garbage"),
        Script(manner="nothing"),
        Script(manner="500"),
        Script(manner="redirect"),
        Script(manner="broken off"),
        Script(embed=lambda text: [1.0] * len(text)),
        Script(embed=lambda text: [0.0, 0.0]),
        Script(embed=lambda text: ["x", "y"]),  # type: ignore[arg-type,return-value]  # as a bad server
    ],
    ids=lambda script: script.manner,
)
def test_a_bad_answer_is_told_once_and_passes(
    script: Script, caplog: pytest.LogCaptureFixture
) -> None:
    with serve(script) as host, caplog.at_level(logging.WARNING, "kimi_memory.llm.remote"):
        embed = plugin(host)
        assert embed.embed_texts(["a", "bcd"], "query") is None
        assert embed.embed_texts(["a", "bcd"], "query") is None
    assert len(caplog.records) <= 1


def test_it_recovers_when_the_server_does() -> None:
    script = Script(manner="500")
    with serve(script) as host:
        embed = plugin(host)
        assert embed.embed_texts(["a"], "query") is None
        script.manner = "well"
        assert embed.embed_texts(["a"], "query") is not None


def test_a_dead_server_is_left_alone_after_a_while() -> None:
    embed = plugin("http://127.0.0.1:9")
    for _ in range(5):
        assert embed.embed_texts(["a"], "query") is None
    with pytest.raises(ModelError):
        embed.generate_text(PROMPT)


def test_a_proxy_never_stands_before_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with serve(Script()) as host:
        assert plugin(host).embed_texts(["a"], "query") is not None


def test_a_key_is_sent_where_one_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk-1")
    script = Script()
    with serve(script) as host:
        assert plugin(host, key_env="MY_KEY").embed_texts(["a"], "query") is not None
    assert script.asked[0]["headers"]["authorization"] == "Bearer sk-1"


def test_a_missing_key_is_a_model_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MY_KEY", raising=False)
    with serve(Script()) as host:
        assert plugin(host, key_env="MY_KEY").embed_texts(["a"], "query") is None
        with pytest.raises(ModelError, match="MY_KEY is empty"):
            plugin(host, key_env="MY_KEY").generate_text(PROMPT)


def test_the_request_is_what_the_server_documents() -> None:
    script = Script()
    with serve(script) as host:
        plugin(host, dimensions=256).embed_texts(["a"], "note")
    sent = json.loads(json.dumps(script.to("/api/embed")[0]))
    assert sent["dimensions"] == 256
    assert sent["model"] == "all-minilm"


@pytest.mark.parametrize(
    "settings",
    [{"model": 3}, {"timeout_seconds": 0}, {"batch": True}, {"host": None}, {"query_prefix": 1}],
)
def test_wrong_settings_are_named(settings: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"plugins\.ollama\."):
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
