"""Invented secrets of forty kinds, and lines that only look like them, one value each."""

from __future__ import annotations

import pytest
from kimi_memory.plugins import privacy

from benchmarks.secret_lines import FOLDER, Line, read_lines
from tests.hostile.conftest import Told

pytestmark = pytest.mark.hostile


def lines(*, secret: bool) -> list[Line]:
    """Return the lines of the files, each filled in once."""
    names = ("first.txt", "kept.txt", "told.txt")
    found = [line for name in names for line in read_lines(FOLDER / name, seed=0)]
    return [line for line in found if bool(line.secrets) is secret]


def test_secrets_are_masked(tell: Told) -> None:
    plugin, tried = privacy.create({}), lines(secret=True)
    missed = [line.text for line in tried if _survives(line, plugin)]
    tell(len(tried), len(tried) - len(missed))
    assert len(tried) >= 200
    assert len(missed) <= 0.03 * len(tried), missed


def test_ordinary_lines_are_left_alone(tell: Told) -> None:
    plugin, tried = privacy.create({}), lines(secret=False)
    flagged = [line.text for line in tried if plugin.screen_text(line.text)]
    tell(len(tried), len(tried) - len(flagged))
    assert len(tried) >= 200
    assert len(flagged) <= 0.005 * len(tried), flagged


def _survives(line: Line, plugin: privacy.Privacy) -> bool:
    """Whether a letter or digit of a secret would be stored."""
    covered = {at for span in plugin.screen_text(line.text) for at in range(span.start, span.end)}
    return any(
        line.text[at].isalnum() and at not in covered
        for secret in line.secrets
        for at in range(line.text.index(secret), line.text.index(secret) + len(secret))
    )
