"""What the tests of the transcript readers share."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

Spoil = Callable[[object], Iterator[object]]

WRONG: tuple[object, ...] = (None, True, -1, 1e308, 10**30, "", "\ud800", [], {}, [[[]]], ["a"])


def _spoiled(value: object) -> Iterator[object]:
    yield from WRONG
    if isinstance(value, dict):
        for key, inner in value.items():
            yield {name: one for name, one in value.items() if name != key}
            yield from ({**value, key: wrong} for wrong in _spoiled(inner))
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from ([*value[:at], wrong, *value[at + 1 :]] for wrong in _spoiled(inner))


@pytest.fixture
def spoil() -> Spoil:
    """Every copy of a JSON value in which one member is wrong or missing."""
    return _spoiled
