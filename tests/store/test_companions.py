"""What all who look at one store share."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from kimi_memory.store.companions import Companions


class _Reading:
    """Something that is read once."""


class _Other:
    """Something else."""


def test_all_who_ask_get_the_same_and_it_is_made_once() -> None:
    companions, made = Companions(), list[_Reading]()

    def make() -> _Reading:
        made.append(_Reading())
        return made[-1]

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: companions.find(_Reading, make), range(64)))
    assert len(made) == 1 and all(one is made[0] for one in found)


def test_each_class_and_each_store_has_its_own() -> None:
    one, two = Companions(), Companions()
    assert isinstance(one.find(_Other, _Other), _Other)
    assert one.find(_Reading, _Reading) is not two.find(_Reading, _Reading)
