"""The hooks, in the order a note meets them.

Each docstring opens with its kind: **Answer** (the first result that is not None
wins), **Gather** (all results are used) or **Notice** (no result, cannot veto; an
error in one plugin does not reach the others).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pluggy

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from kimi_memory.domain.agent_run import Runtime, Usage
    from kimi_memory.domain.change_log import ChangeLog, Rows
    from kimi_memory.domain.command import Command
    from kimi_memory.domain.compaction import Compactor
    from kimi_memory.domain.draft import Draft
    from kimi_memory.domain.engine import Embedding, KeywordIndex, Purpose, VectorIndex
    from kimi_memory.domain.fleet import Pool, PoolWish
    from kimi_memory.domain.foreign_note import Memo
    from kimi_memory.domain.health import Finding
    from kimi_memory.domain.job import DayView, Job, Step, TokenBound, Verdict, WeekView
    from kimi_memory.domain.note import Card
    from kimi_memory.domain.pages import DigestLine
    from kimi_memory.domain.plugin_page import PluginPage
    from kimi_memory.domain.prompt import Ask, Prompt, Reply
    from kimi_memory.domain.screen import Span, TranscriptFile
    from kimi_memory.domain.search_types import Chunk, ChunkSizes, Hit, Query, Unit
    from kimi_memory.domain.session import Session, Transcript, Turn
    from kimi_memory.domain.space_types import Claims, Decision, Question, Space

hookspec = pluggy.HookspecMarker("kimi_memory")
hookimpl = pluggy.HookimplMarker("kimi_memory")

# A memory comes into use


@hookspec
def memory_opened(root: Path) -> None:
    """Notice: the memory at `root` was opened; recovery is over and nothing was read yet."""


@hookspec
def register_commands() -> list[Command]:  # type: ignore[empty-body]
    """Gather: commands to add to the command line, asked once as it starts."""


@hookspec
def register_pages() -> list[PluginPage]:  # type: ignore[empty-body]
    """Gather: pages to add to those of a memory in a browser, asked once as its server starts."""


@hookspec
def check_health(root: Path) -> list[Finding]:  # type: ignore[empty-body]
    """Gather: what the doctor should report of the memory folder at `root`."""


# Its changes are shared between machines


@hookspec(firstresult=True)
def open_log(url: str) -> ChangeLog | None:
    """Answer: the change logs at an address of this plugin's kind; None for another kind.

    Asked when a deployed memory is first written or followed, with the `url` of the user's own
    settings. Raise UsageError for an address of this kind that is wrong.
    """


@hookspec(firstresult=True)
def open_registry(url: str) -> Rows | None:
    """Answer: what keeps the registry of a cluster at an address of this plugin's kind, else None.

    Asked with ``[cluster] registry`` of the user's own settings, where that is not empty; else the
    registry lies beside the change log. Raise UsageError for an address that is wrong.
    """


# A member of a space asks


@hookspec(firstresult=True)
def who_is(token: str, space: Space) -> Claims | None:
    """Answer: whom a token names that we did not make; None for one that is not valid.

    Asked at the doors of a memory that belongs to a space. Who is named is then looked for among
    the members: a name alone makes nobody an agent or somebody else. Raise ServerError where that
    cannot be known now.
    """


@hookspec(firstresult=True)
def permit(question: Question, root: Path) -> Decision | None:
    """Answer: whether a member may do something in a memory of the space in a folder; None passes.

    Asked for every request, so it must be quick. With `question.place` the member is a machine of
    a cluster, and the question whether a task over the memory may run there. What nobody answers
    is denied, and so is what a plugin fails over. A wrapper that only turns allowances into
    refusals widens nothing.
    """


@hookspec
def bound_tokens(memory: str, root: Path, state: Path, now: datetime) -> TokenBound | None:
    """Gather: how many tokens the jobs of a memory may still spend today; None for any.

    Asked as a job begins; the least counts. `state` is the user's state directory, `now` is on the
    clocks of the memory. Where a plugin fails, no model is asked, and rules decide alone.
    """


# An agent runs


@hookspec(firstresult=True)
def open_runtime(name: str) -> Runtime | None:
    """Answer: the runtime of a name, which starts the programs of agents; None for another name.

    Asked when a run begins. Raise UsageError where it cannot be used on this machine.
    """


@hookspec(firstresult=True)
def open_pool(name: str, wish: PoolWish) -> Pool | None:
    """Answer: the pool of a name, whose workers carry out fleet jobs; None for another name.

    Asked when a job over many memories begins. Raise UsageError where it cannot be used here.
    """


@hookspec
def metered(usage: Usage) -> None:
    """Notice: a job, or a run of an agent, was recorded, and this is what it used."""


# Words come in


@hookspec(firstresult=True)
def read_transcript(file: TranscriptFile) -> Iterable[Transcript] | None:
    """Answer: the sessions in a file of this plugin's format; None if it is another.

    Judge by the name and the head. Read line by line: files may be large. Raise
    TranscriptError for a file of this format that is broken.
    """


@hookspec(firstresult=True)
def read_memories(file: TranscriptFile, system: str) -> Iterable[Memo] | None:
    """Answer: what a file of a store of memories holds; None if it is of another format.

    Judge by the name and the head; the text is UTF-8 with plain newlines, a database as
    it is. `system` names the one system that is wanted; any if empty.
    """


@hookspec
def screen_text(text: str) -> list[Span]:  # type: ignore[empty-body]
    """Gather: what in a text must be masked before its first byte reaches the disk."""


@hookspec
def capture_turn(turn: Turn, session: Session) -> list[Draft]:  # type: ignore[empty-body]
    """Gather: what in a stored turn is worth remembering at once.

    Asked of turns whose length lies between ``capture.min_chars`` and ``capture.max_chars``.
    """


# A chat outgrows its window


@hookspec(firstresult=True)
def open_compactor(memory: Any) -> Compactor | None:
    """Answer: what keeps the chats of an opened `Memory` within the windows of their models."""


# A session ends


@hookspec
def session_ended(session: Session, turns: int) -> None:
    """Notice: a session was archived and distilled."""


@hookspec(firstresult=True)
def distil_session(transcript: Transcript, ask: Ask) -> list[Draft] | None:
    """Answer: the knowledge in a session, each piece with its quotes; None passes on.

    `ask` reaches a model where one is configured; it may be left out of the arguments.
    """


@hookspec(firstresult=True)
def digest_session(transcript: Transcript, ask: Ask) -> list[DigestLine] | None:
    """Answer: the lines of a session's digest, in the words of its turns; None passes on.

    A line whose words do not stand in the turns it names is left out; one that is marked
    as written may use other words for what they say. `ask` reaches a
    model where one is configured; it may be left out of the arguments.
    """


# A model is asked


@hookspec(firstresult=True)
def generate_text(prompt: Prompt) -> Reply | None:
    """Answer: what a language model says to a prompt; None when no model is configured.

    Plugins do not ask this hook: they use the `ask` they are given, which parses, checks
    and counts. Raise ModelError when the server fails; then rules decide alone.
    """


# Knowledge consolidates


@hookspec
def consolidate_day(day: DayView) -> list[Step]:  # type: ignore[empty-body]
    """Gather: what the daily job should do with a day."""


@hookspec
def consolidate_week(week: WeekView) -> list[Step]:  # type: ignore[empty-body]
    """Gather: what the weekly job should do with a week."""


@hookspec(firstresult=True)
def judge_conflict(card: Card, draft: Draft, ask: Ask) -> Verdict | None:
    """Answer: how a draft bears on a live card of its key; None passes on.

    `ask` reaches a model where one is configured; it may be left out of the arguments.
    """


@hookspec
def changes_applied(paths: Sequence[str], job: Job | None) -> None:
    """Notice: files were written; `job` is None outside of jobs."""


# Notes become searchable


@hookspec(firstresult=True)
def split_note(text: str, sizes: ChunkSizes) -> list[Chunk] | None:
    """Answer: the chunks of a Markdown page without its front matter, in the sizes of settings."""


@hookspec(firstresult=True)
def split_words(text: str) -> list[str] | None:
    """Answer: the words of a text as the keyword index holds them, with repeats.

    Notes and queries pass through the same answer; it must depend on `text` alone.
    """


@hookspec(firstresult=True)
def embed_texts(texts: Sequence[str], purpose: Purpose) -> Embedding | None:
    """Answer: vectors of texts; None passes on.

    For "note" and "query" an answer switches the vector lane of recall on, so only
    a model that knows meaning should give one. "similarity" finds near duplicates.
    """


@hookspec(firstresult=True)
def open_keywords(folder: Path) -> KeywordIndex | None:
    """Answer: the keyword index in a folder, made there if it is empty."""


@hookspec(firstresult=True)
def open_vectors(folder: Path, dimensions: int) -> VectorIndex | None:
    """Answer: the vector index in a folder, made there if it is empty."""


# Notes are recalled


@hookspec
def expand_query(query: Query, now: datetime) -> list[str]:  # type: ignore[empty-body]
    """Gather: further words to look for, in the form the index holds them."""


@hookspec
def weigh_hit(unit: Unit, query: Query, now: datetime) -> Mapping[str, float]:  # type: ignore[empty-body]
    """Gather: named factors for a candidate's score; 1.0 changes nothing."""


@hookspec(firstresult=True)
def rerank(query: str, texts: Sequence[str], ask: Ask) -> Sequence[float] | None:
    """Answer: how well each text answers a question, larger is better; None passes on.

    Only the best candidates of recall are shown. Raise ModelError when the server
    fails; then the ranking stays as it was.
    """


@hookspec
def recalled(query: Query, hits: Sequence[Hit]) -> None:
    """Notice: these hits were shown for this query."""


SPECS: dict[str, Any] = {
    name: value
    for name, value in list(globals().items())
    if callable(value) and hasattr(value, "kimi_memory_spec")
}
"""Every hook by name, in story order."""
