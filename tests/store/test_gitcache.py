"""What is remembered of files, and when it may be trusted."""

import pytest

from kimi_memory.store.gitcache import Cache, Entry, load_cache, save_cache
from kimi_memory.store.signature import UNKNOWN, settled

NOW = 1_772_000_000_123_456_789


@pytest.mark.parametrize(
    ("modified", "changed", "known"),
    [
        (NOW - 60_000_000, NOW - 60_000_000, True),
        (NOW - 40_000_000, NOW - 40_000_000, False),
        (1, NOW - 40_000_000, False),
        (NOW + 1, NOW + 1, False),
        (1_771_999_999_000_000_000, 1_771_999_999_000_000_000, False),
        (1_771_999_990_000_000_000, 1_771_999_990_000_000_000, True),
    ],
    ids=["old", "fresh", "forged", "future", "coarse clock", "coarse and old"],
)
def test_a_file_changed_a_moment_ago_is_not_known(modified, changed, known):
    stat = (1, modified, changed, 7)
    assert settled(stat, NOW) == (stat if known else UNKNOWN)


def test_the_cache_comes_back_as_it_was_or_empty(tmp_path):
    path = tmp_path / ".kimi" / "git-cache"
    cache = Cache("h", "i", {"笔记\udce9.md": Entry("100644", "b", (1, 2, 3, 4))})
    save_cache(path, cache)
    assert load_cache(path) == cache
    body = bytearray(path.read_bytes())
    for place in range(len(body)):
        damaged = body.copy()
        damaged[place] ^= 1
        path.write_bytes(damaged)
        assert load_cache(path) == Cache()
