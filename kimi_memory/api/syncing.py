"""Syncing a memory with its remotes, and having it follow branches of code."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, cast

from kimi_memory.api.services import Parts

if TYPE_CHECKING:
    from kimi_memory.domain.sync import SyncOptions, SyncReport


class Syncing(Parts):
    """The methods of a memory that sync it with its other copies."""

    def sync(self, *names: str, options: SyncOptions | None = None) -> list[SyncReport]:
        """Bring a memory and its remotes in step; one that fails keeps no other waiting.

        Args:
            names: of the remotes; all if none.
            options: how, such as ``SyncOptions(push=False)``; by default both ways.

        Raises:
            UsageError: there are none.
            NotFoundError: one of the names is none of a remote.
            LockTimeoutError: another process syncs.
            MovedError: the memory lies elsewhere now.
        """
        # Operations are built upon the memory, so none can be imported here by a statement.
        operation = import_module("kimi_memory.operations.sync_remotes")
        return cast("list[SyncReport]", operation.sync_memory(self, names, options))

    def follow_code(self, folder: Path | str) -> Path:
        """Return the working copy for the branch of code in a folder; it is made if need be.

        Args:
            folder: where somebody works.

        Returns:
            this memory's own folder where it follows no branch there.
        """
        operation = import_module("kimi_memory.operations.code_branches")
        return cast("Path", operation.lay_working_copy(self, Path(folder)))
