"""A session in use: what `Memory.session` gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from kimi_memory.capture.log import Captured, Said, SessionLog
from kimi_memory.domain.job import JobReport
from kimi_memory.domain.json_value import Json
from kimi_memory.domain.note import Origin, Role
from kimi_memory.domain.session import Session, Turn


@dataclass(frozen=True, slots=True)
class SessionHandle:
    """An open session of a memory; use it as a context manager to end it."""

    log: SessionLog
    clock: Callable[[], datetime]
    captured: Callable[[Sequence[Captured]], None]
    """Informed of new turns once they are durable."""
    finish: Callable[[str], JobReport]
    """Ends and distils the session of an id."""

    @property
    def header(self) -> Session:
        """Who takes part, since when."""
        return self.log.session

    @property
    def id(self) -> str:
        """The session's id."""
        return self.log.session.id

    def turn(
        self,
        role: Role | str,
        text: str,
        *,
        speaker: str = "",
        at: datetime | None = None,
        ref: str = "",
        origin: Origin | str | None = None,
    ) -> Turn | None:
        """Store one turn; it is durable and can be recalled when this returns.

        Args:
            role: user, assistant, tool or system.
            text: what was said; secrets are masked, recalled blocks removed.
            speaker: a name, where one is known.
            at: when, aware; now if not given.
            ref: the host's id of the message; the same one is stored once.
            origin: whose words these are, where the role does not tell.

        Returns:
            The stored turn; None when it was known already or nothing was left of it.
        """
        turn, keep = self.store(role, text, speaker=speaker, at=at, ref=ref, origin=origin)
        keep()
        return turn

    def store(
        self,
        role: Role | str,
        text: str,
        *,
        speaker: str = "",
        at: datetime | None = None,
        ref: str = "",
        origin: Origin | str | None = None,
    ) -> tuple[Turn | None, Callable[[], None]]:
        """Store one turn, see `turn`; what may become a card at once waits for a call.

        Returns:
            The stored turn, and what makes its cards.
        """
        said = Said(
            Role(role),
            text,
            at or self.clock(),
            speaker,
            ref,
            None if origin is None else Origin(origin),
        )
        captured = self.log.add([said])
        return captured[0].turn if captured else None, partial(self.captured, captured)

    def state(
        self,
        *,
        task: Mapping[str, Json] | None = None,
        variables: Mapping[str, Json] | None = None,
    ) -> None:
        """Record the current task, or temporary variables (merged into earlier ones)."""
        self.log.set_state(task, variables)

    def end(self) -> JobReport:
        """End the session: it is archived and distilled."""
        return self.finish(self.id)

    def __enter__(self) -> SessionHandle:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        # After an error the session stays open, so that it can go on where it broke off.
        if kind is None:
            self.end()
