"""How many processes of git an act takes: each costs as much as a search does."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.domain.session import Role
from kimi_memory.jobs.purge import Doomed
from kimi_memory.operations.forget import purge
from kimi_memory.operations.merge_copy import merge_copy
from kimi_memory.operations.open_questions import waiting_files
from kimi_memory.operations.remotes import add_remote
from kimi_memory.operations.sync_remotes import sync_memory
from tests.store.git.repositories import git

Calls = Callable[[], list[str]]


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Calls]:
    """Return the commands that were given to git since it was asked last."""
    log, place = tmp_path / "calls", tmp_path / "bin/git"
    place.parent.mkdir()
    place.write_text(f'#!/bin/sh\necho "$*" >> "{log}"\nexec "{shutil.which("git")}" "$@"\n')
    place.chmod(0o755)
    monkeypatch.setenv("PATH", str(place.parent), prepend=":")
    log.touch()

    def since() -> list[str]:
        found = log.read_text("utf-8").splitlines()
        log.write_text("")
        return found

    yield since


def test_a_memory_is_made_by_five_processes(tmp_path: Path, opening: Opening, calls: Calls) -> None:
    with Memory.create(tmp_path / "m", opening=opening):
        found = calls()
    assert len(found) <= 5, found


def test_a_commit_takes_three_processes(memory: Memory, calls: Calls) -> None:
    session = memory.session("s")
    for text in ("Ann likes tea.", "Bob likes coffee.", "Cleo likes water."):
        session.turn(Role.USER, text)
        calls()
        assert memory.batch.flush()
    found = calls()
    assert len(found) <= 3, found


def test_a_commit_after_somebody_staged_a_file_leaves_it_staged(memory: Memory) -> None:
    session = memory.session("s")
    for number in range(2):
        session.turn(Role.USER, f"Turn {number}.")
        memory.batch.flush()
    page = memory.root / "USER.md"
    page.write_text("# Ann\n", encoding="utf-8")
    git(memory.root, "add", "USER.md")
    page.write_text("# Ann\n\nLikes tea.\n", encoding="utf-8")
    session.turn(Role.USER, "Turn 2.")
    memory.batch.flush()
    assert git(memory.root, "show", ":USER.md") == "# Ann"
    assert git(memory.root, "show", "HEAD:USER.md") == "# Ann\n\nLikes tea."
    git(memory.root, "reset", "-q")
    session.turn(Role.USER, "Turn 3.")
    memory.batch.flush()
    assert git(memory.root, "status", "--porcelain") == ""


def test_a_question_that_is_asked_again_about_a_point_asks_git_nothing(
    memory: Memory, calls: Calls
) -> None:
    memory.remember("The deploy port is 8080.", key="deploy.port")
    memory.batch.flush()
    memory.remember("The deploy port is 9090.", key="deploy.port")
    memory.batch.flush()
    assert memory.at("HEAD^").recall("which deploy port?").hits
    point = f"v{memory.points.find('HEAD').version - 1}"
    memory.at(point).recall("which deploy port?")
    calls()
    assert memory.at(point).recall("which deploy port?").hits
    assert calls() == []


def test_a_first_look_back_asks_git_for_what_differs_alone(
    memory: Memory, opening: Opening, calls: Calls
) -> None:
    for port in range(8080, 8084):
        memory.remember(f"The deploy port is {port}.", key="deploy.port")
        memory.batch.flush()
    with Memory.open(memory.root, opening) as fresh:
        fresh.recall("which deploy port?")
        calls()
        assert fresh.at("v2").recall("which deploy port?").hits
    found = calls()
    assert len(found) <= 3, found


def test_the_week_leaves_a_list_of_commits_by_which_git_reads_none_of_them(
    memory: Memory, calls: Calls
) -> None:
    memory.remember("The deploy port is azure-falcon.", key="deploy.port")
    memory.batch.flush()
    rows = memory.points.graph().rows
    memory.consolidate("weekly")
    listed = memory.root / ".git/objects/info/commit-graph"
    assert listed.is_file()
    memory.remember("The deploy port is 9090.", key="deploy.port")
    memory.batch.flush()
    assert list(memory.history.graph())[: len(rows)] == list(rows)
    found = [one for one in calls() if "rev-list" in one]
    # For a format of its own git would read each commit all the same.
    assert found
    assert not [one for one in found if "--date-order" in one and "--format" in one]
    purge(memory, Doomed(("azure-falcon",)), yes=True)
    assert not listed.exists()
    assert memory.points.graph().head == memory.history.head()


def test_where_the_branch_is_costs_nothing_after_git_packed_it(
    memory: Memory, calls: Calls
) -> None:
    memory.remember("The deploy port is 8080.", key="deploy.port")
    memory.batch.flush()
    head = memory.history.head()
    git(memory.root, "branch", "main-old", "HEAD~1")
    git(memory.root, "pack-refs", "--all")
    assert not (memory.root / ".git/refs/heads/main").exists()
    calls()
    assert memory.history.head() == head
    assert memory.blame("deploy.port")
    found = calls()
    assert not [one for one in found if "rev-parse" in one], found
    memory.remember("Ann likes tea.", key="ann.tea")
    memory.batch.flush()
    assert memory.history.head() == git(memory.root, "rev-parse", "HEAD") != head


@pytest.fixture
def peers(memory: Memory, tmp_path: Path, opening: Opening) -> Iterator[tuple[Memory, Memory]]:
    """Two copies that are in step with one remote."""
    for number in range(6):
        memory.remember(f"The port of service {number} is 80{number}.", key=f"port.s{number}")
    hub = tmp_path / "hub.git"
    git(tmp_path, "init", "-q", "--bare", "-b", "main", str(hub))
    add_remote(memory, "hub", str(hub))
    sync_memory(memory)
    git(tmp_path, "clone", "-q", str(hub), "peer")
    home = Home(tmp_path / "peer-config", tmp_path / "peer-state")
    elsewhere = Opening(home=home, clock=opening.clock, host=opening.host, background=False)
    with Memory.open(tmp_path / "peer", elsewhere) as peer:
        add_remote(peer, "hub", str(hub))
        sync_memory(peer)
        yield memory, peer


def test_a_sync_that_finds_nothing_new_asks_once(
    peers: tuple[Memory, Memory], calls: Calls
) -> None:
    sync_memory(peers[0])
    calls()
    sync_memory(peers[0])
    found = calls()
    assert len(found) == 1, found


def test_what_a_merge_asks_of_git_does_not_grow_with_the_notes(
    peers: tuple[Memory, Memory], calls: Calls
) -> None:
    memory, peer = peers
    counts = []
    for numbers in ((0,), range(1, 6)):
        for number in numbers:
            for one, port in ((memory, "1"), (peer, "2")):
                page = next((one.root / "semantic").rglob(f"port.s{number}.md"))
                text = page.read_text(encoding="utf-8").replace(f"80{number}", port * 4)
                page.write_text(text, encoding="utf-8")
                one.batch.note()
        sync_memory(peer)
        calls()
        [report] = sync_memory(memory)
        assert report.merged, report
        counts.append(len(calls()))
        sync_memory(peer)
    assert counts[1] <= counts[0] + 2, counts


def test_blame_of_a_page_asks_of_all_its_cards_at_once(
    tmp_path: Path, opening: Opening, calls: Calls
) -> None:
    counts = []
    with Memory.create(tmp_path / "m", opening=opening) as memory:
        for number in range(4):
            memory.remember(f"The port of s{number} is 80{number}.", key=f"port.s{number}")
            memory.batch.flush()
        shown = [line for line in memory.blame("MEMORY.md") if line.note]
        calls()
        for count in (1, len(shown)):
            assert len(memory.blame(f"MEMORY.md:{shown[0].line}-{shown[count - 1].line}")) >= count
            counts.append(len(asked := calls()))
            # What a card says is in the table of the past; git would walk through the history.
            assert not any(" blame " in one for one in asked), asked
    assert len(shown) == 4
    assert counts[0] == counts[1] <= 3, counts


@pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="needs OpenSSH")
def test_a_signed_commit_asks_git_as_often_as_another(
    tmp_path: Path, opening: Opening, calls: Calls
) -> None:
    key, home = tmp_path / "key", Home(tmp_path / "config", tmp_path / "state")
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    home.config.mkdir()
    (home.config / "config.toml").write_text(f'[signing]\nkey = "{key}"\nwhen = "commit"\n')
    with Memory.create(tmp_path / "m", opening=replace(opening, home=home)) as memory:
        session = memory.session("s")
        for text in ("Ann likes tea.", "Bob likes coffee."):
            session.turn(Role.USER, text)
            calls()
            assert memory.batch.flush()
            found = calls()
    assert len(found) <= 3, found
    assert "gpgsig -----BEGIN SSH SIGNATURE-----" in git(tmp_path / "m", "cat-file", "-p", "HEAD")


def test_new_notes_that_wait_are_read_without_a_process_for_each(
    peers: tuple[Memory, Memory], calls: Calls
) -> None:
    memory, peer = peers
    counts = []
    for numbers in (range(1), range(1, 7)):
        for number in numbers:
            memory.remember(f"The mast of pier {number} is red.", key=f"mast.p{number}")
        memory.batch.flush()
        merge_copy(peer, str(memory.root))
        calls()
        assert peer.recall("which mast is red?").hits
        assert len(waiting_files(peer)) > numbers[-1]
        counts.append(len(calls()))
    assert counts[1] <= counts[0] + 2, counts


def test_a_merge_of_a_copy_that_went_its_own_way_carries_what_is_new_alone(
    peers: tuple[Memory, Memory], calls: Calls
) -> None:
    for one, port in zip(peers, (8443, 9090), strict=True):
        one.remember(f"The deploy port is {port}.", key="deploy.port")
        one.batch.flush()
    memory, peer = peers
    whole = git(peer.root, "rev-list", "--objects", "HEAD").splitlines()
    assert len(whole) >= 100, "a pack of so many is kept as it is"
    calls()
    merge_copy(memory, str(peer.root))
    assert not [one for one in calls() if " index-pack " in one]
