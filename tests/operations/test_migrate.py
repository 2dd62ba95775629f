"""Memories that move to another folder: nothing is closed before the new one was checked."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.cli import run
from kimi_memory.errors import GateError, MovedError, RemoteError, UsageError
from kimi_memory.operations import migrate as migration
from kimi_memory.operations import take_in as taking_in
from kimi_memory.operations.bundles import export_bundle, import_bundle
from kimi_memory.operations.copy_state import CopyState
from kimi_memory.operations.doctor import doctor, fix
from kimi_memory.operations.drop_folders import meet_in_folder
from kimi_memory.operations.merge_copy import merge_copy
from kimi_memory.operations.migrate import migrate, take_back
from kimi_memory.operations.migrate_remote import RemotePlace, find_remote
from kimi_memory.operations.migrate_ssh import read_place
from kimi_memory.operations.remotes import add_remote
from kimi_memory.operations.sync_remotes import sync_memory
from kimi_memory.store.files.paths import RECEIPTS
from kimi_memory.store.git.bundle import read_bundle
from tests.operations.test_bundles import TEXTS, same
from tests.operations.test_merge_copy import values
from tests.test_copies import clone, errors, git

__all__ = ["clone"]

Clone = Callable[[str], Memory]


def fill(memory: Memory) -> None:
    for text in TEXTS:
        memory.remember(text)
    memory.session("talk").turn("user", "We use PostgreSQL for the shop.")


def test_a_memory_that_moved_is_the_same_there_and_takes_no_writes_here(
    memory: Memory, opening: Opening, tmp_path: Path
) -> None:
    fill(memory)
    place = tmp_path / "new"
    done = migrate(memory, place)
    assert done.moved
    assert len(done.checked) == 4
    with pytest.raises(MovedError, match=str(place)):
        memory.remember("Too late.")
    with Memory.open(memory.root, opening) as again, Memory.open(place, opening) as there:
        assert again.store.moved == str(place)
        with pytest.raises(MovedError, match=r"migrate --back"):
            again.remember("Too late.")
        assert "PostgreSQL" in values(again, "which database has the shop?")
        assert errors(again) == []
        found = [one for one in doctor(again) if one.check == "store"]
        assert ["moved to" in one.message for one in found] == [True]
        list(fix(again, found))
        with pytest.raises(MovedError):
            again.remember("Too late.")
        with pytest.raises(MovedError):
            migrate(again, tmp_path / "newer")
        export_bundle(again, tmp_path / "x.bundle")
        with pytest.raises(MovedError):
            import_bundle(again, tmp_path / "x.bundle")
        assert there.settings.memory.moved == ""
        assert there.settings.memory.id == memory.settings.memory.id
        there.remember("Cleo likes water.", key="cleo.drink")
        there.batch.flush()
        assert take_back(again) == str(place)
        with pytest.raises(UsageError, match="was not moved"):
            take_back(again)
        again.remember("Dan likes milk.", key="dan.drink")
        again.batch.flush()
        merge_copy(again, str(place))
        merge_copy(there, str(memory.root))
        assert there.settings.memory.moved == ""
        assert errors(again) == errors(there) == []
        assert "moved" not in (there.root / "memory.toml").read_text("utf-8")


def test_a_copy_that_is_kept_goes_on_beside(
    memory: Memory, opening: Opening, tmp_path: Path
) -> None:
    fill(memory)
    assert not migrate(memory, tmp_path / "new", keep_source=True).moved
    with Memory.open(tmp_path / "new", opening) as there:
        same(memory, there)
    memory.remember("It still takes writes.")


def test_what_was_asked_here_keeps_no_memory_from_moving(memory: Memory, tmp_path: Path) -> None:
    fill(memory)
    memory.recall("which database has the shop?")
    memory.batch.flush()
    assert RECEIPTS in memory.store.files()
    assert migrate(memory, tmp_path / "new").moved


def test_what_a_copy_lacks_is_carried_to_it(
    memory: Memory, opening: Opening, tmp_path: Path
) -> None:
    place = tmp_path / "b"
    migrate(memory, place, keep_source=True)
    base = memory.history.head()
    memory.remember("Bob likes coffee.", key="bob.drink")
    assert migrate(memory, place, since=base).moved
    with pytest.raises(MovedError):
        memory.remember("Too late.")
    with Memory.open(place, opening) as other:
        assert "coffee" in values(other, "what does Bob like?")
        assert errors(other) == []
        with pytest.raises(MovedError):
            migrate(other, memory.root)
        merge_copy(other, str(memory.root))
        assert "moved" not in (place / "memory.toml").read_text("utf-8")
        assert other.settings_wait == ""


def test_what_comes_while_it_moves_is_carried_as_well(
    memory: Memory, opening: Opening, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that has the memory open writes until the mark stands there."""
    fill(memory)
    describe = migration.describe_copy

    def say_before(copy: Memory, questions: list[str], at: datetime) -> CopyState:
        copy.remember("Eve likes juice.", key="eve.drink")
        return describe(copy, questions, at)

    def say_after(copy: Memory, questions: list[str], at: datetime) -> CopyState:
        state = describe(copy, questions, at)
        copy.remember("Finn likes milk.", key="finn.drink")
        return state

    monkeypatch.setattr(migration, "describe_copy", say_before)
    with pytest.raises(GateError, match="other"):
        migrate(memory, tmp_path / "not")
    monkeypatch.setattr(migration, "describe_copy", say_after)
    assert migrate(memory, tmp_path / "new").moved
    with Memory.open(tmp_path / "new", opening) as there:
        assert "juice" in values(there, "what does Eve like?")
        assert "milk" in values(there, "what does Finn like?")
        assert errors(there) == []
        assert there.settings.memory.moved == ""
        there.batch.flush()
        assert git(there.root, "status", "--porcelain").strip() == ""


