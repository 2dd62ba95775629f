"""A memory with a past: statements that were learned, replaced and forgotten, day by day."""

from __future__ import annotations

import subprocess
from typing import NamedTuple

import pytest

from kimi_memory import Memory
from tests.conftest import Clock


class Past(NamedTuple):
    """The ids of the jobs that made it, in order."""

    first: str
    second: str
    other: str


@pytest.fixture
def past(memory: Memory, clock: Clock) -> Past:
    """Give a memory a port of two days, and a colour of a third."""
    first = memory.remember("The deploy port is 8080.", key="deploy.port").id
    clock.move(days=1)
    second = memory.remember("The deploy port is 8443 now.", key="deploy.port").id
    clock.move(days=1)
    other = memory.remember("The sign of the shop is blue.", key="sign.colour").id
    clock.move(days=1)
    return Past(first, second, other)


def git(memory: Memory, *words: str) -> str:
    """Run git in a memory as a person would."""
    who = ("-c", "user.name=Li", "-c", "user.email=li@example.org")
    done = subprocess.run(
        ["git", *who, *words], cwd=memory.root, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()
