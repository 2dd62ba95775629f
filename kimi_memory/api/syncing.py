"""What a memory does with its other copies and versions: sync, merge, fork, roll back."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, cast

from kimi_memory.api.options import Parts

if TYPE_CHECKING:
    from kimi_memory.domain.sync import MergeReport, SyncOptions, SyncReport
    from kimi_memory.past.beliefs import RollbackReport


class Syncing(Parts):
    """The methods of a memory that need its other copies or versions."""

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

    def adopt(self, folder: Path | str, *, dry_run: bool = False) -> MergeReport:
        """Take over what another memory knows, with its sessions; it waits for a person's word.

        Args:
            folder: of the other memory.
            dry_run: report, and write nothing.

        Raises:
            UsageError: there is no such folder, or it is a copy of this memory.
            HistoryError: it has no history, or holds what was purged here.
        """
        operation = import_module("kimi_memory.operations.adopt_memory")
        return cast("MergeReport", operation.adopt_memory(self, str(folder), dry_run=dry_run))

    def merge(self, source: str, *, strict: bool = False, dry_run: bool = False) -> MergeReport:
        """Bring what another branch or copy has into this memory; it waits for a person's word.

        Args:
            source: a branch, a commit, or the folder of another copy.
            strict: notes that both sides changed wait in any case.
            dry_run: report, and write nothing.

        Raises:
            HistoryError: it is another memory, has no common history, or is not there.
            GateError: too many notes would go.
            ChangedOnDiskError: somebody saved a file meanwhile; nothing was merged.
        """
        operation = import_module("kimi_memory.operations.merge_copy")
        found = operation.merge_copy(self, source, strict=strict, dry_run=dry_run)
        return cast("MergeReport", found)

    def fork(self, folder: Path | str, name: str, *, at: str = "HEAD") -> str:
        """Make a memory of its own of what this one knows, in a new folder; return its id.

        Args:
            folder: where it goes.
            name: what people call it.
            at: the point of which it knows everything.

        Raises:
            UsageError: the folder cannot be used, or there is no such point.
        """
        operation = import_module("kimi_memory.operations.new_copies")
        return cast("str", operation.make_fork(self, Path(folder), name, at))

    def rollback(
        self, point: str, *only: str, dry_run: bool = False, sure: bool = False
    ) -> RollbackReport:
        """Bring back what was known at a point, as a new version.

        Args:
            point: a date, a commit, ``v12``, a name, the id of a job.
            only: paths, keys, ids or ``agent:NAME``; everything if none.
            dry_run: report, and write nothing.
            sure: go on, however many beliefs go.

        Raises:
            UsageError: there is no such point.
            GateError: too much would go.
        """
        operation = import_module("kimi_memory.operations.rollback")
        found = operation.roll_back(self, point, only, dry_run=dry_run, sure=sure)
        return cast("RollbackReport", found)

    def follow_code(self, folder: Path | str) -> Path:
        """Return the working copy for the branch of code in a folder; it is made if need be.

        Args:
            folder: where somebody works.

        Returns:
            this memory's own folder where it follows no branch there.
        """
        operation = import_module("kimi_memory.operations.code_branches")
        return cast("Path", operation.lay_working_copy(self, Path(folder)))
