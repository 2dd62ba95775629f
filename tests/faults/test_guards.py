"""Every guard above the store is taken away in turn; its own test must notice."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from taken_away import GUARDS

ROOT = Path(__file__).parent.parent.parent
NOTICED_BY = {
    "quotes are looked up": (
        "jobs/test_fold_drafts.py::test_a_quote_that_nobody_said_is_not_proof"
    ),
    "drafts are gated": "jobs/test_fold_drafts.py::test_a_secret_in_a_draft_is_held_back",
    "jobs are gated": "jobs/test_runner.py::test_a_gate_stops_a_job_before_the_first_byte",
    "jobs run once": "operations/test_doctor.py::test_status_counts_what_is_there",
    "secrets are masked": "capture/test_ingest.py::test_a_secret_is_masked_and_still_known_again",
    "recalled blocks are removed": (
        "capture/test_log_screen.py::test_recalled_blocks_are_not_captured_again"
    ),
    "turns are stored once": "capture/test_ingest.py::test_a_second_ingest_changes_nothing",
    "refs are stored once": "capture/test_log.py::test_the_same_ref_is_stored_once",
    "indexes are signed": (
        "index/test_stored_generation.py::test_an_index_signed_with_another_key_is_foreign"
    ),
    "index files are hashed": (
        "index/test_stored_generation.py::test_no_sampled_flip_or_cut_is_opened"
    ),
    "git syncs everything": (
        "store/git/test_history.py::test_init_makes_a_repository_with_the_safe_settings"
    ),
}


@pytest.mark.faults
@pytest.mark.parametrize("guard", GUARDS)
def test_the_guards_own_test_fails_without_it(guard: str) -> None:
    node = f"tests/{NOTICED_BY[guard]}"
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-n", "0"]
    whole = subprocess.run([*command, node], cwd=ROOT, capture_output=True, check=False)
    assert whole.returncode == 0, f"{node} does not pass as it is:\n{whole.stdout.decode()}"
    without = subprocess.run(
        [*command, "-p", "taken_away", node],
        cwd=ROOT,
        env={**os.environ, "GUARD": guard, "PYTHONPATH": str(ROOT / "tests/faults")},
        capture_output=True,
        check=False,
    )
    assert without.returncode == 1, f"{node} passes without its guard"
