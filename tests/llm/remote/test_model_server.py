"""A server of models: what a plugin adds is two requests, the rest is the same for all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kimi_memory.domain.health import Severity
from kimi_memory.domain.prompt import Prompt, Reply
from kimi_memory.errors import ModelError, UsageError
from kimi_memory.llm.remote.model_server import ModelServer
from kimi_memory.llm.remote.settings import Choices


class Answering(ModelServer):
    """Answers with how long it may take; its embedding model is away."""

    def _request_reply(self, prompt: Prompt, seconds: float) -> Reply:
        return Reply(text=f"{prompt.text} {seconds:g}", model=self._model)

    def _embed_batch(self, texts: list[str], seconds: float) -> list[list[float]]:
        if "away" in self._embed_model:
            raise ModelError("It is away.")
        return [[1.0, 0.0] for _ in texts]


def server(address: str = "there", **settings: Any) -> Answering:
    return Answering(Choices("mine", {"tries": 1, **settings}), address, seconds=7)


def test_a_model_is_asked_once_it_is_named() -> None:
    prompt = Prompt(text="部署", max_tokens=8)
    assert server().generate_text(prompt) is None
    reply = server(model="m").generate_text(prompt)
    assert reply is not None
    assert reply.text == "部署 7"


def test_a_model_without_a_server_is_not_asked() -> None:
    away = server("", model="m", embed_model="e")
    assert away.generate_text(Prompt(text="x", max_tokens=8)) is None
    assert away.embed_texts(["x"], "note") is None
    assert away.check_health(Path()) == []


@pytest.mark.parametrize(
    ("settings", "name"),
    [({}, "mine:e"), ({"dimensions": 2}, "mine:e/2"), ({"note_prefix": "p"}, "mine:e#")],
    ids=["plain", "shorter vectors", "with a prefix"],
)
def test_the_name_of_vectors_says_what_made_them(settings: dict[str, Any], name: str) -> None:
    found = server(embed_model="e", **settings).embed_texts(["x"], "note")
    assert found is not None
    assert found.model.startswith(name)
    assert ("#" in found.model) == name.endswith("#")


def test_each_model_is_checked_with_one_word() -> None:
    answers, fails = server(model="m", embed_model="away").check_health(Path())
    assert (answers.severity, answers.message) == (Severity.OK, "mine: m answers")
    assert (fails.severity, fails.message) == (
        Severity.WARNING,
        "mine: away does not answer: It is away",
    )
    assert "[plugins.mine]" in fails.remedy


def test_a_wrong_setting_is_named() -> None:
    with pytest.raises(UsageError, match=r"plugins\.mine\.dimensions"):
        server(dimensions="many")
