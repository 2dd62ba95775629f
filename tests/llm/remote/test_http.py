"""JSON over real sockets: every way a server can fail has one error and a bounded wait."""

from __future__ import annotations

import logging
import time

import pytest
from fakes.llm import Manner, Script, serve

from kimi_memory.errors import ModelError
from kimi_memory.llm.remote.http import Wire

BODY = {"messages": [{"role": "user", "content": "你好"}]}


def post(base: str, seconds: float = 5) -> object:
    return Wire(base + "/", lambda: "", seconds).post("/v1/chat/completions", BODY)


def test_what_the_server_says_comes_back() -> None:
    script = Script(say=lambda prompt: prompt[::-1])
    with serve(script) as host:
        answer = post(host)
    assert isinstance(answer, dict)
    assert answer["choices"][0]["message"]["content"] == "好你"
    assert "authorization" not in script.asked[0]["headers"]


@pytest.mark.parametrize(
    ("manner", "passing", "told"),
    [
        ("500", True, "answered 500: out of memory"),
        ("redirect", False, "answered 302"),
        ("garbage", True, "did not answer with JSON"),
        ("nothing", True, "did not answer with JSON"),
        ("broken off", True, "peer closed connection"),
    ],
)
def test_a_failing_server_has_one_error(manner: Manner, passing: bool, told: str) -> None:
    with serve(Script(manner=manner)) as host, pytest.raises(ModelError, match=told) as failed:
        post(host)
    assert failed.value.passing is passing
    assert str(failed.value).startswith("http://127.0.0.1:")


@pytest.mark.parametrize(
    ("manner", "told"), [("slow", "gave no answer in 0.3 s"), ("drip", "at the deadline")]
)
def test_a_slow_server_costs_its_time_and_no_more(manner: Manner, told: str) -> None:
    with serve(Script(manner=manner)) as host, pytest.raises(ModelError, match=told) as failed:
        began = time.monotonic()
        post(host, 0.3)
    assert not failed.value.passing
    assert time.monotonic() - began < 20


def test_an_endless_answer_is_not_read_to_its_end() -> None:
    with (
        serve(Script(say=lambda _: "x" * 1000)) as host,
        pytest.raises(ModelError, match="more than 100 bytes"),
    ):
        Wire(host, lambda: "", 5, limit=100).post("/v1/chat/completions", BODY)


@pytest.mark.parametrize("base", ["http://127.0.0.1:9", "nowhere", "ftp://127.0.0.1", "http://"])
def test_no_server_is_no_answer(base: str) -> None:
    with pytest.raises(ModelError) as failed:
        post(base)
    assert not failed.value.passing or base == "http://"


def test_a_number_is_no_answer() -> None:
    with (
        serve(Script(say=lambda _: "7")) as host,
        pytest.raises(ModelError, match="not answer with a JSON"),
    ):
        Wire(host, lambda: "", 5).post("/rerank", {})


def test_the_key_is_asked_for_once_and_sent_as_bearer() -> None:
    script, asked = Script(), []

    def key() -> str:
        asked.append(1)
        return "sk-1"

    with serve(script) as host:
        line = Wire(host, key, 5)
        line.post("/v1/chat/completions", BODY)
        line.post("/v1/chat/completions", BODY)
    assert {one["headers"]["authorization"] for one in script.asked} == {"Bearer sk-1"}
    assert len(asked) == 1


def test_a_key_over_an_open_line_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "kimi_memory.llm.remote"), pytest.raises(ModelError):
        Wire("http://server.invalid", lambda: "sk-1", 5).post("/x", {})
    assert "unencrypted" in caplog.text


def test_a_proxy_never_stands_before_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with serve(Script()) as host:
        assert post(host)