def change_byte(copy: Memory) -> None:
    page = next((copy.root / "semantic").rglob("*.md"))
    page.write_bytes(page.read_bytes() + b"!")


def add_file(copy: Memory) -> None:
    (copy.root / "more.md").write_text("More.\n", encoding="utf-8")


def add_version(copy: Memory) -> None:
    git(copy.root, "commit", "-q", "--allow-empty", "-m", "Nothing")


def add_name(copy: Memory) -> None:
    copy.history.set_name("other", copy.history.head())


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (change_byte, "other bytes"),
        (add_file, "other files"),
        (add_version, "another history"),
        (add_name, "other names"),
    ],
)
def test_a_source_whose_copy_differs_stays_open(
    damage: Callable[[Memory], None],
    why: str,
    memory: Memory,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fill(memory)
    unpack = taking_in.unpack_copy

    def unpacked(path: Path, folder: Path, opening: Opening) -> None:
        unpack(path, folder, opening)
        with Memory.open(folder, opening) as copy:
            damage(copy)

    monkeypatch.setattr(taking_in, "unpack_copy", unpacked)
    with pytest.raises(GateError, match=why):
        migrate(memory, tmp_path / "new")
    memory.remember("It still takes writes.")


def test_what_could_not_be_carried_after_is_usable_here(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The place went out of reach between the check and what was written meanwhile."""
    fill(memory)
    describe, place = migration.describe_copy, tmp_path / "new"

    def lose(copy: Memory, questions: list[str], at: datetime) -> CopyState:
        state = describe(copy, questions, at)
        copy.remember("Eve likes juice.", key="eve.drink")
        shutil.rmtree(place)
        place.write_text("something else lies there now", encoding="utf-8")
        return state

    monkeypatch.setattr(migration, "describe_copy", lose)
    with pytest.raises(UsageError, match="is no folder"):
        migrate(memory, place)
    assert memory.store.moved == ""
    assert "moved" not in (memory.root / "memory.toml").read_text("utf-8")
    memory.remember("It takes writes again.")


def test_a_place_on_another_machine_is_a_url_of_ssh() -> None:
    place = read_place("ssh://li@nas:2222/srv/my%20memory")
    assert place
    assert (place.server, place.port, place.path) == ("li@nas", 2222, "/srv/my memory")
    home = read_place("ssh://nas/~/mine")
    assert home
    assert (home.server, home.port, home.path) == ("nas", None, "mine")
    assert read_place("/srv/mine") is read_place("nas:mine") is None
    for text in (
        "ssh://nas", "ssh://nas/", "ssh:///srv/mine", "ssh://-oProxyCommand=x/srv", "ssh://-x@nas/srv",
        "ssh://li:word@nas/srv", "ssh://nas:port/srv", "ssh://nas/~li/mine", "ssh://nas/a%0ab",
    ):  # fmt: skip
        with pytest.raises(UsageError):
            read_place(text)


def test_a_memory_does_not_move_into_itself(memory: Memory) -> None:
    for place in (memory.root / "inside", memory.root):
        with pytest.raises(UsageError, match="lies in the memory itself"):
            migrate(memory, place)
    memory.remember("It takes writes even now.")


def test_where_a_memory_moved_is_kept_in_its_history_and_holds_no_secret(
    memory: Memory, tmp_path: Path
) -> None:
    fill(memory)
    place = tmp_path / ("ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8")
    for keep_source in (False, True):
        with pytest.raises(UsageError, match="name of the folder holds a secret"):
            migrate(memory, place, keep_source=keep_source)
    assert not place.exists()
    memory.remember("It still takes writes.")


def test_a_memory_moves_by_way_of_a_drop_folder(
    memory: Memory, clone: Clone, tmp_path: Path
) -> None:
    other = clone("b")
    fill(memory)
    folder = tmp_path / "drop"
    with pytest.raises(UsageError, match="is not there"):
        migrate(memory, folder, drop=True)
    folder.mkdir()
    done = migrate(memory, folder, drop=True)
    assert done.moved
    assert "is whole" in done.checked[-1]
    assert len(meet_in_folder(other, folder).merged) == 1
    assert "PostgreSQL" in values(other, "which database has the shop?")
    assert other.settings.memory.moved == ""


def test_by_way_of_a_drop_folder_only_what_came_after_a_point_is_carried(
    memory: Memory, tmp_path: Path
) -> None:
    fill(memory)
    folder, base = tmp_path / "drop", memory.history.head()
    folder.mkdir()
    memory.remember("Bob likes coffee.", key="bob.drink")
    migrate(memory, folder, since=base, drop=True, keep_source=True)
    [path] = folder.rglob("*.bundle")
    assert read_bundle(path).manifest.base == base


def test_a_person_moves_a_memory_and_takes_it_back(
    memory: Memory, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root, place = ["--memory", str(memory.root)], tmp_path / "new"
    assert run(["migrate", str(place), *root]) == 0
    assert "add --yes" in capsys.readouterr().out
    assert not place.exists()
    assert run(["migrate", str(place), "--keep-source", "--dry-run", *root]) == 0
    assert not place.exists()
    # People read the name in every refusal from then on.
    assert run(["migrate", f"{memory.root}/../new", "--yes", *root]) == 0
    assert "takes no writes" in capsys.readouterr().out
    for command in (["recall", "tea"], ["status"], ["log"]):
        assert run([*command, *root]) == 0
        assert f"moved to {place}" in capsys.readouterr().err
    assert run(["remember", "Too late.", *root]) == 35
    err = capsys.readouterr().err
    assert f"moved to {place}" in err
    assert run(["migrate", "--back", "--json", *root]) == 0
    assert json.loads(capsys.readouterr().out)["back"] == str(place)
    assert run(["remember", "In time.", *root]) == 0
    assert run(["migrate", *root]) == 2
    assert run(["migrate", "x", "--back", *root]) == 2


def make_hub(memory: Memory, tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q", "--bare", "-b", "main", "hub.git")
    add_remote(memory, "hub", f"file://{tmp_path}/hub.git")
    return tmp_path / "hub.git"


def test_a_memory_moves_to_a_remote_and_a_clone_of_it_is_the_same(
    memory: Memory, opening: Opening, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(memory)
    hub = make_hub(memory, tmp_path)
    at = ["--memory", str(memory.root)]
    assert run(["remote", "add", "hub", f"file://{hub}", *at]) == 0
    assert run(["migrate", "hub", *at]) == 0
    assert "Would carry" in capsys.readouterr().out
    assert git(hub, "for-each-ref") == ""
    assert run(["migrate", "hub", "--yes", *at]) == 0
    said = capsys.readouterr().out
    assert said.startswith("Moved ") and str(hub) in said and "sha256" in said
    assert "moved" not in git(hub, "show", "main:memory.toml")
    git(tmp_path, "clone", "-q", "hub.git", "new")
    with Memory.open(memory.root, opening) as again, Memory.open(tmp_path / "new", opening) as new:
        with pytest.raises(MovedError, match="hub"):
            again.remember("Too late.")
        for question in TEXTS:
            assert values(new, question) == values(again, question)
        assert git(again.root, "rev-parse", "HEAD^") == git(hub, "rev-parse", "main")
        new.remember("Cleo likes water.", key="cleo.drink")
        new.batch.flush()
        git(new.root, "push", "-q", "origin", "main")
        take_back(again)
        [report] = sync_memory(again)
        assert not report.failed and "moved" not in git(hub, "show", "main:memory.toml")
        assert errors(new) == []


def test_a_memory_is_not_closed_where_a_remote_has_not_all_of_it(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(memory)
    hub = make_hub(memory, tmp_path)
    place = RemotePlace(find_remote(memory, "hub"))
    with pytest.raises(UsageError, match="since"):
        migrate(memory, place, since="v1")
    hub.rename(tmp_path / "away")
    for dry_run in (True, False):
        with pytest.raises(RemoteError):
            migrate(memory, place, dry_run=dry_run)
    (tmp_path / "away").rename(hub)
    # Somebody writes when it was looked at, and once it is marked.
    describe = migration.describe_remote

    def write_after(*given: object) -> CopyState:
        found = describe(*given)
        memory.remember("Eve likes juice.", key="eve.drink")
        return found

    monkeypatch.setattr(migration, "describe_remote", write_after)
    with pytest.raises(GateError):
        migrate(memory, place)
    assert memory.store.moved == ""
    memory.remember("It still takes writes.")
    assert errors(memory) == []


def test_what_waits_for_a_word_keeps_a_memory_from_a_remote(
    memory: Memory, clone: Clone, tmp_path: Path
) -> None:
    memory.remember("Ann likes tea.", key="ann.drink")
    other = clone("b")
    other.remember("Bob likes coffee.", key="bob.drink")
    other.batch.flush()
    merge_copy(memory, str(other.root))
    hub = make_hub(memory, tmp_path)
    with pytest.raises(UsageError, match="waits for your word"):
        migrate(memory, RemotePlace(find_remote(memory, "hub")))
    assert git(hub, "for-each-ref") == ""


def test_a_remote_that_is_a_drop_folder_gets_a_bundle(
    memory: Memory, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "drop").mkdir()
    memory.remember("Ann likes tea.", key="ann.drink")
    at = ["--memory", str(memory.root)]
    assert run(["remote", "add", "usb", str(tmp_path / "drop"), "--drop", *at]) == 0
    assert run(["migrate", "usb", "--yes", *at]) == 0
    assert "is whole" in capsys.readouterr().out
    assert list((tmp_path / "drop").rglob("*.bundle"))
