"""What a job has asked of models, and where it has to stop."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from kimi_memory.domain.prompt import Reply

MAX_CALLS = 60
"""Most requests of one job, retries included."""
MAX_TOKENS = 200_000
"""A job that has spent so many tokens asks no more."""


@dataclass(slots=True)
class Meter:
    """Counts requests and tokens, and remembers which models and prompts took part."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    models: list[str] = field(default_factory=list)
    """Models of which an answer was used."""
    prompts: list[str] = field(default_factory=list)
    """Version hashes of their prompts."""
    notes: list[str] = field(default_factory=list)
    """What a person should know: a server that is away, an answer that was dropped."""
    stopped: bool = False
    """The server failed: for the rest of the job, rules decide alone."""
    most: int = MAX_TOKENS
    """The job may spend so many tokens."""

    @property
    def spent(self) -> bool:
        """Whether the job may ask no more."""
        tokens = self.tokens_in + self.tokens_out
        return self.stopped or self.calls >= MAX_CALLS or tokens >= self.most

    def count(self, reply: Reply) -> None:
        """Add what an answer cost."""
        self.tokens_in += reply.tokens_in
        self.tokens_out += reply.tokens_out

    def used(self, model: str, prompt: str) -> None:
        """Note that an answer of a model to a version of a prompt was used."""
        for name, known in ((model, self.models), (prompt, self.prompts)):
            if name not in known:
                known.append(name)

    def tell(self, note: str) -> None:
        """Add a note once."""
        if note not in self.notes:
            self.notes.append(note)


# A context variable: jobs in other threads of the process count by themselves.
_running: ContextVar[Meter | None] = ContextVar("kimi_memory_meter", default=None)


@contextmanager
def metered() -> Iterator[Meter]:
    """Count everything that is asked inside, in this thread, on a new meter."""
    meter = Meter()
    token = _running.set(meter)
    try:
        yield meter
    finally:
        _running.reset(token)


@contextmanager
def unasked() -> Iterator[None]:
    """Let nothing inside ask a model: what somebody waits for must not wait for a server."""
    with metered() as meter:
        meter.stopped = True
        yield


def running() -> Meter:
    """Return the meter of the job that runs, or one of its own for what is asked outside."""
    return _running.get() or Meter()
