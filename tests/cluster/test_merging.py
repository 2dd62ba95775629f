"""A merge of a deployed memory: through the log, and the same history on every node."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.cluster.checking import check_log
from kimi_memory.errors import NotPrimaryError
from kimi_memory.operations.merge_copy import merge_copy
from tests.conftest import Clock
from tests.store.pair import Pair, files_of, relay_of


@pytest.mark.parametrize("ahead", [True, False], ids=["both-wrote", "only-the-copy-wrote"])
def test_what_a_copy_has_is_merged_where_it_is_led_and_is_so_everywhere(
    tmp_path: Path, clock: Clock, ahead: bool
) -> None:
    pair = Pair(tmp_path, clock)
    away = Opening(
        home=Home(tmp_path / "c/config", tmp_path / "c/state"), clock=clock, background=False
    )
    shutil.copytree(pair.folder("a"), tmp_path / "copy", ignore=shutil.ignore_patterns(".kimi"))
    with Memory.open(tmp_path / "copy", away) as copy:
        for n in range(2):
            copy.remember(f"The queue number {n} is RabbitMQ.", key=f"queue-{n}")
            copy.batch.flush()
    with pair.open("a") as a, pair.open("b") as b:
        if ahead:
            a.remember("部署定在每周五下午。", key="day")
            a.batch.flush()
            relay_of(b).follow()
        with pytest.raises(NotPrimaryError):
            relay_of(a).lead()
            merge_copy(b, str(tmp_path / "copy"))
        report = merge_copy(a, str(tmp_path / "copy"))
        assert report.commit
        a.batch.flush()
        relay_of(b).follow()
        assert files_of(a) == files_of(b)
        assert a.history.head() == b.history.head()
        assert [one.hash for one in a.history.log()] == [one.hash for one in b.history.log()]
        assert not [*check_log(relay_of(a).position.log, pair.id)]
        assert waiting(a, report.paths) == waiting(b, report.paths)
        assert not merge_copy(a, str(tmp_path / "copy")).paths
        # What was merged is history of the node that leads next, too.
        relay_of(a).step_down()
        b.remember("We use PostgreSQL.")
        b.batch.flush()
        relay_of(a).follow()
        assert a.history.head() == b.history.head()


def waiting(memory: Memory, paths: Sequence[str]) -> list[str]:
    """Those that wait for a person's word."""
    vetting = memory.store.vetting
    assert vetting is not None
    return [path for path in paths if vetting.waiting(path)]
