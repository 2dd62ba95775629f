"""The pause of the collector ends as it began; what is free is given back."""

from __future__ import annotations

import ctypes
import gc
import os
from pathlib import Path

import pytest

from kimi_memory.store.files.garbage import give_back, uncollected


@pytest.mark.parametrize("running", [True, False])
def test_the_collector_is_left_as_it_was(running: bool) -> None:
    (gc.enable if running else gc.disable)()
    try:
        with pytest.raises(KeyError), uncollected():
            assert not gc.isenabled()
            raise KeyError
        assert gc.isenabled() is running
    finally:
        gc.enable()


def test_what_is_free_is_given_back() -> None:
    statm = Path("/proc/self/statm")
    if not (statm.exists() and hasattr(ctypes.CDLL(None), "malloc_trim")):
        pytest.skip("this system tells no process its size, or gives nothing back")

    def pages() -> int:
        return int(statm.read_text().split()[1])

    held = [bytes([n % 256]) * 2000 for n in range(50_000)]
    among = held[::100]  # so that no end of the heap is free
    before = pages()
    del held
    give_back()
    assert (before - pages()) * os.sysconf("SC_PAGE_SIZE") > 20e6
    assert len(among) == 500


def test_lasting_values_are_searched_no_more() -> None:
    before = gc.get_freeze_count()
    try:
        with uncollected(lasting=True):
            made = [[n] for n in range(1000)]
        assert gc.get_freeze_count() - before >= len(made)
        assert not {id(one) for one in gc.get_objects()} & {id(one) for one in made}
    finally:
        gc.unfreeze()
