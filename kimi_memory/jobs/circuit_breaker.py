"""The circuit breaker: a periodic job that keeps failing rests, visibly."""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from datetime import datetime, timedelta

from kimi_memory.config import GatesTable
from kimi_memory.domain.job_registry import scheduled
from kimi_memory.errors import GateError, KimiMemoryError
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.store.store import Store

FOLDER = ".kimi/breaker"
PERIODIC = frozenset(job.name for job in scheduled())
"""Jobs that nobody waits for; what a person asks for is always tried."""


@dataclass(frozen=True, slots=True)
class Failures:
    """How often a kind of job has failed in a row."""

    kind: str
    count: int = 0
    at: str = ""
    """When it failed last."""
    why: str = ""


class Breaker:
    """Stops a kind of job after repeated failures, until some hours have passed.

    Args:
        store: keeps the count, machine-local.
        settings: how many failures, and for how long it rests.
    """

    def __init__(self, store: Store, settings: GatesTable) -> None:
        self._store, self._settings = store, settings
        self._outcomes: dict[str, KimiMemoryError | None] | None = None

    def check(self, kind: str, now: datetime) -> None:
        """Raise GateError while a kind of job rests."""
        found = self.read_failures(kind) if kind in PERIODIC else Failures(kind)
        if self.rests(found, now):
            raise GateError(
                "breaker",
                f"{kind} failed {found.count} times in a row, last at {found.at}: {found.why}",
                f"Mend the cause; it is tried again {self._settings.breaker_hours} hours after "
                "that, or at once with 'kimi-memory doctor --fix'",
            )

    def note(self, kind: str, error: KimiMemoryError | None, now: datetime) -> None:
        """Count how a job ended.

        Args:
            kind: of the job.
            error: why it failed; None where it worked.
            now: when.
        """
        if self._outcomes is not None:
            self._outcomes[kind] = self._outcomes.get(kind) or error
        elif error is not None:
            self.failed(kind, error, now)
        else:
            self.worked(kind)

    @contextmanager
    def counted_once(self, now: datetime) -> Iterator[None]:
        """Count several jobs as one: it failed where any of them did.

        A day that fails each time would otherwise never rest, as another one works, and three
        that fail would keep all others from being tried.
        """
        outcomes = self._outcomes = dict[str, KimiMemoryError | None]()
        try:
            yield
        finally:
            self._outcomes = None
            for kind, error in outcomes.items():
                self.note(kind, error, now)

    def failed(self, kind: str, error: KimiMemoryError, now: datetime) -> None:
        """Count a failure."""
        if kind in PERIODIC:
            count = self.read_failures(kind).count + 1
            found = Failures(kind, count, now.isoformat(timespec="seconds"), str(error)[:300])
            body = json.dumps(asdict(found), ensure_ascii=False).encode()
            with suppress(KimiMemoryError):  # A full disk must not hide the failure itself.
                self._store.view(_state_path(kind), self._store.journal.sign(body) + b"\n" + body)

    def worked(self, kind: str) -> None:
        """Forget earlier failures."""
        if kind in PERIODIC and self.read_failures(kind).count:
            self._store.unview(_state_path(kind))

    def read_failures(self, kind: str) -> Failures:
        """Return the failures of a kind of job."""
        try:
            mark, _, body = self._store.read(_state_path(kind)).partition(b"\n")
        except KimiMemoryError:
            return Failures(kind)
        # A folder from elsewhere must not be able to stop our jobs.
        if not hmac.compare_digest(mark, self._store.journal.sign(body)):
            return Failures(kind)
        return Failures(**json.loads(body))

    def rests(self, found: Failures, now: datetime) -> bool:
        """Whether so many failures, so recently, keep a job from being tried."""
        if found.count < self._settings.max_failures:
            return False
        # A clock that was years ahead must not have the job rest until then.
        since = abs(now - datetime.fromisoformat(found.at))
        return since < timedelta(hours=self._settings.breaker_hours)

    def failing(self, now: datetime) -> Iterator[tuple[str, bool]]:
        """Yield a line for each kind of job that failed last time, and whether it rests."""
        for kind in sorted(PERIODIC):
            found = self.read_failures(kind)
            if found.count:
                rests = self.rests(found, now)
                times = f"failed {found.count} times in a row{', rests' if rests else ''}"
                yield f"{kind} {times}: {found.why}", rests


def _state_path(kind: str) -> str:
    return f"{FOLDER}/{kind}.json"
