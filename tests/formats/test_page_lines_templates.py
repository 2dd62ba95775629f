"""Templates: both languages, no missing values, memory text is never code."""

from __future__ import annotations

import pytest

from kimi_memory.errors import UsageError
from kimi_memory.formats.page_lines import fill, source


@pytest.mark.parametrize("lang", ["zh", "en"])
@pytest.mark.parametrize("template", ["starter/USER", "starter/PROJECT"])
def test_every_template_has_a_language_twin(template: str, lang: str) -> None:
    assert fill(template, lang, name="K").startswith("# ")


def test_a_missing_value_is_an_error_not_a_blank() -> None:
    with pytest.raises(UsageError, match="'name' is undefined"):
        fill("notes/MEMORY", "en", groups=[], more=0, mark="0")


def test_a_missing_template_is_named() -> None:
    with pytest.raises(UsageError, match=r"starter/NOTHING\.en"):
        fill("starter/NOTHING", "en")


def test_a_source_is_the_file_as_it_lies_there() -> None:
    assert source("starter/USER", "en").startswith("{# name: what")
    with pytest.raises(UsageError, match=r"no template starter/NOTHING\.en"):
        source("starter/NOTHING", "en")


def test_memory_text_is_only_a_value() -> None:
    rest = {"groups": [], "more": 0, "mark": "0", "notes": "", "notes_title": ""}
    page = fill("notes/MEMORY", "en", name="{{ 7 * 7 }}", **rest)
    assert "{{ 7 * 7 }}" in page
    assert "49" not in page
