"""Notes that one side alone changed, and those that look so and are not."""

from __future__ import annotations

from dataclasses import replace

from kimi_memory.formats import codec
from kimi_memory.merge.one_sided import find_one_sided
from kimi_memory.merge.trees import join
from tests.merge.values import card

PORT = card(id="card-1", key="deploy.port", value="8080")
PLACE = codec.place(PORT)


def write(**values: object) -> bytes:
    return codec.render(replace(PORT, **values)).encode()  # type: ignore[arg-type]  # any field


OLD, NEW, OTHER = write(), write(value="8443"), write(value="9999")


def test_what_one_side_changed_made_or_removed_is_taken_unread() -> None:
    # Of this file no more than the id is looked at.
    broken = OLD.replace(b"\n---\n", b"\nkey: [\n---\n")
    for new in (NEW, broken):
        for sides in (({PLACE: OLD}, {PLACE: new}), ({PLACE: new}, {PLACE: OLD})):
            found = find_one_sided({PLACE: OLD}, *sides)
            assert [(one.path, one.content, one.id) for one in found.wanted] == [
                (PLACE, new, "card-1")
            ]
            assert join({PLACE: OLD}, *sides).files == {PLACE: new}
    assert find_one_sided({}, {}, {PLACE: NEW}).ids == {"card-1"}
    gone = find_one_sided({PLACE: OLD}, {PLACE: OLD}, {})
    assert (gone.paths, gone.wanted) == ({PLACE}, ())


def test_what_both_changed_or_moved_is_merged_by_its_values() -> None:
    assert not find_one_sided({PLACE: OLD}, {PLACE: NEW}, {PLACE: OTHER}).paths
    moved = {"semantic/port.md": OLD}
    assert not find_one_sided({PLACE: OLD}, moved, {PLACE: NEW}).paths
    assert join({PLACE: OLD}, moved, {PLACE: NEW}).files == {"semantic/port.md": NEW}
    another = write(id="card-2")
    assert not find_one_sided({PLACE: OLD}, {PLACE: OLD}, {PLACE: another}).paths
    plain = {"README.md": b"# Shop\n"}
    assert not find_one_sided(plain, plain, {}).paths


def test_a_version_that_lost_and_lies_elsewhere_on_one_side_stands_once() -> None:
    base, ours, theirs = {PLACE: OLD}, {PLACE: NEW}, {PLACE: OTHER}
    lost = next(iter(join(base, ours, theirs).files.items() - {*ours.items(), *theirs.items()}))
    moved = {"semantic/lost.md": lost[1]}
    found = join(base, {**ours, **moved}, theirs).files
    assert list(found.values()).count(lost[1]) == 1, found
