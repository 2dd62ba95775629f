"""A running chat and its window: how long it may be, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from kimi_memory.domain.job import JobReport
from kimi_memory.errors import UsageError
from kimi_memory.lazy_dataclass import dataclass

Message = Mapping[str, Any]
"""One message of a chat API: ``role``, ``content`` (text or parts), and whatever else."""

MOST_TOKENS = 10**12
"""No model has a larger window, and a float holds it."""


class Spoken(NamedTuple):
    """What of a message is kept."""

    text: str = ""
    """Nothing is kept if empty."""
    ref: str = ""
    """An id of the message; the same one is stored once."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a chat may be.

    Raises:
        UsageError: a number is out of its range.
    """

    window_tokens: int = 128_000
    """The context window of the model."""
    share: float = 0.6
    """Part of the window from which on, and to which, a chat is compacted."""
    keep: int = 5
    """So many messages at the end stay as they are."""

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        known = 0 < self.window_tokens <= MOST_TOKENS
        if not known or not 0 < self.share <= 1 or self.keep < 1:
            raise UsageError(
                f"Give a window above 0 and up to {MOST_TOKENS}, a share of it up to 1, "
                "and keep at least 1."
            )

    @property
    def budget(self) -> int:
        """Tokens that a compacted chat may cost."""
        # Never 0, which stands for the budget of the settings.
        return max(1, int(self.window_tokens * self.share))


@dataclass(frozen=True, slots=True)
class Flushed:
    """What of a chat was kept before anything of it is dropped."""

    session: str
    """Where every message is kept whole."""
    stored: int = 0
    """Messages that were not stored yet."""
    remembered: tuple[JobReport, ...] = ()
    """What was kept as cards."""
    prompt: str = ""
    """What to ask the chat's model before it is shortened: what should be remembered of it."""


@dataclass(frozen=True, slots=True)
class Compaction:
    """What became of a chat."""

    messages: tuple[Message, ...]
    """The chat as it is to go on."""
    before: int
    """Tokens it cost."""
    after: int
    dropped: int = 0
    """Messages that the summary stands for."""
    summary: str = ""
    session: str = ""
    """Where every message is kept whole."""
    stored: int = 0
    """Messages that were not stored yet."""
    remembered: tuple[JobReport, ...] = ()
    """What was kept as cards before anything was dropped."""
    recorded: JobReport | None = None
    """The job that recorded the summary as an event."""


class Compactor(Protocol):
    """What keeps the chats of one memory within the windows of their models."""

    @property
    def limits(self) -> Limits:
        """What the user's settings say."""

    def compact(
        self,
        messages: Sequence[Message],
        limits: Limits,
        session: str,
        *,
        force: bool,
        spoken: Sequence[Spoken] | None = None,
        **whose: str,
    ) -> Compaction:
        """Make a chat fit again; see `Memory.compact`.

        Messages that stay are the same objects. `spoken` says of each message what of it is
        kept; without it that is all of its text.
        """

    def flush(self, messages: Sequence[Message], session: str, **whose: str) -> Flushed:
        """Store what of a chat is not stored yet; see `Memory.flush`."""

    def window(self, session: str, budget_tokens: int, keep: int) -> list[Message]:
        """Return the history to resume a session with; see `Memory.window`."""

    def cost_of(self, messages: Sequence[Message]) -> int:
        """Return about how many tokens messages cost."""

    def session_of(self, messages: Sequence[Message], **whose: str) -> str:
        """Return the id of the session that holds a chat, which names none itself."""
