"""One run while it lives: its words are stored as they come, and its limits are enforced."""

from __future__ import annotations

import subprocess
import time
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from kimi_memory.domain.agent_run import Limits, Outcome, Started, Usage
from kimi_memory.errors import NotPrimaryError, StoreError
from kimi_memory.runs.run_folder import RunFolder
from kimi_memory.runs.spoken import Counted, OutputReader

if TYPE_CHECKING:
    from kimi_memory.api.turn_capture import SessionHandle

_LOOK_SECONDS = 0.02
_COUNTS = ("calls", "tokens_in", "tokens_out", "tokens_cached", "reads", "writes")


class End(NamedTuple):
    """How a run ended."""

    outcome: Outcome
    why: str = ""


class Watch:
    """Follows one agent until it ends, or has to.

    Args:
        session: where its words go.
        folder: where it writes them.
    """

    def __init__(self, session: SessionHandle, folder: RunFolder) -> None:
        self._session, self._folder = session, folder
        self._reader = OutputReader(folder.output)
        self.usage = Usage()
        self.turns = 0

    def follow(self, started: Started, limits: Limits) -> End:
        """Store what an agent says until it ends; say how it ended, or why it has to."""
        begun = time.monotonic()
        while True:
            try:
                code = started.wait(_LOOK_SECONDS)
            except subprocess.TimeoutExpired:
                code = None
            except KeyboardInterrupt:
                return End("killed", "interrupted")
            if (end := self._find_reason(limits, time.monotonic() - begun)) and code is None:
                return end
            # Read after it was seen to have ended: nothing it wrote can come later.
            if failed := self.store(ended=code is not None):
                return failed
            if code is not None:
                return end if end and code else self._end_of(code)

    def _find_reason(self, limits: Limits, seconds: float) -> End | None:
        if self._folder.is_to_stop():
            return End("killed", "stopped on request")
        if limits.wall_s and seconds > limits.wall_s:
            return End("killed", f"time limit of {limits.wall_s:g} s")
        if limits.output_bytes and self._folder.count_output() >= limits.output_bytes:
            return End("killed", f"output limit of {limits.output_bytes:,} bytes")
        return None

    def store(self, *, ended: bool) -> End | None:
        """Store what the agent wrote since the last time; each turn once, however often."""
        try:
            for found in self._reader.read(ended=ended):
                if isinstance(found, Counted):
                    self._count(found)
                    continue
                ref = f"{self._folder.path.name}:{found.offset}"
                stored = self._session.turn(found.role, found.text, speaker=found.speaker, ref=ref)
                self.turns += stored is not None
        except NotPrimaryError as error:
            return End("fenced", str(error))
        except StoreError as error:
            return End("failed", f"its words could not be stored: {error}")
        return None

    def _count(self, found: Counted) -> None:
        now = {
            name: getattr(self.usage, name) + value
            for name in _COUNTS
            if isinstance(value := found.values.get(name), int) and 0 <= value < 2**53
        }
        model = found.values.get("model")
        if isinstance(model, str):
            now["model"] = model[:80]
        self.usage = replace(self.usage, **now)

    def _end_of(self, code: int) -> End:
        if code == 0:
            return End("done")
        if code < 0:
            return End("killed", f"signal {-code}")
        return End("failed", f"exit code {code}")
