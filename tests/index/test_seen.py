"""States in arrays behave as a dictionary of them would, and differ from a table alike."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.index.files import Stat
from kimi_memory.index.seen import Seen

PATHS = ("a.md", "b.md", "c.md", "short-term/session_x.jsonl", "short-term/session_y.jsonl")
States = dict[str, Stat]
LOOKS = st.builds(Stat, st.integers(0, 1), st.integers(0, 1), st.integers(0, 1))
STATES = st.dictionaries(st.sampled_from(PATHS), LOOKS)


def seen_of(states: States) -> Seen:
    paths = sorted(states, key=lambda path: (path.endswith(".jsonl"), path))
    pages = sum(path.endswith(".md") for path in paths)
    return Seen(paths, pages, rows([states[path] for path in paths]))


def rows(states: list[Stat]) -> np.ndarray:
    return np.asarray(states, dtype=np.int64).reshape(-1, 3)


@given(STATES, STATES, st.sets(st.sampled_from(PATHS)), STATES)
def test_it_differs_as_dictionaries_do(
    first: States, later: States, gone: set[str], held: States
) -> None:
    found, model = seen_of(first), dict(first)
    found.update(later)
    model.update(later)
    for path in gone & model.keys():
        del found[path]
        del model[path]
    assert dict(found) == model
    assert len(found) == len(model)
    assert sorted(found.sessions) == sorted(path for path in model if path.endswith("l"))
    wanted = {path for path in PATHS if model.get(path) != held.get(path)}
    ordinals = {path: number for number, path in enumerate(held)}
    told = found.differing(ordinals, rows(list(held.values())))
    # What was seen later is always read again.
    assert wanted <= told <= wanted | (later.keys() & model.keys())
