"""The block reader gives what Whoosh's public matchers give, whatever was written."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kimi_memory.plugins import whoosh_index
from kimi_memory.plugins.whoosh_index import FIELD, WhooshIndex

from tests.index.test_stored import resident

WORDS = ["a", "bb", "部", "部署", "d:2026-03-01", "postgresql"]


def by_key(index: WhooshIndex, word: str) -> dict[int, float]:
    rows, counts = index.postings(word)
    assert list(rows) == sorted(rows)
    keys = index.keys()
    return {
        int(keys[row]): float(count)
        for row, count in zip(rows, counts, strict=True)
        if keys[row] >= 0
    }


def by_matcher(index: WhooshIndex, word: str) -> dict[int, float]:
    """Read the same through the public interface: reader, matcher, column."""
    from whoosh.reading import TermNotFound

    found = {}
    keys = index.keys()
    with index._index.reader() as reader:
        try:
            matcher = reader.postings(FIELD, word)
        except TermNotFound:
            return {}
        while matcher.is_active():
            found[int(keys[matcher.id()])] = float(matcher.weight())
            matcher.next()
    return found


BATCH = st.tuples(
    st.lists(st.lists(st.sampled_from(WORDS), max_size=8), max_size=6),
    st.sets(st.integers(0, 20), max_size=4),
)


@settings(max_examples=40)
@given(st.lists(BATCH, min_size=1, max_size=6))
def test_postings_equal_the_public_matchers_over_any_history(
    history: list[tuple[list[list[str]], set[int]]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        index, key, held = WhooshIndex(Path(folder)), 0, dict[int, Counter[str]]()
        for add, remove in history:
            batch = list(enumerate(add, start=key))
            key += len(batch)
            index.write(batch, remove)
            held = {k: words for k, words in held.items() if k not in remove}
            held |= {k: Counter(words) for k, words in batch}
        again = WhooshIndex(Path(folder))
        for word in WORDS:
            expected = {k: float(words[word]) for k, words in held.items() if words[word]}
            assert by_key(index, word) == by_key(again, word) == expected
            assert by_matcher(again, word) == expected
        living = again.keys()
        assert {int(k) for k in living if k >= 0} == set(held)
        index.close()
        again.close()


def test_long_postings_span_blocks_and_segments(tmp_path: Path) -> None:
    index = WhooshIndex(tmp_path)
    index.write(((key, ["often"] * (1 + key % 3)) for key in range(3000)), ())
    index.write(((key, ["often"]) for key in range(3000, 4200)), [5, 2999])
    found = by_key(index, "often")
    assert len(found) == 4198
    assert found[4] == 2.0
    assert found[4199] == 1.0
    assert found == by_matcher(index, "often")
    index.close()


def test_commits_stay_below_the_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whoosh_index, "BATCH", 10)
    index = WhooshIndex(tmp_path)
    index.write(((key, ["w"]) for key in range(25)), ())
    assert len(by_key(index, "w")) == 25
    index.close()


def test_an_unknown_word_and_an_empty_index_have_no_postings(tmp_path: Path) -> None:
    index = WhooshIndex(tmp_path)
    assert by_key(index, "w") == {}
    assert len(index.keys()) == 0
    index.write([(7, ["w"])], ())
    assert by_key(index, "x") == {}
    index.close()


def test_a_failed_write_frees_the_folder(tmp_path: Path) -> None:
    index = WhooshIndex(tmp_path)
    with pytest.raises(AttributeError):
        index.write([(1, [None])], ())
    index.write([(2, ["w"])], ())
    assert by_key(index, "w") == {2: 1.0}
    index.close()


def test_the_name_tells_engine_and_version(tmp_path: Path) -> None:
    index = whoosh_index.open_keywords(tmp_path)
    assert index.name.startswith("whoosh 2.7.4")
    index.close()


@settings(max_examples=40)
@given(
    st.lists(BATCH, min_size=1, max_size=5),
    st.sampled_from(["", "b", "部", "部署", "d:", "post", "postgresql", "postgresqls", "z"]),
)
def test_words_are_found_by_their_beginning_in_every_segment(
    history: list[tuple[list[list[str]], set[int]]], begin: str
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        index, key, held = WhooshIndex(Path(folder)), 0, dict[int, list[str]]()
        for add, remove in history:
            batch = list(enumerate(add, start=key))
            key += len(batch)
            index.write(batch, remove)
            held = {k: words for k, words in held.items() if k not in remove} | dict(batch)
        found = list(index.words(begin))
        assert found == sorted(set(found))
        assert set(found) <= {word for word in WORDS if word.startswith(begin)}
        assert set(found) >= {w for words in held.values() for w in words if w.startswith(begin)}
        index.close()


def test_an_empty_index_has_no_words(tmp_path: Path) -> None:
    index = WhooshIndex(tmp_path)
    assert list(index.words()) == []
    assert list(index.words("a")) == []
    index.close()


def test_memory_of_the_files_is_given_back_after_some_words(tmp_path: Path) -> None:
    index = WhooshIndex(tmp_path)
    words = [f"word{n}" for n in range(2000)]
    index.write([(n, words[n % 50 :: 3]) for n in range(60)], [])
    held = []
    for word in words[: 3 * whoosh_index.RELEASED]:
        assert len(index.postings(word)[0])
        held.append(resident(tmp_path))
    drops = sum(after < before for before, after in pairwise(held))
    assert drops == 2
    assert by_key(index, "word7") == by_matcher(index, "word7")
    index.close()


def test_opening_an_index_loads_nothing_of_the_network(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from kimi_memory.plugins import whoosh_index\n"
        f"whoosh_index.open_keywords(Path({str(tmp_path)!r})).close()\n"
        "assert not {'ssl', 'http.client', 'email', 'urllib.request'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


WAITING = """
import sys, urllib
from kimi_memory.plugins.whoosh_index import _left_unread
assert "urllib.request" not in sys.modules
with _left_unread("urllib.request"):
    from urllib.request import urlretrieve
    import urllib.request as early
assert "ssl" not in sys.modules and "http.client" not in sys.modules and urlretrieve is None
"""


@pytest.mark.parametrize(
    "code",
    [
        "import urllib.request; assert urllib.request.Request('http://a.b').host == 'a.b'",
        "assert urllib.request is early and early.Request('http://a.b').host == 'a.b'\n"
        "assert urllib.request is not early and 'ssl' in sys.modules\n"
        "assert not hasattr(early, '__wrapped__')",
        "import urllib.request as real\n"
        "with _left_unread('urllib.request'):\n"
        "    from urllib.request import urlretrieve as found\n"
        "assert found is real.urlretrieve and sys.modules['urllib.request'] is real",
    ],
    ids=["afterwards", "meanwhile", "before"],
)
def test_who_wants_the_module_that_was_left_unread_has_it_whole(code: str) -> None:
    subprocess.run([sys.executable, "-c", WAITING + code], check=True)


def test_an_index_that_another_process_took_away_is_absent(tmp_path: Path) -> None:
    index = WhooshIndex(tmp_path)
    index.write([(1, ["a"])], [])
    index.close()
    late = WhooshIndex(tmp_path)
    for file in tmp_path.iterdir():
        file.unlink()
    with pytest.raises(FileNotFoundError):
        late.keys()
