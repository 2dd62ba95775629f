"""Laws that every job keeps: dry, taken back, done once, whole or not at all, explained.

The table of jobs is in `tests.laws`. What writes and has no row there fails a test here.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.domain.job import Job
from kimi_memory.domain.job_registry import JOBS as REGISTERED
from kimi_memory.errors import NotFoundError, UsageError
from kimi_memory.formats.job_file import job_of
from kimi_memory.hooks.host import Host
from kimi_memory.jobs.pages import is_page
from kimi_memory.store.notes.notes import Shelf
from kimi_memory.store.store import Store
from tests.conftest import Clock
from tests.faults.disks import EndingDisk, Gone
from tests.laws import TABLE, WORDS, Row, World, writers

JOBS = "mid-term/jobs"
NEVER = 1 << 60
_FEW = 3
_MANY = int(os.environ.get("LAWS_CALLS", "100"))
"""At so many calls of each job a long run cuts it short; 0: at every call, which takes hours."""
_SEED = int(os.environ.get("LAWS_SEED", "0")) or date.today().toordinal()
"""Which ones: as many seeds in a row as there are calls between two of them try every call."""
_MAY_DIFFER = re.compile(r"short-term/session_.*\.json|mid-term/jobs/purge-.*")


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    """A folder in main memory, since what lies there is copied and synced often."""
    shared = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="kimi-", dir=shared if shared.is_dir() else None))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(params=WORDS)
def lang(request: pytest.FixtureRequest) -> str:
    """A language."""
    found: str = request.param
    return found


@pytest.fixture(params=TABLE)
def name(request: pytest.FixtureRequest) -> str:
    """A way in which memory is changed."""
    found: str = request.param
    return found


@pytest.fixture
def row(name: str) -> Row:
    """What the table says of it."""
    return TABLE[name]


@pytest.fixture
def opening(place: Path, clock: Clock) -> Opening:
    """How the memories here are opened; their keys lie beside them."""
    home = Home(place / "config", place / "state")
    return Opening(home=home, clock=clock, host=Host(entry_points=False), background=False)


@pytest.fixture
def world(place: Path, name: str, lang: str, opening: Opening, clock: Clock) -> Iterator[World]:
    """A memory in which there is something to do; it is made once, and then copied."""
    kept, here = place / f"{name} {lang}", place / "here"
    shutil.rmtree(here, ignore_errors=True)
    if not kept.exists():
        with Memory.create(here / "memory", opening=opening) as memory:
            TABLE[name].prepare(World(memory, clock, WORDS[lang]))
            # Pages follow the notes, also those that a row put there by hand.
            memory.jobs.refresh_pages(memory.actor, ())
            memory.batch.flush("Prepared")
            memory.store.reconcile()
        shutil.move(here, kept)
    shutil.copytree(kept, here)
    with Memory.open(here / "memory", opening) as memory:
        assert memory.copy_id  # As after the first commit of a folder.
        memory.store.reconcile()
        yield World(memory, clock, WORDS[lang])


def every_byte(root: Path) -> dict[str, str]:
    """Return all files with their hashes: those of git and the private ones, too."""
    return {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def truth(root: Path, row: Row) -> dict[str, str]:
    """Return the files of truth with their hashes, without turns that the row stores first."""
    return {
        path: hash
        for path, hash in every_byte(root).items()
        # MEMORY.md is made anew of the others whenever they change.
        if not path.startswith((".git/", ".kimi/", "MEMORY.md"))
        and not (row.captures and path.startswith("short-term/session_"))
    }


def jobs(memory: Memory) -> dict[str, Job]:
    return {path: job_of(memory.store.read(path)) for path in memory.store.files(JOBS)}


def act(world: World, row: Row) -> list[Job]:
    """Do it and return the jobs it was, oldest first."""
    before = jobs(world.memory)
    row.act(world)
    order = [c.trailers.get("Job", "") for c in world.memory.history.log(limit=50)][::-1]
    fresh = [job for path, job in jobs(world.memory).items() if path not in before]
    # A purge renames records of earlier jobs whose ids were made of its words.
    fresh = [job for job in fresh if row.undoes or job.kind == row.kind]
    return sorted(fresh, key=lambda job: order.index(job.id))


def test_every_kind_of_job_has_a_row() -> None:
    assert {job.name for job in REGISTERED} | {"purge"} == {row.kind for row in TABLE.values()}


def test_nothing_else_writes_into_a_memory() -> None:
    assert writers() == {
        "api/consolidation.py",  # receipts that were counted
        "api/scaffold.py",  # a new memory
        "capture/log.py",  # turns
        "recall/engine.py",  # what was shown
        "operations/agent_files.py",  # an agent's own notes
        "jobs/runner.py",  # every job
        "jobs/undo.py",
        "jobs/rekeying.py",  # hashes of an earlier version
        "operations/forget.py",  # purge
        "jobs/merging.py",  # files of another copy of the memory
        "operations/setting_list.py",  # settings, on a person's word
        "operations/migrate.py",  # where the memory went, in its settings
        "operations/new_folders.py",  # a folder of its own
        "server/simple.py",  # a card's line on a person's page
        "operations/review_queue.py",  # a file that was turned away
        "runs/run_records.py",  # figures of agents' runs
        "runs/identity.py",  # who the memory is, on a person's word
        "operations/lost_tombstones.py",  # stones that history has, on a person's word
        "operations/session_evidence.py",  # two sessions that a merge wrote into one file
    }


def test_what_has_no_dry_run_only_stores_what_was_said() -> None:
    assert {name for name, row in TABLE.items() if row.dry is None} == {"remember", "compact"}


def test_a_dry_run_writes_no_byte_anywhere(world: World, row: Row) -> None:
    if row.dry is None:
        pytest.skip("it has none")
    before = every_byte(world.memory.root)
    row.dry(world)
    assert every_byte(world.memory.root) == before


def test_a_dry_run_foretells_the_job(world: World, row: Row) -> None:
    if row.dry is None or not row.undoes:
        pytest.skip("it has none")
    told = _ids(row.dry(world))
    assert told
    assert set(told) <= {job.id for job in act(world, row)}


def _ids(answer: object) -> list[str]:
    """Return the ids of the jobs in what a dry run returned."""
    reports = answer if isinstance(answer, list) else [answer]
    found = []
    for one in reports:
        inner = getattr(one, "jobs", None) or [getattr(one, "job", one)]
        found += [report.id for report in inner if report.id]
    return found


def test_undo_gives_back_every_byte(world: World, row: Row) -> None:
    if not row.undoes:
        pytest.skip("it destroys on purpose")
    before = truth(world.memory.root, row)
    found = act(world, row)
    assert truth(world.memory.root, row) != before
    for job in reversed(found):
        world.memory.undo(job.id)
    assert truth(world.memory.root, row) == before


def test_once_more_there_is_nothing_to_do(world: World, row: Row) -> None:
    act(world, row)
    after = every_byte(world.memory.root / "mid-term") | truth(world.memory.root, row)
    head = world.memory.history.head()
    world.clock.move(minutes=7)
    with suppress(UsageError, NotFoundError):  # As who forgets what is forgotten already.
        row.act(world)
    assert every_byte(world.memory.root / "mid-term") | truth(world.memory.root, row) == after
    assert world.memory.history.head() == head


def test_every_change_says_why(world: World, row: Row) -> None:
    found = act(world, row)
    assert row.kind in {job.kind for job in found}
    for job in found:
        shelf = Shelf(world.memory.store)
        assert all(operation.why.strip() for operation in job.operations)
        told = {operation.target for operation in job.operations}
        at = {entry.path: entry.id for entry in shelf.entries().values()}
        changed = {at[e.path] for e in job.effects if e.path in at and not is_page(e.path)}
        assert changed <= told
        commit = next(
            c for c in world.memory.history.log(limit=20) if c.trailers.get("Job") == job.id
        )
        assert commit.trailers["Kind"] == job.kind


@pytest.mark.parametrize(
    ("most", "seed"),
    [
        pytest.param(_FEW, 0, id="few"),
        pytest.param(
            _MANY, _SEED, id="many", marks=[pytest.mark.faults, pytest.mark.timeout(7200)]
        ),
    ],
)
def test_one_that_is_cut_short_happened_or_did_not(
    world: World, row: Row, opening: Opening, most: int, seed: int
) -> None:
    memory, root = world.memory, world.memory.root
    memory.close()
    kept = root.parent / "kept"
    shutil.rmtree(kept, ignore_errors=True)
    shutil.copytree(root, kept)
    before, count, stages = truth(root, row), *_counted(world, row, opening)
    for at in _calls(count, most, seed):
        where = f"cut short at call {at} of {count}; LAWS_SEED={seed} tries it again"
        _refill(root, kept)
        _cut(world, row, opening, at)
        with Memory.open(root, opening) as again:
            again.store.clear_read_only()  # What ended was this process, and so might live.
            found = truth(root, row)
            assert [] in [_apart(found, stage) for stage in (before, *stages)], where
            with suppress(UsageError, NotFoundError):
                row.act(replace(world, memory=again))
        # A turn that is stored already becomes a card when its session ends.
        if not row.captures:
            assert _apart(truth(root, row), stages[-1]) == [], where


def _refill(root: Path, kept: Path) -> None:
    """Put a folder back as it was; as the same folder it is the same copy, which jobs name."""
    for entry in root.iterdir():
        shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    shutil.copytree(kept, root, dirs_exist_ok=True)


def _calls(count: int, most: int, seed: int) -> range:
    """Return the calls to be cut short, evenly spread; the seed says where they begin."""
    step = -(-count // most) if most else 1
    return range(1 + seed % step, count + 1, step)


def test_seeds_in_a_row_try_every_call() -> None:
    tried = [at for seed in range(739_000, 739_010) for at in _calls(972, 100, seed)]
    assert sorted(tried) == list(range(1, 973))
    assert [*_calls(972, 3, 0)] == [1, 325, 649]
    assert [*_calls(3, 100, 7)] == [*_calls(3, 0, 7)] == [1, 2, 3]


def _apart(one: dict[str, str], other: dict[str, str]) -> list[str]:
    """Return the paths at which two trees differ, but for those in which the end may show.

    A view follows its session at some distance; the receipt of a purge says what the last
    run of it found.
    """
    paths = {path for path, _ in one.items() ^ other.items()}
    return sorted(path for path in paths if not _MAY_DIFFER.fullmatch(path))


def _counted(world: World, row: Row, opening: Opening) -> tuple[int, list[dict[str, str]]]:
    """Do it, count the calls of the disk, and return the trees after each of its jobs."""
    root = world.memory.root
    disk = EndingDisk(NEVER)
    with _on(disk, world, opening) as memory:
        begun = disk.count
        found = act(replace(world, memory=memory), row)
        ended = disk.count
        stages = [truth(root, row)]
        for job in reversed(found[1:]):
            memory.undo(job.id)
            stages.insert(0, truth(root, row))
    return ended - begun, stages


def _cut(world: World, row: Row, opening: Opening, at: int) -> None:
    disk = EndingDisk(NEVER)
    with _on(disk, world, opening) as memory:
        disk.at = disk.count + at
        with suppress(Gone):
            row.act(replace(world, memory=memory))


def _on(disk: EndingDisk, world: World, opening: Opening) -> Memory:
    """Open the memory on a disk of ours."""
    memory = Memory.open(world.memory.root, opening)
    memory.store.close()
    assert opening.home is not None
    key = opening.home.key()
    memory.store = Store.open(memory.root, key=key, clock=opening.clock, disk=disk)
    return memory
