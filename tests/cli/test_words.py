"""The words of the command line in the reader's language."""

from __future__ import annotations

import re

import pytest

from kimi_memory.cli.words import read_chinese, say


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"LANG": "zh_CN.UTF-8"}, "跳过"),
        ({"LANG": "en_US.UTF-8"}, "skip"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, "skip"),
        ({}, "skip"),
    ],
)
def test_the_language_is_that_of_the_terminal(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], said: str
) -> None:
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert say("skip") == said
    assert say("A text without a translation") == "A text without a translation"


def test_both_languages_have_the_same_places_for_values() -> None:
    for english, chinese in read_chinese().items():
        assert sorted(re.findall(r"{\w+}", english)) == sorted(re.findall(r"{\w+}", chinese))
