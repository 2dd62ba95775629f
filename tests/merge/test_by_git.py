"""Files that git merged, and what a person settled in them."""

from __future__ import annotations

import subprocess
from datetime import timedelta
from pathlib import Path

import pytest

from kimi_memory.domain.note import Card, Status
from kimi_memory.formats import codec
from kimi_memory.merge.by_git import finish_merge
from tests.merge.values import NOW, card, said

PATH, BESIDE = "semantic/general/deploy.port.md", "semantic/general/deploy.port-1.md"


def text(note: Card) -> bytes:
    return codec.render(note).encode()


OLD = card(id="card-a", value="8080", sources=(said("a-1", 1),))
OTHER = card(
    id="card-b", title="Gate", value="9090", sources=(said("b-1", 1),),
    updated=NOW + timedelta(hours=1),
)  # fmt: skip
OVER = card(
    id="card-a", value="8080", sources=(said("a-1", 1),), status=Status.SUPERSEDED,
    updated=NOW + timedelta(days=1), valid_to=NOW + timedelta(days=1),
)  # fmt: skip


def merged_by_git(folder: Path, favour: str) -> bytes:
    """Return what git makes of one path at which two cards met."""
    names = []
    for name, note in (("ours", OTHER), ("base", OLD), ("theirs", OVER)):
        (folder / name).write_bytes(text(note))
        names.append(str(folder / name))
    done = subprocess.run(
        ["git", "merge-file", "-p", f"--{favour}", *names], check=True, capture_output=True
    )
    return done.stdout


@pytest.mark.parametrize("favour", ["ours", "theirs"])
def test_two_cards_that_met_at_one_place_are_never_one(tmp_path: Path, favour: str) -> None:
    """`git pull -X theirs` takes lines of both: an id of one, the sources of the other."""
    base, theirs = {PATH: text(OLD)}, {PATH: text(OVER)}
    ours = {PATH: text(OTHER), BESIDE: text(OLD)}
    found = {PATH: merged_by_git(tmp_path, favour), BESIDE: text(OLD)}
    notes = [
        note
        for path, content in finish_merge(base, ours, theirs, found).items()
        if isinstance(note := codec.read_note(content, path), Card)
    ]
    assert {(one.id, one.value, one.sources, one.status) for one in notes} == {
        (one.id, one.value, one.sources, one.status) for one in (OTHER, OVER)
    }


def test_what_a_person_wrote_between_the_versions_stays() -> None:
    base, theirs = {PATH: text(OLD)}, {PATH: text(OVER)}
    own = text(OTHER).replace(b"9090", b"9091, as the gate says")
    found = {PATH: own, BESIDE: text(OLD)}
    wanted = finish_merge(base, {PATH: text(OTHER), BESIDE: text(OLD)}, theirs, found)
    assert wanted[PATH] == own
