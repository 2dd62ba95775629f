"""Settings of a plugin: what fits is returned, what does not is named with its table."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kimi_memory.errors import ModelError, UsageError
from kimi_memory.llm.remote.settings import Choices, find_key

KEYRING = """
class errors:
    class KeyringError(Exception): ...
def get_password(service, entry):
    if entry == "locked":
        raise errors.KeyringError("it is locked")
    return {("kimi_memory", "silicon"): "sk-9"}.get((service, entry))
"""


def test_what_is_chosen_counts_and_the_rest_has_defaults() -> None:
    choices = Choices("x", {"a": "部署", "b": 2, "c": 0.5, "d": False})
    assert choices.text("a") == "部署"
    assert choices.text("z", "far") == "far"
    assert (choices.whole("b", 1), choices.whole("z", 7)) == (2, 7)
    assert (choices.number("c", 1), choices.number("b", 1), choices.number("z", 3)) == (0.5, 2, 3)
    assert (choices.flag("d", default=True), choices.flag("z", default=True)) == (False, True)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        *(("text", value) for value in (3, None, True, ["a"])),
        *(("number", value) for value in (0, -1, "5", True, None)),
        *(("whole", value) for value in (0, 1.5, "5", True, None)),
        *(("flag", value) for value in (0, 1, "yes", None)),
    ],
)
def test_a_wrong_value_is_named(kind: str, value: Any) -> None:
    choices = Choices("x", {"a": value})
    with pytest.raises(UsageError, match=r"plugins\.x\.a is"):
        if kind == "flag":
            choices.flag("a", default=True)
        else:
            getattr(choices, kind)("a", 1)


def test_without_a_place_there_is_no_key() -> None:
    assert find_key("", "") == ""


def test_a_key_comes_from_the_variable_that_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", " sk-1\n")
    assert find_key("SOME_KEY", "") == "sk-1"


@pytest.mark.parametrize("value", ["", "  "])
def test_an_empty_variable_is_named(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("SOME_KEY", value)
    with pytest.raises(ModelError, match="SOME_KEY is empty"):
        find_key("SOME_KEY", "")


@pytest.fixture
def keyring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A keyring package, as installed as any other."""
    (tmp_path / "keyring.py").write_text(KEYRING, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    before = sys.modules.pop("keyring", None)
    importlib.invalidate_caches()
    yield
    sys.modules.pop("keyring", None)
    if before is not None:
        sys.modules["keyring"] = before


@pytest.mark.usefixtures("keyring")
def test_a_key_comes_from_the_keyring() -> None:
    assert find_key("", "silicon") == "sk-9"


@pytest.mark.usefixtures("keyring")
@pytest.mark.parametrize(
    ("entry", "told"), [("other", "keyring set kimi_memory other"), ("locked", "it is locked")]
)
def test_a_keyring_without_the_key_says_what_to_do(entry: str, told: str) -> None:
    with pytest.raises(ModelError, match=told):
        find_key("", entry)


def test_a_missing_keyring_package_is_named() -> None:
    if importlib.util.find_spec("keyring") is not None:
        pytest.skip("keyring is installed here")
    with pytest.raises(ModelError, match="keyring package is missing"):
        find_key("", "any")
