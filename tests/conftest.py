"""Fixtures every test may ask for: the docstring's text, a clock, the real-data folder."""

from __future__ import annotations

import gc
import importlib.util
import os
import textwrap
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import settings

from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.hooks.host import Host

os.environ["TZ"] = "UTC"  # Days follow the zone of the machine: of all machines the same.
if hasattr(time, "tzset"):
    time.tzset()
settings.register_profile("default", deadline=None, print_blob=True)
settings.register_profile("ci", deadline=None, print_blob=True, derandomize=True, max_examples=30)
settings.register_profile("thorough", deadline=None, print_blob=True, max_examples=2000)
settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "default")
)

# What is collected lives to the end: the collector would look through all of it again and again.
gc.disable()


def pytest_collection_finish() -> None:
    """Collect garbage from here on, but leave out what lives to the end."""
    gc.freeze()
    gc.enable()


class Clock:
    """A clock that stands still until it is set or moved."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def set(self, now: datetime) -> None:
        """Show another moment; a naive one is an error of the test."""
        assert now.tzinfo is not None, "the clock shows aware times only"
        self.now = now

    def move(self, **by: float) -> datetime:
        """Go on by so many days, hours, minutes or seconds; return the new moment."""
        self.now += timedelta(**by)
        return self.now


@pytest.fixture
def clock() -> Clock:
    """A clock at Friday, 27 February 2026, 09:00 UTC."""
    return Clock(datetime(2026, 2, 27, 9, 0, tzinfo=UTC))


@pytest.fixture
def doc(request: pytest.FixtureRequest) -> str:
    """The docstring of the test, without its indentation: the test's input file."""
    text = request.function.__doc__
    assert text, "the test has no docstring to take its input from"
    return textwrap.dedent(text.removeprefix("\n"))


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of real conversations that KIMI_MEMORY_DATA names."""
    place = os.environ.get("KIMI_MEMORY_DATA", "")
    if not place or not Path(place).is_dir():
        pytest.skip("needs real data: KIMI_MEMORY_DATA names no folder")
    return Path(place)


@pytest.fixture(scope="session", autouse=True)
def empty_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home directory with nothing in it, so that no test meets its runner's settings."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        for name in list(os.environ):
            if name.startswith(("XDG_", "GIT_")) or name == "KIMI_MEMORY":
                patch.delenv(name)
        yield home


@pytest.fixture(scope="session")
def grown_sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample in `memory/` with its history, made by the real jobs; copy it, never write in it.

    The folder holds ``memory`` and ``home``, the directories of its user.
    """
    root = tmp_path_factory.mktemp("grown")
    script = Path(__file__).parent.parent / "docs/sample.py"
    spec = importlib.util.spec_from_file_location("docs_sample", script)
    assert spec is not None and spec.loader is not None
    sample = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sample)
    sample.grow(root / "memory", root / "home")
    return root


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A user's own directories, empty."""
    return Home(tmp_path / "config", tmp_path / "state")


@pytest.fixture
def opening(home: Home, clock: Clock) -> Opening:
    """How the tests open memories: bundled plugins, the test's clock, no thread."""
    return Opening(home=home, clock=clock, host=Host(entry_points=False), background=False)


@pytest.fixture
def memory(tmp_path: Path, opening: Opening) -> Iterator[Memory]:
    """A new memory with history in ``tmp_path/memory``."""
    with Memory.create(tmp_path / "memory", opening=opening) as made:
        yield made
