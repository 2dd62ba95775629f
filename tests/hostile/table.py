"""The hostile suite as a table of its cases: ``python -m tests.hostile.table``.

Each group of cases is a run of pytest in a process of its own. A test that holds many cases
tells how many it tried; of the others each is a case. What a machine lacks is skipped, aloud.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

HERE = Path(__file__).parent
TOP = HERE.parent.parent


class Group(NamedTuple):
    """Cases of one sort, and the tests that try them."""

    name: str
    tests: tuple[str, ...]
    only: str = ""
    """Names of tests, as ``pytest -k`` takes them."""
    enough: float = 1.0
    """So much of what was tried must have held."""


class Outcome(NamedTuple):
    """How many cases of a group were tried, and how many held."""

    tried: int = 0
    held: int = 0
    skipped: tuple[str, ...] = ()

    def holds(self, enough: float = 1.0) -> bool:
        """Whether so much of what was tried held, and something was tried or skipped aloud."""
        return self.held >= enough * self.tried and (self.tried > 0 or bool(self.skipped))


GROUPS = (
    Group("kills of commands that write", ("tests/hostile/test_killed_commands.py",), "every_kill"),
    Group("orders to models, through 14 ways in", ("tests/test_poison.py",), "poison_becomes"),
    Group("texts that people paste, in two runs", ("tests/test_poison.py",), "pastes"),
    Group("orders known as such, and plain talk", ("tests/nlp/basic/test_safe_text_injection.py",)),
    Group("secrets that are masked", ("tests/hostile/test_screen.py",), "secrets", enough=0.97),
    Group("ordinary lines that are left alone", ("tests/hostile/test_screen.py",), "ordinary"),
    Group("doors with a secret in every field", ("tests/test_secrets.py",)),
    Group("patterns and their worst 100 kB", ("tests/test_patterns.py",)),
    Group("half-sent requests at once", ("tests/hostile/test_slow_clients.py",)),
    Group("hostile repositories", ("tests/hostile/test_repositories.py",)),
    Group("damaged or foreign private folders", ("tests/test_sidecars.py",)),
)


def outcome_of(report: Path) -> Outcome:
    """Return what the report of a run says."""
    tried = held = 0
    skipped = []
    for case in ElementTree.parse(report).iter("testcase"):
        if (left := case.find("skipped")) is not None:
            skipped.append(left.get("message", ""))
            continue
        told = {one.get("name"): int(one.get("value", "0")) for one in case.iter("property")}
        failed = case.find("failure") is not None or case.find("error") is not None
        count = told.get("tried", 1)
        # Who counts its cases can fail for another reason, such as that it did too little.
        held += min(told.get("held", count), count - int(failed))
        tried += count
    return Outcome(tried, held, tuple(skipped))


def run(group: Group) -> Outcome:
    """Run the tests of a group."""
    with tempfile.TemporaryDirectory(prefix="kimi-memory-hostile-") as folder:
        report = Path(folder) / "report.xml"
        options = ["-q", "-m", "", "-p", "no:cacheprovider", f"--junitxml={report}"]
        options += ["-o", "junit_family=xunit1"]  # The other knows no properties of a test.
        options += ["-k", group.only] if group.only else []
        command = [sys.executable, "-m", "pytest", *options, *group.tests]
        done = subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            print(done.stdout, file=sys.stderr)
        return outcome_of(report) if report.is_file() else Outcome(tried=1)


def main() -> int:
    """Run all groups and print a row for each; 1 where a case did not hold, or none was tried."""
    print("| cases | tried | held | seconds |\n|---|---|---|---|", flush=True)
    held = []
    for group in GROUPS:
        began = time.monotonic()
        found = run(group)
        held.append(found.holds(group.enough))
        seconds = time.monotonic() - began
        print(f"| {group.name} | {found.tried} | {found.held} | {seconds:.0f} |", flush=True)
        for why in found.skipped:
            print(f"skipped: {group.name}: {why}", file=sys.stderr)
    return int(not all(held))


if __name__ == "__main__":
    sys.exit(main())
