"""Hidden and machine-local files: found, washed or removed, never left."""

from __future__ import annotations

from pathlib import Path

from kimi_memory import Memory
from kimi_memory.store.wipe_caches import places, restart_journal, wipe
from tests.store.git.test_rewrite import SECRET, Plain


def test_derived_files_go_and_others_are_rewritten(memory: Memory) -> None:
    root = memory.root
    for path in (".kimi/tmp/a", ".kimi/lost+found/b", ".obsidian/c.json", "d.tmp", f".e {SECRET}"):
        place = root / path
        place.parent.mkdir(exist_ok=True)
        place.write_text(f"x {SECRET}", encoding="utf-8")
    (root / f"folder {SECRET}" / "sub").mkdir(parents=True)
    (root / f"empty {SECRET}").mkdir()
    assert wipe(root, Plain()) == 5
    assert places(root, Plain()) == []
    assert not (root / ".kimi/tmp/a").exists()
    assert (root / ".kimi/lost+found/b").read_text(encoding="utf-8") == "x gone"
    assert (root / "d.tmp").read_text(encoding="utf-8") == "x gone"
    assert (root / "folder gone" / "sub").is_dir()


def test_links_that_lead_to_the_text_are_named(memory: Memory) -> None:
    (memory.root / "link").symlink_to(Path("/nowhere") / SECRET)
    wipe(memory.root, Plain())
    assert places(memory.root, Plain()) == ["link"]


def test_a_lock_file_is_emptied_and_stays_the_same_file(memory: Memory) -> None:
    lock = memory.root / ".kimi" / "locks" / "store.lock"
    before = lock.stat().st_ino
    lock.write_text(SECRET, encoding="utf-8")
    wipe(memory.root, Plain())
    assert (lock.stat().st_ino, lock.read_bytes()) == (before, b"")


def test_a_journal_that_begins_anew_takes_files_as_they_are(memory: Memory) -> None:
    memory.remember("The boat leaves at nine from pier four.", key="boat.time")
    memory.store.reconcile()
    restart_journal(memory.store)
    assert memory.store.journal.verify() == []
    assert [record["op"] for record in memory.store.journal.records()] == ["genesis"]
    assert memory.store.reconcile() == []
