"""Numbers by key say what a dictionary would."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.index import places
from kimi_memory.index.places import Places


def key(number: int) -> bytes:
    return hashlib.sha256(str(number).encode()).digest()[:16]


@given(
    st.lists(st.lists(st.integers(0, 60), max_size=30), max_size=12),
    st.sampled_from([0, 3, 4096]),
)
def test_what_was_added_last_is_found(parts, few):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(places, "FEW", few)
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
    assert len(made._fresh) <= 50_000 // places.SHARE


def test_the_ends_of_the_range_are_keys_as_any():
    made = Places()
    ends = [b"\0" * 16, b"\xff" * 16]
    made.add([*ends, *map(key, range(places.FEW))])
    assert [made.get(end) for end in ends] == [0, 1]
    assert Places().get(ends[0]) is None
