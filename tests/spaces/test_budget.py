"""A space bounds the tokens of a day for all its memories together."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

pytest.importorskip("cedarpy", reason="needs the library of kimi-memory[team]")

from kimi_memory import Memory, Opening, hookimpl
from kimi_memory.api.options import Home
from kimi_memory.cli import run
from kimi_memory.domain.job import JobReport, TokenBound
from kimi_memory.errors import FormatError
from kimi_memory.spaces.space_folder import SpaceFolder
from tests.jobs.test_job_usage import Asking

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
Ask = Callable[..., JobReport]


@pytest.fixture
def ask(home: Home, opening: Opening, tmp_path: Path) -> Ask:
    """Run a job in one of two memories of a space, or in a third one; each asks for 100 tokens."""
    space = SpaceFolder.create(home, "shop", tmp_path / "space")
    for name in ("tea", "茶", "apart"):
        with Memory.create(tmp_path / name, opening=opening) as memory:
            if name != "apart":
                space.share(memory.settings.memory.id, name, memory.root)

    def asked(name: str, number: int, at: datetime = NOON) -> JobReport:
        with Memory.open(tmp_path / name, replace(opening, clock=lambda: at)) as memory:
            return memory.run(Asking(number))

    return asked


def test_memories_of_a_space_share_the_tokens_of_a_day(home: Home, ask: Ask) -> None:
    space = SpaceFolder.open(home, "shop")
    space.bound(150)
    assert [ask("tea", 0).spent.calls, ask("茶", 1).spent.calls] == [1, 1]
    refused = ask("tea", 2)
    assert not refused.spent.calls and refused.paths == ("inbox/2.md",)
    assert "150 tokens of today of the space shop are spent" in refused.left_out[0]
    assert not ask("茶", 3).spent.calls and ask("apart", 4).spent.calls == 1
    assert ask("tea", 5, NOON + timedelta(days=1)).spent.calls == 1
    space.bound(0)
    assert ask("tea", 6).spent.calls == 1
    assert "tokens_per_day" not in (space.root / "space.toml").read_text()


def test_what_is_not_known_is_not_spent(home: Home, ask: Ask) -> None:
    space = SpaceFolder.open(home, "shop")
    with (space.root / "space.toml").open("a") as file:
        file.write("\n[budget]\ntokens_per_day = -1\n")
    refused = ask("tea", 0)
    assert (
        not refused.spent.calls and "how many tokens are left is not known" in refused.left_out[0]
    )
    assert ask("apart", 1).spent.calls == 1
    with pytest.raises(FormatError, match="tokens_per_day is -1"):
        SpaceFolder.open(home, "shop")


def test_hook_bound_tokens_the_least_counts(opening: Opening, ask: Ask, tmp_path: Path) -> None:
    class Frugal:
        @hookimpl
        def bound_tokens(self, memory: str, now: datetime) -> TokenBound | None:
            return TokenBound(50, 0, "ours") if now.hour == 12 else None

    assert opening.host is not None
    opening.host.register(Frugal(), "frugal")
    assert not ask("apart", 0).spent.calls
    assert ask("apart", 1, NOON + timedelta(hours=1)).spent.calls == 1


def test_the_command_bounds_and_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for kind in ("CONFIG", "STATE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind.lower()))
    folder = tmp_path / "tea"
    for line in (
        ["init", str(folder), "--name", "tea"],
        ["space", "create", "shop", "--folder", str(tmp_path / "space")],
        ["space", "share", "--memory", str(folder)],
        ["space", "budget", "5000", "--dry-run"], ["space", "budget", "5000"],
    ):  # fmt: skip
        assert run(line) == 0, capsys.readouterr().err
    assert "shop: 0 tokens today, of 5,000." in capsys.readouterr().out
    with Memory.open(folder) as memory:
        memory.run(Asking(1))
    assert run(["space", "budget", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found == {"tokens_per_day": 5000, "spent": 100, "memories": {"tea": 100}}
    assert run(["space", "budget", "--", "-1"]) == 2
