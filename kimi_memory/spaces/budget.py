"""The tokens of a day that the memories of a space share: what is spent, and what is left."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from pathlib import Path

from kimi_memory.domain.job import TokenBound
from kimi_memory.formats.job_file import FOLDER, job_of
from kimi_memory.spaces.space_files import find_registered, read_about


class SpaceBudgets:
    """Counts what the jobs of a day spent, in all memories of a space that lie on this machine.

    It is read from the records of jobs, so that a restart or a second process changes nothing.
    """

    def __init__(self) -> None:
        self._known: dict[Path, tuple[datetime, int]] = {}
        """Moment and tokens of each record that was read; one is written once."""

    def find_bound(self, state: Path, memory: str, root: Path, now: datetime) -> TokenBound | None:
        """Return what the jobs of a memory may still spend; None where no space bounds it.

        Args:
            state: the user's state directory, where spaces are listed.
            memory: its id.
            root: its folder.
            now: on the clocks by which its day begins and ends.

        Raises:
            FormatError: it is not known what its space says.
        """
        found = find_registered(state, memory, root)
        if found is None:
            return None
        name, space = found
        most = read_about(Path(space["folder"])).tokens_per_day
        if not most:
            return None
        spent = sum(self.count(Path(folder), now) for folder in space["memories"].values())
        return TokenBound(most, most - spent, name)

    def count(self, root: Path, now: datetime) -> int:
        """Return the tokens that the jobs of a memory spent on the day of a moment."""
        zone, today = now.tzinfo, now.date()
        return sum(
            tokens
            for path in (root / FOLDER).glob("*.json")
            for at, tokens in self._read(path)
            if at.astimezone(zone).date() == today
        )

    def _read(self, path: Path) -> list[tuple[datetime, int]]:
        if path not in self._known:
            # One that is broken counts nothing, and 'doctor' names it; another went meanwhile.
            with suppress(ValueError, OSError):
                job = job_of(path.read_bytes())
                self._known[path] = job.at, job.spent.tokens_in + job.spent.tokens_out
        return [self._known[path]] if path in self._known else []
