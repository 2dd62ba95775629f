"""The line of a key in a TOML file."""

from __future__ import annotations

import pytest

from kimi_memory.formats.toml_lines import find_line

TEXT = """name = 1
# limit = 0
[recall]
  "limit" = 3
[ plugins.words ]
limit=4
[[ schedule ]]
"""


@pytest.mark.parametrize(
    ("name", "below", "line"),
    [
        ("name", "", 1),
        ("recall", "", 3),
        ("limit", "recall", 4),
        ("plugins.words", "", 5),
        ("limit", "plugins.words", 6),
        ("schedule", "", 7),
        ("name", "recall", 1),
        ("unknown", "", 1),
    ],
)
def test_a_table_or_a_key_in_it_is_found(name: str, below: str, line: int) -> None:
    assert find_line(TEXT, name, below) == line
