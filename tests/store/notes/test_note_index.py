"""The register: carried on from look to look, it says what a new one would say."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kimi_memory.formats import codec
from kimi_memory.store.notes.note_index import Catalog, Register
from kimi_memory.store.store import Store
from kimi_memory.store.wal import folder_scan, reconcile
from tests.jobs.notes import card
from tests.store.conftest import KEY

PATHS = (
    "semantic/a.md",
    "semantic/b/c.md",
    "episodic/e.md",
    "episodic/sessions/s.md",
    "t.txt",
    "long-term/IDENTITY.md",
)
HEADS = (
    "id: card-1\nkind: card\ntype: fact\nkey: k.a\nstatus: active\n",
    "id: card-1\nkind: card\ntype: fact\nkey: k.b\nstatus: archived\n",
    "id: card-2\nkind: card\ntype: fact\nkey: k.a\nsources:\n- session:s#1 human 0123456789ab\n",
    "id: event-1\nkind: event\nat: 2026-03-01T09:30:00Z\n",
    "kind: card\nkey: k.a\n",
    "id: card-3\nkind: card\ntype: nonsense\n",
)
CARDS = (card("a", "The port is 8080."), card("a", "端口是 9000。"), card("b", "Tea."))
TEXTS = (
    *(f"---\n{head}---\n\nSaid.\n" for head in HEADS),
    *map(codec.render, CARDS),
    "no head\n",
    "",
)
ACTS = st.lists(
    st.tuples(st.sampled_from(PATHS), st.none() | st.sampled_from(TEXTS), st.booleans()),
    max_size=12,
)


def change(folder: Path, path: str, text: str | None) -> None:
    """Write a file, or remove it."""
    place = folder / path
    place.parent.mkdir(parents=True, exist_ok=True)
    if text is None:
        place.unlink(missing_ok=True)
    else:
        place.write_text(text, encoding="utf-8")


class Later:
    """A clock at which every file is old enough to be known by its signature."""

    @staticmethod
    def time_ns() -> int:
        return time.time_ns() + 10_000_000_000


@settings(max_examples=60)
@given(ACTS, st.booleans())
def test_it_says_what_a_new_one_would(
    acts: list[tuple[str, str | None, bool]], known: bool
) -> None:
    assert len({len(text) for text in TEXTS}) == len(TEXTS)  # Else one tick could hide a change.
    with (
        tempfile.TemporaryDirectory() as place,
        Store.open(Path(place), key=KEY) as store,
        pytest.MonkeyPatch.context() as patch,
    ):
        for looks in (folder_scan, reconcile):
            patch.setattr(looks, "time", Later if known else time)
        register, taken = Register.from_store(store), []
        for path, text, look in acts:
            change(Path(place), path, text)
            if look:
                survey = Catalog.from_store(store).survey()
                listing, heads = register.read(survey), register.heads(survey)
                fresh = Register()
                assert listing == fresh.read(survey)
                assert heads == fresh.heads(survey)
                taken.append((listing, repr(listing)))
        assert all(repr(listing) == before for listing, before in taken)


def test_all_that_ask_of_a_store_get_the_same(store: Store) -> None:
    assert Register.from_store(store) is Register.from_store(store)
