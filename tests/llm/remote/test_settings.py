"""Settings of a plugin: what fits is returned, what does not is named with its table."""

from __future__ import annotations

from typing import Any

import pytest

from kimi_memory.errors import UsageError
from kimi_memory.llm.remote.settings import Choices


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
