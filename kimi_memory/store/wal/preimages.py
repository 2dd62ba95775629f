"""What was replaced or deleted, kept for a while; and what lost a race, kept for good."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from datetime import datetime

from kimi_memory.domain.ids import new_session_id
from kimi_memory.store.files.paths import PRIVATE
from kimi_memory.store.files.tree import Place, Tree
from kimi_memory.store.wal.records import Entry

FOLDER = f"{PRIVATE}/undo"
CONFLICTS = "conflicts"
_NAME = re.compile(r"(?:old|gone)\.[^.]+\.[0-9a-f]*\..+|late\.[0-9a-z]+", re.DOTALL)
"""Of what we keep here; whatever else lies here stays where nothing reads it."""
# An editor that still has the old file open saves into it within so long, if at all.
GRACE_SECONDS = 60.0
DELETED_SECONDS = 30 * 86400.0


def undo_name(mark: str, digest: str, path: str, *, deleted: bool) -> str:
    """Return the name in the undo area for the bytes of a path, whose hash is known."""
    kind = "gone" if deleted else "old"
    return f"{kind}.{mark}.{digest}.{clip(path.rpartition('/')[2], 100)}"


def clip(name: str, size: int) -> str:
    """Cut a name to so many bytes, at a character."""
    return name.encode()[:size].decode("utf-8", "ignore").rstrip(" .")


def conflict_path(path: str, at: datetime) -> str:
    """Return a fresh path under ``conflicts/`` for the other version of a file."""
    name = path.rpartition("/")[2]
    stem, dot, suffix = name.rpartition(".")
    stem, suffix = (clip(stem, 150), clip(suffix, 20)) if dot and stem else (clip(name, 150), "md")
    short = new_session_id(at)[-8:]
    return f"{CONFLICTS}/{stem}.{at:%Y%m%dT%H%M%SZ}.{short}.{suffix}"


class Keeper:
    """Keeps what must not be lost: conflict copies and the undo area."""

    def __init__(self, tree: Tree, clock: Callable[[], datetime]) -> None:
        self._tree, self._clock = tree, clock

    def keep_beside(self, place: Place, path: str) -> Entry:
        """Move a file into ``conflicts/``, durably; return what to journal."""
        target = conflict_path(path, self._clock())
        with self._tree.place(target, make=True) as spot:
            self._tree.disk.rename_noreplace(place.name, place.folder, spot.name, spot.folder)
            self._tree.disk.fsync(spot.folder)
            return Entry("conflict", target, "", self._tree.digest(spot, target), of=path)

    def write_beside(self, content: bytes, path: str) -> Entry:
        """Write a version that is on disk no more into ``conflicts/``."""
        with self._tree.folder(FOLDER, make=True) as folder:
            spare = Place(folder, f"late.{new_session_id(self._clock())}")
            self._tree.write(spare, content)
            return self.keep_beside(spare, path)

    def drop(self, grace_seconds: float, deleted_seconds: float) -> list[Entry]:
        """Remove what was kept long enough; what changed since is kept as a conflict.

        An editor that held the file open may have written to it after it was
        replaced; such bytes are a person's and nowhere else.
        """
        found: list[Entry] = []
        with self._tree.folder(FOLDER, make=True) as folder:
            for name in sorted(self._tree.disk.names(folder)):
                keep = deleted_seconds if name.startswith("gone.") else grace_seconds
                # The time of the rename: that of the content may be years ago.
                age = time.time() - self._tree.disk.stat(name, folder).st_ctime
                if age >= keep and _NAME.fullmatch(name):
                    found += self._drop_preimage(Place(folder, name))
        return found

    def _drop_preimage(self, place: Place) -> list[Entry]:
        parts = place.name.split(".", 3)
        digest, name = (parts[2], parts[3]) if len(parts) == 4 else ("", place.name)
        if self._tree.digest(place, place.name) != digest:
            return [self.keep_beside(place, name)]
        self._tree.disk.unlink(place.name, place.folder)
        return []
