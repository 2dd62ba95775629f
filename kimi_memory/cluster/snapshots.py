"""Snapshots: where a new copy of a memory begins in its log."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Collection
from pathlib import Path

from kimi_memory.api.memory import Memory
from kimi_memory.api.options import Opening
from kimi_memory.cluster.registry import Registry
from kimi_memory.domain.change_log import ChangeLog
from kimi_memory.domain.cluster import Role
from kimi_memory.domain.job import digest
from kimi_memory.errors import HistoryError, StoreError, UsageError
from kimi_memory.formats.log_record import hash_record, is_purge, is_snapshot
from kimi_memory.operations.bundles import export_bundle, unpack_copy
from kimi_memory.operations.new_folders import borrow_folder
from kimi_memory.store.deployment import Deployment, write_deployment
from kimi_memory.store.files.paths import TIERS
from kimi_memory.store.relay import Relay
from kimi_memory.store.wal.commit_files import CONFLICTS

_TRIES = 8
_CONTENT = re.compile(rb"[0-9a-f]{64}")
"""May be the name of a content beside a log; one too many is kept, and does no harm."""


def write_snapshot(memory: Memory) -> int:
    """Put a snapshot of a memory that this node leads into its log; return its record's number.

    Raises:
        NotPrimaryError: another node leads.
        StoreError: others wrote all the time.
    """
    relay, shipping = memory.store.relay, memory.shipping
    if relay is None or shipping is None:
        raise UsageError(f"{memory.root} is not deployed. Run 'kimi-memory deploy add'.")
    relay.lead()
    for _ in range(_TRIES):
        with borrow_folder() as work:
            path = work / "memory.bundle"
            written = export_bundle(memory, path)
            content = path.read_bytes()
        with relay.turn():
            relay.lead()
            place = relay.position.place
            # All files are as that commit has them only if nothing was written since.
            if shipping.clean == place.seq:
                about = {"at": str(place.seq), "prev": place.prev, "commit": written.commit}
                return relay.put("snapshot", {**about, "bundle": keep_blob(relay, content)})
    raise StoreError("Others kept writing while a snapshot was made. Retry.")


def keep_blob(relay: Relay, content: bytes) -> str:
    """Keep a content beside the log; return its name there."""
    sha = digest(content)
    relay.position.log.put_blob(relay.position.place.memory, sha, content)
    return sha


def trim_log(log: ChangeLog, memory: str, most: int, *, dry_run: bool = False) -> int:
    """Destroy the records before the last snapshot up to a number; return how many.

    The caller leads the memory and holds its turn. Of the contents beside the log, those that the
    remaining records name are kept, and those that nodes propose.

    Args:
        log: the change logs.
        memory: its id.
        most: the record that the log may begin at, at most.
        dry_run: only count them.
    """
    first = below = seq = 0
    names: set[bytes] = set()
    while found := log.read(memory, seq):
        for seq, body in found:
            first = first or seq
            if seq <= most and is_snapshot(body):
                below = seq
                names.clear()
            names.update(_CONTENT.findall(body))
    if not below or dry_run:
        return max(0, below - first)
    for proposal in Registry(log).proposals(memory).values():
        names.update(_CONTENT.findall(json.dumps(proposal).encode()))
    return log.trim(memory, below, sorted(name.decode() for name in names))


def copy_memory(log: ChangeLog, place: Deployment, folder: Path, opening: Opening) -> int:
    """Make a copy of a memory from its last snapshot; return how many records follow it.

    Args:
        log: the change logs.
        place: the memory, and the node that gets the copy.
        folder: a new or empty one.
        opening: how it is opened.

    Raises:
        UsageError: there is no snapshot, or the folder cannot be used.
    """
    about, last = find_snapshot(log, place.memory)
    with borrow_folder() as work:
        path = work / "memory.bundle"
        path.write_bytes(log.get_blob(place.memory, about["bundle"]))
        made = unpack_copy(path, folder, opening)
    if made.commit != about["commit"]:
        raise HistoryError(f"The copy in {folder} is at {made.commit[:10]}, the snapshot is not.")
    if place.keep:
        # No history either: it has the other tiers.
        for name in (".git", CONFLICTS, *(tier for tier in TIERS if tier not in place.keep)):
            shutil.rmtree(folder / name, ignore_errors=True)
    with Memory.open(folder, opening) as copy:
        copy.store.reconcile()  # What is edited here later differs from how it is now.
        extent = copy.store.journal.extent()
    begun = place._replace(seq=int(about["at"]), prev=about["prev"], extent=extent)
    write_deployment(folder, begun)
    return last - begun.seq


def check_part(keep: Collection[str], role: Role) -> None:
    """Refuse a part that no folder can have.

    Raises:
        UsageError: it is of no tiers, or for a folder that may lead.
    """
    for tier in keep:
        if tier not in TIERS:
            raise UsageError(f"{tier!r} is no tier. Choose of {', '.join(TIERS)}.")
    if keep and role != "cache":
        raise UsageError("A part of a memory cannot lead. Add it as a cache.")


def find_snapshot(log: ChangeLog, memory: str) -> tuple[dict[str, str], int]:
    """Return what the last snapshot says, and the number of the last record."""
    seq = 0
    about: dict[str, str] | None = None
    while found := log.read(memory, seq):
        for seq, body in found:
            if is_snapshot(body):
                about = json.loads(body)["about"]
            if about is not None and is_purge(body):  # Nothing before it is there any more.
                about |= {"at": str(seq), "prev": hash_record(body)}
    if about is None:
        raise UsageError(f"The log of {memory} has no snapshot. Deploy it first where it is now.")
    return about, seq
