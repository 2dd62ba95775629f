"""The tokens of a day: jobs ask no more once they are spent, also after a restart."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from kimi_memory import Memory, Opening
from kimi_memory.domain.job import Create, JobReport, Plan
from kimi_memory.domain.prompt import Reply
from kimi_memory.llm.usage import running
from kimi_memory.store.notes.notes import Shelf

EVENING = datetime(2026, 3, 1, 22, 30, tzinfo=UTC)
ZONE = "America/New_York"
"""In UTC another day begins soon; here it is afternoon."""


class Asking:
    """A job that asks a model once, for 100 tokens, where it may."""

    kind = "asking"

    def __init__(self, number: int) -> None:
        self._number = number

    def plan(self, shelf: Shelf) -> Plan:
        meter = running()
        if not meter.spent:
            meter.calls += 1
            meter.count(Reply(text="ok", model="m", tokens_in=60, tokens_out=40))
        page = Create(f"inbox/{self._number}.md", b"asked\n")
        return Plan(kind=self.kind, subject="", inputs=f"{self._number:<064}", changes=(page,))


def ask(root: Path, opening: Opening, number: int, at: datetime) -> JobReport:
    with Memory.open(root, replace(opening, clock=lambda: at)) as memory:
        return memory.run(Asking(number))


def test_jobs_of_a_day_ask_no_more_than_was_allowed(tmp_path: Path, opening: Opening) -> None:
    root = tmp_path / "茶"
    Memory.create(root, opening=opening).close()
    toml = root / "memory.toml"
    text = toml.read_text(encoding="utf-8").replace("[memory]", f'[memory]\ntimezone = "{ZONE}"', 1)
    toml.write_text(f"{text}\n[gates]\nmax_tokens_per_day = 150\n", encoding="utf-8")
    spent = [ask(root, opening, n, EVENING + timedelta(hours=n)).spent.calls for n in range(2)]
    # The second begins with 50 left, and what it asks at once it gets.
    assert spent == [1, 1]
    refused = ask(root, opening, 2, EVENING + timedelta(hours=2))
    assert not refused.spent.calls and refused.paths == ("inbox/2.md",)
    assert "150 tokens of today are spent" in refused.left_out[0]
    assert ask(root, opening, 3, EVENING + timedelta(hours=8)).spent.calls == 1


def test_a_record_that_is_broken_counts_nothing(tmp_path: Path, opening: Opening) -> None:
    root = tmp_path / "m"
    Memory.create(root, opening=opening).close()
    (root / "mid-term/jobs").mkdir(parents=True, exist_ok=True)
    (root / "mid-term/jobs/asking-x.json").write_text("{", encoding="utf-8")
    with (root / "memory.toml").open("a", encoding="utf-8") as file:
        file.write("\n[gates]\nmax_tokens_per_day = 100\n")
    assert ask(root, opening, 1, EVENING).spent.calls == 1
