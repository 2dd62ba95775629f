"""Every guard of copies, branches and purges is taken away in turn; a test must notice."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.copy_mutants import MUTANTS, NAME

ROOT = Path(__file__).parent.parent.parent
pytestmark = [pytest.mark.faults, pytest.mark.timeout(900)]


@pytest.mark.parametrize("name", MUTANTS)
def test_a_guard_of_copies_taken_away_is_noticed(name: str) -> None:
    words = ("-q", "-x", "-p", "no:cacheprovider", "-p", "tests.faults.copy_mutants")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words, MUTANTS[name].test],
        cwd=ROOT, env={**os.environ, NAME: name}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    # 1: tests failed. Anything else would be a mutant that broke the run and not the law.
    assert done.returncode == 1, done.stdout[-2000:] + done.stderr[-2000:]
    assert "failed" in done.stdout.splitlines()[-1]
