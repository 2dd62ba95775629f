"""The pause of the collector ends as it began, whatever happens inside."""

from __future__ import annotations

import gc

import pytest

from kimi_memory.index.pause import uncollected


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
