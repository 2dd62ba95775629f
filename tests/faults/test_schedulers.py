"""Two schedulers at once, each a process of its own, do each job once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

from kimi_memory import Memory, Opening
from tests.conftest import Clock

RUN = """
import sys
from datetime import datetime
from kimi_memory import Memory, Opening
now = datetime.fromisoformat(sys.argv[2])
with Memory.open(sys.argv[1], Opening(clock=lambda: now, background=False)) as memory:
    sys.stdin.readline()
    done = [memory.distil(id).id for id in memory.waiting()]
    for period in ("daily", "weekly"):
        done += [report.id for report in memory.consolidate(period)]
    print(*[id for id in done if id], sep="\\n")
"""


def talk(memory: Memory, clock: Clock, days: int) -> None:
    for day in range(days):
        session = memory.session(f"s{day}", project="atlas")
        session.turn("user", f"We decided to use tool{day} for the cache, because it is fast.")
        session.turn("assistant", "OK.")
        memory.mark_ended(session.id)
        clock.move(days=1)


def start(memory: Memory, clock: Clock, home: Path) -> subprocess.Popen[str]:
    environment = os.environ | {"HOME": str(home), "XDG_STATE_HOME": str(home / "state")}
    return subprocess.Popen(
        [sys.executable, "-c", RUN, str(memory.root), clock().isoformat()],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )


def test_two_schedulers_do_each_job_once(
    memory: Memory, opening: Opening, clock: Clock, tmp_path: Path
) -> None:
    talk(memory, clock, 4)
    memory.close()
    both = [start(memory, clock, tmp_path) for _ in range(2)]
    for one in both:
        assert one.stdin is not None
        one.stdin.write("go\n")
        one.stdin.flush()
    told = [one.communicate(timeout=120)[0].split() for one in both]
    assert [one.returncode for one in both] == [0, 0]
    done = Counter(id for ids in told for id in ids)
    assert done
    assert set(done.values()) == {1}
    with Memory.open(memory.root, opening) as again:
        files = again.store.files("mid-term/jobs")
        assert {Path(path).stem for path in files} >= set(done)
        kinds = Counter(json.loads(again.store.read(path))["kind"] for path in files)
        assert kinds["distil"] == 4
        assert kinds["daily"] == 4
        assert again.waiting() == []


def test_missed_days_are_made_up_in_order(memory: Memory, clock: Clock) -> None:
    talk(memory, clock, 5)
    for id in memory.waiting():
        memory.distil(id)
    days = [report.subject for report in memory.consolidate("daily") if report.id]
    assert len(days) == 5
    assert days == sorted(days)
    assert not [report for report in memory.consolidate("daily") if report.id]
