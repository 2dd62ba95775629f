"""What commands print of a job, for people."""

from __future__ import annotations

import pytest

from kimi_memory.cli.shared import show_report
from kimi_memory.domain.job import JobReport, Spent


def test_a_report_tells_which_model_took_part_and_what_it_cost(
    capsys: pytest.CaptureFixture[str],
) -> None:
    show_report(
        JobReport(
            id="distil-1",
            kind="distil",
            subject="s1",
            left_out=("finding.x: proposed by the model, which no person said",),
            model="ollama:qwen3:4b",
            spent=Spent(calls=2, tokens_in=812, tokens_out=96),
        )
    )
    shown = capsys.readouterr().out
    assert "model        ollama:qwen3:4b: 2 asked, 812 tokens in, 96 out" in shown
    assert "left out     finding.x: proposed by the model" in shown


def test_a_report_without_a_model_says_nothing_of_one(capsys: pytest.CaptureFixture[str]) -> None:
    show_report(JobReport(id="distil-1", kind="distil", subject="s1"))
    assert "model" not in capsys.readouterr().out
