"""Snapshots: where a new copy of a memory begins in its log."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from kimi_memory.api.memory import Memory
from kimi_memory.api.options import Opening
from kimi_memory.domain.change_log import ChangeLog
from kimi_memory.errors import HistoryError, StoreError, UsageError
from kimi_memory.operations.bundles import export_bundle, unpack_copy
from kimi_memory.operations.new_folders import borrow_folder
from kimi_memory.store.deployment import Deployment, write_deployment

_TRIES = 8


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
                sha = hashlib.sha256(content).hexdigest()
                relay.position.log.put_blob(sha, content)
                about = {"bundle": sha, "commit": written.commit, "at": str(place.seq)}
                return relay.put("snapshot", {**about, "prev": place.prev})
    raise StoreError("Others kept writing while a snapshot was made. Retry.")


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
    about, last = _find_snapshot(log, place.memory)
    with borrow_folder() as work:
        path = work / "memory.bundle"
        path.write_bytes(log.get_blob(about["bundle"]))
        made = unpack_copy(path, folder, opening)
    if made.commit != about["commit"]:
        raise HistoryError(f"The copy in {folder} is at {made.commit[:10]}, the snapshot is not.")
    with Memory.open(folder, opening) as copy:
        extent = copy.store.journal.extent()
    begun = place._replace(seq=int(about["at"]), prev=about["prev"], extent=extent)
    write_deployment(folder, begun)
    return last - begun.seq


def _find_snapshot(log: ChangeLog, memory: str) -> tuple[dict[str, str], int]:
    """Return what the last snapshot says, and the number of the last record."""
    seq, about = 0, None
    while found := log.read(memory, seq):
        for seq, body in found:  # noqa: B007  the last one counts
            if b'"kind":"snapshot"' in body:
                about = json.loads(body)["about"]
    if about is None:
        raise UsageError(f"The log of {memory} has no snapshot. Deploy it first where it is now.")
    return about, seq
