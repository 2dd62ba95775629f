"""What is remembered of files, and when it may be trusted."""

import hashlib

import pytest

from kimi_memory.store.files.disk import UNKNOWN
from kimi_memory.store.git.command import Cache, CacheFile, Entry, behind, load_cache, save_cache


def test_the_cache_comes_back_as_it_was_or_empty(tmp_path):
    path = tmp_path / ".kimi" / "git-cache"
    cache = Cache("h", {"笔记\udce9.md": Entry("100644", "b", (1, 2, 3))})
    save_cache(path, cache)
    assert load_cache(path) == cache
    body = bytearray(path.read_bytes())
    for place in range(len(body)):
        damaged = body.copy()
        damaged[place] ^= 1
        path.write_bytes(damaged)
        assert load_cache(path) == Cache()


def test_a_cache_of_another_format_is_empty(tmp_path):
    body = b'["head","index",[]]'
    path = tmp_path / "git-cache"
    path.write_bytes(hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
    assert load_cache(path) == Cache()


def entries(count):
    return {f"{n}.md": Entry("100644", "b", (n, 2, 3)) for n in range(count)}


def test_few_rows_are_kept_in_memory_until_there_are_more(tmp_path):
    path = tmp_path / ".kimi" / "git-cache"
    kept = CacheFile(path)
    first, second, third = (Cache(str(n), entries(n)) for n in (1, 2, 3))
    kept.keep(first, 1)
    assert load_cache(path) == first
    kept.keep(second, 60)
    assert load_cache(path) == first
    assert kept.load() == second
    kept.keep(third, 60)
    assert load_cache(path) == third
    kept.keep(second, 1)
    kept.save()
    assert load_cache(path) == second


def test_what_another_process_wrote_or_removed_is_left_so(tmp_path):
    path = tmp_path / ".kimi" / "git-cache"
    kept = CacheFile(path)
    kept.keep(Cache("1", entries(1)), 1)
    kept.keep(Cache("2", entries(2)), 1)
    theirs = Cache("9", entries(9))
    save_cache(path, theirs)
    kept.save()
    assert load_cache(path) == theirs
    assert kept.load() == theirs
    kept.keep(Cache("3", entries(3)), 1)
    path.unlink()
    kept.save()
    assert not path.exists()
    assert kept.load() == Cache()


def test_what_may_differ_is_told_by_how_files_look():
    cache = Cache("h", {**entries(3), "new.md": Entry("100644", "b", UNKNOWN)})
    looks = {"0.md": (0, 2, 3), "1.md": (1, 9, 3), "new.md": UNKNOWN, "more.md": (1, 2, 3)}
    assert behind(cache, looks) == {"1.md", "2.md", "new.md", "more.md"}


@pytest.mark.parametrize("body", [b"[]", b"{}", b"5", b'[2,"head",[["path"]]]', b'[2,"head",5]'])
def test_a_cache_of_another_shape_is_none(tmp_path, body):
    path = tmp_path / "git-cache"
    path.write_bytes(hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
    assert load_cache(path) == Cache()
