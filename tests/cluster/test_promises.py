"""The table of promises: it is that of the documentation, its tests exist, its defects fit."""

from __future__ import annotations

import re
from pathlib import Path

from tests.cluster.promises import PROMISES, ROOT
from tests.cluster.test_relay_mutants import MUTANTS


def exists(test: str) -> bool:
    path, _, name = test.partition("::")
    return f"\ndef {name.partition('[')[0]}(" in (ROOT / "tests" / path).read_text("utf-8")


def test_every_promise_has_a_test_and_a_mutant() -> None:
    for page in ("docs/cluster.md", "docs/zh/cluster.md"):
        rows = re.findall(r"^\| (C\d+) \|", (ROOT / page).read_text("utf-8"), re.MULTILINE)
        assert rows == list(PROMISES), page
    named = {name for one in PROMISES.values() for name in one.relay_mutants}
    assert named == MUTANTS.keys(), "each mutant of the relay stands for a promise"
    for name, promise in PROMISES.items():
        assert promise.tests and (promise.relay_mutants or promise.defects), name
        tests = [*promise.tests, *(one.test for one in promise.defects)]
        assert not [test for test in tests if not exists(test)], name
        for defect in promise.defects:
            text = (ROOT / defect.file).read_text("utf-8")
            assert text.count(defect.old) == 1, f"{name}: {defect.words}"
            assert Path(defect.file).parts[0] == "kimi_memory", "plugins are not copied"
