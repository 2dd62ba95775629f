"""What the change logs of a cluster have of the audit log of this machine in a space."""

from __future__ import annotations

from pathlib import Path

from kimi_memory.api.options import Home, Opening
from kimi_memory.cluster import Cluster
from kimi_memory.cluster.audit_heads import read_carried
from kimi_memory.domain.change_log import Unreachable
from kimi_memory.domain.space_types import AuditHead
from kimi_memory.errors import KimiMemoryError
from kimi_memory.spaces.audit_log import Checkpoint
from kimi_memory.spaces.space_folder import SpaceFolder, find_space_of
from kimi_memory.store.deployment import is_deployed


class Heads:
    """Tells where the audit log of this machine ends.

    Args:
        home: where the spaces of this machine are listed.
    """

    def __init__(self, home: Home) -> None:
        self._home = home

    def find(self, memory: str, root: Path) -> AuditHead | None:
        """Return the end of the log of the space that a memory belongs to; None without either."""
        try:
            space = find_space_of(self._home, memory, root)
        except (KimiMemoryError, OSError):
            return None  # What cannot be read now is said later; 'space verify' names it.
        if space is None:
            return None
        seq, hash = space.log.head()
        return AuditHead(space.about.id, space.log.node, seq, hash) if seq else None


def find_carried(space: SpaceFolder) -> tuple[dict[str, Checkpoint], list[str]]:
    """Return what change logs have of the audit log of this machine, by the place of each record.

    The other value names each log that cannot be asked, with the reason.
    """
    known: dict[str, Checkpoint] = {}
    silent: list[str] = []
    for id, name in space.about.memories.items():
        root = space.root_of(id)[1]
        if not is_deployed(root):
            continue
        try:
            opening = Opening(home=space.home, background=False)
            with Cluster.open(opening=opening) as cluster:
                for number, head in read_carried(cluster.log, id):
                    if (head.space, head.node) == (space.about.id, space.log.node):
                        known[f"record {number} of {name}"] = head.seq, head.hash
        except (Unreachable, KimiMemoryError) as error:
            silent.append(f"{name}: {error}")
    return known, silent
