"""A running chat, kept within the window of its model: compacted, flushed, resumed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from kimi_memory.api.options import Parts
from kimi_memory.errors import UsageError

if TYPE_CHECKING:
    from kimi_memory.domain.compaction import Compaction, Compactor, Flushed, Limits, Message


class ChatWindow(Parts):
    """The part of a memory that makes chats fit; the plugin ``compaction`` does the work."""

    @cached_property
    def compactor(self) -> Compactor:
        """What compacts chats, with the limits of the user's settings.

        Raises:
            UsageError: no plugin does.
        """
        found: Compactor | None = self.host.answer("open_compactor", memory=self)
        if found is None:
            raise UsageError("No plugin compacts chats. Take 'compaction' out of 'disabled'.")
        return found

    def compact(
        self,
        messages: Sequence[Message],
        limits: Limits | None = None,
        *,
        session: str = "",
        force: bool = False,
        **whose: str,
    ) -> Compaction:
        """Make a chat fit again, after everything in it is stored and what matters remembered.

        A chat that fits comes back as it is.

        Args:
            messages: the chat as its API has it, oldest first.
            limits: the model's window, and how much of it the chat may take; those of
                ``[plugins.compaction]`` in the user's settings if not given.
            session: the session that holds the chat; found by its first message if empty.
            force: compact a chat that fits, on demand.
            whose: ``agent``, ``user``, ``project`` and ``area``, as `Memory.session` takes them,
                of a session that is begun for the chat.

        Raises:
            UsageError: a message has no role that is known.
        """
        compactor = self.compactor
        return compactor.compact(
            messages, limits or compactor.limits, session, force=force, spoken=None, **whose
        )

    def flush(self, messages: Sequence[Message], *, session: str = "", **whose: str) -> Flushed:
        """Store what of a chat is not stored yet, and remember what triggers find in it.

        Call it before a program compacts a chat on its own; the arguments are those of `compact`.
        """
        return self.compactor.flush(messages, session, **whose)

    def window(self, session: str, budget_tokens: int = 0, *, keep: int = 0) -> list[Message]:
        """Return the history to resume a session with: a summary, then the latest turns.

        Nothing is written.

        Args:
            session: its id, or the beginning of it.
            budget_tokens: most tokens of the result; what the user's settings leave a chat if 0.
            keep: so many latest turns come before the summary in line for the budget; that of
                the user's settings if 0.

        Raises:
            NotFoundError: there is no such session.
        """
        limits = self.compactor.limits
        return self.compactor.window(session, budget_tokens or limits.budget, keep or limits.keep)
