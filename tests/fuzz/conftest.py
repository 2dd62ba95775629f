"""How long the fuzzer may look for trouble."""

from __future__ import annotations

import pytest

QUICK_SECONDS = 0.1
"""Seconds per target where nobody asked for more."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--fuzz-seconds",
        type=float,
        help=f"seconds of fuzzing per target (default: {QUICK_SECONDS})",
    )


@pytest.fixture
def seconds(request: pytest.FixtureRequest) -> float:
    """Seconds to spend on the target of the test."""
    return request.config.getoption("--fuzz-seconds", None) or QUICK_SECONDS


@pytest.fixture
def is_long(seconds: float) -> bool:
    """Whether the run has time for what takes long."""
    return seconds >= 10


@pytest.fixture
def patience(seconds: float, request: pytest.FixtureRequest) -> float:
    """Seconds for a target; its own time limit leaves room for shrinking what is found."""
    request.node.add_marker(pytest.mark.timeout(300 + 10 * seconds))
    return seconds
