"""Vectors kept on disk: what is damaged, foreign or too much counts as absent."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.index import cache
from kimi_memory.index.cache import Cache, Places

KEY = b"k" * 32
HALF = {"部署": [0.5, -0.25], "deploy": [1.0, 0.0], "c": [0.0, 1.0]}
"""Vectors that half precision holds exactly."""


def key(number: int) -> bytes:
    return hashlib.sha256(str(number).encode()).digest()[:16]


@given(
    st.lists(st.lists(st.integers(0, 60), max_size=30), max_size=12),
    st.sampled_from([0, 3, 4096]),
)
def test_what_was_added_last_is_found(parts, few):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cache, "FEW", few)
        made, model, count = Places(), {}, 0
        for part in parts:
            made.add(map(key, part), count)
            model |= {number: at for at, number in enumerate(part, count)}
            count += len(part)
            assert {n: made.get(key(n)) for n in range(62)} == {n: model.get(n) for n in range(62)}


def test_many_keys_take_little_room():
    made = Places()
    made.add(map(key, range(50_000)))
    assert made.get(key(0)) == 0
    assert made.get(key(49_999)) == 49_999
    assert made.get(key(50_000)) is None
    assert len(made._fresh) <= 50_000 // cache.SHARE


def test_the_ends_of_the_range_are_keys_as_any():
    made = Places()
    ends = [b"\0" * 16, b"\xff" * 16]
    made.add([*ends, *map(key, range(cache.FEW))])
    assert [made.get(end) for end in ends] == [0, 1]
    assert Places().get(ends[0]) is None


def new_cache(folder: Path, limit: int = 1 << 20, key: bytes = KEY) -> Cache:
    return Cache(folder / "embeddings", key, limit)


def files(folder: Path) -> list[Path]:
    return sorted((folder / "embeddings").glob("*"))


def test_what_is_kept_is_found_by_another_process(tmp_path: Path) -> None:
    kept = new_cache(tmp_path).open("m", 2)
    assert kept.get(list(HALF)) == {}
    kept.put(HALF)
    assert kept.get([*HALF, "other"]) == HALF
    assert new_cache(tmp_path).open("m", 2).get(list(HALF)) == HALF


def test_later_vectors_join_earlier_ones(tmp_path: Path) -> None:
    new_cache(tmp_path).open("m", 2).put({"a": [1.0, 0.0]})
    new_cache(tmp_path).open("m", 2).put({"b": [0.0, 1.0]})
    again = new_cache(tmp_path).open("m", 2)
    again.put({"a": [0.5, 0.5]})
    assert again.get(["a", "b"]) == {"a": [0.5, 0.5], "b": [0.0, 1.0]}


def test_many_small_additions_are_all_found_by_who_made_them(tmp_path: Path) -> None:
    kept = new_cache(tmp_path).open("m", 2)
    for n in range(9):
        kept.put({f"笔记 {n}": [n, 0.5], f"note {n}": [0.5, n]})
        assert kept.get([f"note {i}" for i in range(n + 1)]) == {
            f"note {i}": [0.5, i] for i in range(n + 1)
        }
    assert new_cache(tmp_path).open("m", 2).get(["笔记 8", "note 0"]) == {
        "笔记 8": [8.0, 0.5],
        "note 0": [0.5, 0.0],
    }


@pytest.mark.parametrize(("model", "dimensions"), [("n", 2), ("m", 3)])
def test_another_model_or_size_knows_nothing_of_it(
    tmp_path: Path, model: str, dimensions: int
) -> None:
    new_cache(tmp_path).open("m", 2).put(HALF)
    assert new_cache(tmp_path).open(model, dimensions).get(list(HALF)) == {}


def test_what_another_machine_signed_is_not_trusted(tmp_path: Path) -> None:
    new_cache(tmp_path, key=b"x" * 32).open("m", 2).put(HALF)
    assert new_cache(tmp_path).open("m", 2).get(list(HALF)) == {}


def test_no_text_stands_in_the_files(tmp_path: Path) -> None:
    new_cache(tmp_path).open("m", 2).put({"my secret diary": [1.0, 0.0]})
    assert all(b"diary" not in path.read_bytes() for path in files(tmp_path))


@given(st.data())
def test_no_damage_gives_a_wrong_vector(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("damage")
    new_cache(folder).open("m", 2).put(HALF)
    (path,) = files(folder)
    content = bytearray(path.read_bytes())
    act = data.draw(st.sampled_from(["flip", "cut", "add", "zero"]))
    at = data.draw(st.integers(0, len(content) - 1))
    if act == "flip":
        content[at] ^= 1 << data.draw(st.integers(0, 7))
    elif act == "cut":
        del content[at:]
    elif act == "add":
        content += data.draw(st.binary(min_size=1, max_size=40))
    else:
        content[at:] = bytes(len(content) - at)
    path.write_bytes(content)
    kept = new_cache(folder).open("m", 2)
    assert kept.get(list(HALF)).items() <= HALF.items()
    kept.put(HALF)
    assert new_cache(folder).open("m", 2).get(list(HALF)) == HALF


def test_the_file_stays_within_its_bound_and_keeps_the_younger_half(tmp_path: Path) -> None:
    record = 16 + 4 + 8
    limit = record * 20
    for n in range(100):
        new_cache(tmp_path, limit).open("m", 2).put({f"t{n}": [1.0, 0.0]})
        assert sum(path.stat().st_size for path in files(tmp_path)) <= limit + 64
    found = new_cache(tmp_path, limit).open("m", 2).get([f"t{n}" for n in range(100)])
    assert set(found) == {f"t{n}" for n in range(100 - len(found), 100)}
    assert len(found) >= 10


def test_more_at_once_than_fits_keeps_what_fits(tmp_path: Path) -> None:
    kept = new_cache(tmp_path, 28 * 5).open("m", 2)
    kept.put({f"t{n}": [1.0, 0.0] for n in range(50)})
    assert set(kept.get([f"t{n}" for n in range(50)])) == {f"t{n}" for n in range(45, 50)}


def test_models_long_unused_go_when_room_is_short(tmp_path: Path) -> None:
    limit = 28 * 12
    for model in ("a", "b"):
        kept = new_cache(tmp_path, limit).open(model, 2)
        kept.put({f"t{n}": [1.0, 0.0] for n in range(10)})
    assert len(files(tmp_path)) == 2
    new_cache(tmp_path, limit).open("b", 2)
    assert len(files(tmp_path)) == 1
    assert len(new_cache(tmp_path, limit).open("b", 2).get([f"t{n}" for n in range(10)])) == 10


def test_a_link_in_its_place_is_neither_read_nor_written_through(tmp_path: Path) -> None:
    new_cache(tmp_path).open("m", 2).put(HALF)
    (path,) = files(tmp_path)
    outside = tmp_path / "outside"
    path.rename(outside)
    path.symlink_to(outside)
    before = outside.read_bytes()
    kept = new_cache(tmp_path).open("m", 2)
    assert kept.get(list(HALF)) == {}
    kept.put({"new": [1.0, 0.0]})
    assert outside.read_bytes() == before


def test_a_folder_that_takes_no_writes_keeps_nothing(tmp_path: Path) -> None:
    (tmp_path / "embeddings").write_text("a file", encoding="utf-8")
    kept = new_cache(tmp_path).open("m", 2)
    kept.put(HALF)
    assert kept.get(list(HALF)) == {}


def test_dropping_removes_everything(tmp_path: Path) -> None:
    new_cache(tmp_path).open("m", 2).put(HALF)
    new_cache(tmp_path).drop()
    new_cache(tmp_path).drop()
    assert not (tmp_path / "embeddings").exists()
