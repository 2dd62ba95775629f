"""Keys come from the environment or the keyring; where there is none, the place is named."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kimi_memory.errors import ModelError
from kimi_memory.llm.remote.api_keys import find_key

KEYRING = """
class errors:
    class KeyringError(Exception): ...
def get_password(service, entry):
    if entry == "locked":
        raise errors.KeyringError("it is locked")
    return {("kimi_memory", "silicon"): "sk-9"}.get((service, entry))
"""


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
