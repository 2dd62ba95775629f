"""What is refused of a deployment, looked at before anything is done and by dry runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kimi_memory.cluster.registry import DeploymentRow
from kimi_memory.domain.change_log import Lease
from kimi_memory.errors import UsageError
from kimi_memory.store.files.paths import KEPT


def check_copy(rows: Sequence[DeploymentRow], node: str, folder: Path) -> None:
    """Refuse a copy of a memory that a machine cannot have.

    Args:
        rows: the deployments of the memory.
        node: the machine.
        folder: where the copy is to lie.

    Raises:
        UsageError: it is there already, or the folder is not empty.
    """
    for one in rows:
        if one.node == node:
            raise UsageError(f"{node} has {one.name} already. Remove it first, to copy it anew.")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is no empty folder. Choose a new one.")


def check_leader(rows: Sequence[DeploymentRow], name: str, node: str) -> None:
    """Refuse a node that cannot lead a memory.

    Raises:
        UsageError: it does not hold it, or may not lead.
    """
    if not any(one.node == node and one.role != "cache" for one in rows):
        raise UsageError(f"{node} cannot lead {name}. Name a node that holds a replica of it.")


def check_removal(row: DeploymentRow, rows: Sequence[DeploymentRow], state: Lease) -> None:
    """Refuse to make a folder of this machine a plain copy where others need it.

    Raises:
        UsageError: it leads, and another copy follows it; or it has what no other node has.
    """
    if state.held and state.holder == row.node and len(rows) > 1:
        raise UsageError(
            f"{row.node} leads {row.name}. Have another node lead first: run "
            "'kimi-memory deploy demote', or 'kimi-memory deploy promote' there."
        )
    if kept := [*Path(row.folder).glob(f"short-term/*{KEPT}")]:
        raise UsageError(
            f"{kept[0]} has turns that no other node has. Keep 'kimi-memory cluster run' "
            "running here until the change log has them."
        )
