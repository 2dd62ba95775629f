"""The run of all benchmarks: nothing that can be run is left out, what cannot is named."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.__main__ import BENCHMARKS, Place, chosen_of

ROOT = Path(__file__).parent.parent


def test_every_module_that_can_be_run_is_run() -> None:
    runnable = {
        path.stem
        for path in (ROOT / "benchmarks").glob("*.py")
        if '__name__ == "__main__"' in path.read_text(encoding="utf-8")
    }
    assert {one.module for one in BENCHMARKS} == runnable - {"__main__", "plot"}
    names = [one.name for one in BENCHMARKS]
    assert len(set(names)) == len(names)


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    [quality, programs] = chosen_of(["quality", "programs"])
    assert "KIMI_MEMORY_DATA" in Place(None, None).lacks(quality)
    assert f"{tmp_path} has none" in Place(tmp_path, None).lacks(quality)
    (tmp_path / "locomo.dev.jsonl").touch()
    assert Place(tmp_path, None).lacks(quality) == ""
    assert "--programs DIR" in Place(tmp_path, None).lacks(programs)
    command = Place(tmp_path, tmp_path, quick=True).command(programs)
    assert command[2:] == [
        "benchmarks.programs",
        str(tmp_path / "locomo.dev.jsonl"),
        *("--every", "25", "--folder", str(tmp_path)),
    ]


def test_an_unknown_name_is_told_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="no benchmark 'speeed'"):
        chosen_of(["speeed"])


def test_a_run_prints_results_and_what_was_skipped() -> None:
    command = [sys.executable, "-m", "benchmarks", "quality", "--json"]
    environment = {"PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert "skipped" in json.loads(done.stdout)["quality"]
    assert "0 run, 1 skipped (quality), 0 failed" in done.stderr
