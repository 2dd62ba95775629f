"""The past of a memory: what it was at a point, what changed, since when and why."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from kimi_memory.api.options import Parts

if TYPE_CHECKING:
    from kimi_memory.domain.note import Note
    from kimi_memory.domain.past import BeliefDiff, BlameLine, TimelineEntry
    from kimi_memory.past.bisect import Flip, Wrong
    from kimi_memory.past.past_memory import PastMemory
    from kimi_memory.past.questions import PastQuestions


class PastReading(Parts):
    """The half of a memory that looks back; it changes nothing."""

    _looked_back: PastMemory | None = None
    """The point that was asked about last, with its view."""

    def at(self, point: str) -> PastMemory:
        """Return the memory as it was known at a point in the history, to be read.

        Args:
            point: a date, a moment, a commit, ``v12``, a name, the id of a job; or what one copy
                knew at such a point, ``here@{yesterday}``.

        Raises:
            UsageError: it names no point.
            HistoryError: there is no history, or it begins later.
        """
        from kimi_memory.past.past_memory import PastMemory

        found = self.points.find(point)
        if self._looked_back is None or self._looked_back.point != found:
            self._looked_back = PastMemory(
                self.past, found, self.index, self.host, self.settings.bounded_recall
            )
        return self._looked_back

    @cached_property
    def _questions(self) -> PastQuestions:
        from kimi_memory.past.questions import PastQuestions

        return PastQuestions(self.past, self.signing.signers)

    def timeline(
        self, what: str, *, since: str = "", until: str = "",
        sees: Callable[[Note], bool] = lambda note: True,
    ) -> list[TimelineEntry]:  # fmt: skip
        """Return every state of a note, or of all notes of a key, oldest first.

        Args:
            what: a key, the id of a note, or the beginning of one.
            since: a point in the history: a date, a commit, ``v12``, a name, a job.
            until: another, the last that counts.
            sees: whether the caller may see a state.
        """
        return self._questions.timeline(what, since, until, sees)

    def blame(
        self, what: str, *, field: str = "", at: str = "", copies: bool = False,
        sees: Callable[[Note], bool] = lambda note: True,
    ) -> list[BlameLine]:  # fmt: skip
        """Return since when lines or a field say what they say, by which job, from which turns.

        Args:
            what: a path, ``path:12``, a citation ``path#L2-L5``, the id of a note, or a key.
            field: of a note; what it says if empty.
            at: a point in the history, to blame it as it was then.
            copies: whether to say since when each copy has it, and what the others say.
            sees: whether the caller may see a note.
        """
        return self._questions.blame(what, field, at, sees, copies=copies)

    def beliefs(
        self, old: str, new: str = "", *, keys: tuple[str, ...] = (), project: str = "",
        why: bool = False,
    ) -> BeliefDiff:  # fmt: skip
        """Return how the beliefs of two points in the history differ.

        Args:
            old: the earlier point.
            new: the later point; the files now if empty.
            keys: only of these keys and those below them.
            project: only of this project.
            why: whether to look up which job changed each last.
        """
        return self._questions.beliefs(old, new, (keys, project), why=why)

    def bisect(self, what: str, wrong: Wrong, *, good: str = "", bad: str = "") -> list[Flip]:
        """Return the versions at which a note began to say something, or ceased; oldest first.

        Args:
            what: a key, the id of a note, or the beginning of one.
            wrong: what is looked for, such as ``Wrong(says="9090")``.
            good: a point in the history; only what came after it.
            bad: another, the last that counts.
        """
        return self._questions.bisect(what, wrong, good, bad)
