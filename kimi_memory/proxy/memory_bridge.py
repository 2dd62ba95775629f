"""The companion of a chat: looks into memory for it, and keeps what was said.

A chat never waits long for memory, and goes on without it where it fails.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import dropwhile, takewhile
from typing import Any, TypeVar

from kimi_memory.agent_hooks.respond import STALE_HOURS, question_of
from kimi_memory.api.memory import Memory
from kimi_memory.domain.note import Role
from kimi_memory.domain.search_types import Context
from kimi_memory.domain.tombstone import keyed_mark
from kimi_memory.errors import KimiMemoryError, ServerError
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.basic.safe_text import strip_injected
from kimi_memory.proxy.chat import Chat, Said
from kimi_memory.proxy.conversation import Asker, Conversations, Shown, candidates
from kimi_memory.proxy.window import TRY_AGAIN, Cut, Fitting, make_cut, outgrows
from kimi_memory.server.auth import unauthorized
from kimi_memory.server.chats import limits_of
from kimi_memory.server.guard import Request
from kimi_memory.server.principal import Scope
from kimi_memory.server.workers import Desk
from kimi_memory.store.notes import sessions

HOST = "proxy"
# Abandoned chats are no hurry, and each sweep looks at all open sessions.
SWEEP_SECONDS = 3600.0
LOOKS = 20
"""Of chats that began with the same words, so many are looked at, the latest first."""
T = TypeVar("T")
log = logging.getLogger("kimi_memory.proxy")


@dataclass(frozen=True, slots=True, kw_only=True)
class Budgets:
    """How much is shown to a chat, and how long it waits for that."""

    start_tokens: int = 1000
    """Of the block that stands before a conversation; 0 for none."""
    prompt_tokens: int = 600
    """Of a block beside what the user says; 0 for none."""
    window_tokens: int = 0
    """Context window of the model, whose share a chat may take; any length if 0."""
    seconds: float = 5.0


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request of a chat, with what memory has to say to it."""

    asker: Asker
    chat: Chat
    session: str
    standing: str = ""
    blocks: Mapping[int, str] | None = None
    messages: Sequence[Any] | None = None
    """All that is sent on of a chat that outgrew its window, with the blocks in it."""


@dataclass(frozen=True, slots=True)
class _Found:
    """What a look into memory gave."""

    session: str
    standing: str
    block: Context | None


class Companion:
    """Goes with the chats of one memory."""

    def __init__(self, desk: Desk, budgets: Budgets) -> None:
        self._desk, self._budgets = desk, budgets
        self._known = Conversations()
        self._keeping: set[asyncio.Future[None]] = set()
        self._swept = -SWEEP_SECONDS

    async def join(self, asker: Asker, chat: Chat, after: str = "") -> Exchange:
        """Return a request with its session and what should be shown.

        Args:
            asker: who sends it.
            chat: what stands in it.
            after: id of the answer that it goes on from, where the server holds the chat.

        Raises:
            ServerError: the session it names belongs to somebody else.
        """
        memory = self._desk.memory
        session = memory.screen.pass_id(asker.session) if asker.session else ""
        session = session or self._known.session_of(asker, chat, after)
        shown = self._known.shown(session)

        query = partial(self._query_memory, asker=asker, chat=chat, session=session, shown=shown)
        found = await self._await_memory(self._desk.read(query, asker.caller))
        if found is None:
            found = _Found(session or next(_candidates(memory, asker, chat)), "", None)
        shown = self._known.show(found.session, found.standing)
        # What this chat was shown already is in its own history, and would only cost tokens again.
        if found.block is not None and set(found.block.lines) - shown.ids:
            shown.ids.update(found.block.lines)
            shown.blocks[chat.chain[chat.fresh[-1].place]] = found.block.text
        return Exchange(asker, chat, found.session, shown.standing, shown.beside(chat))

    async def fit(self, exchange: Exchange, messages: Sequence[Any]) -> Exchange:
        """Return a request with a summary for its older messages, if it is too long.

        Args:
            exchange: the request.
            messages: all of the chat, with the blocks beside them.
        """
        shown = self._known.shown(exchange.session)
        bounded = self._budgets.window_tokens and exchange.asker.caller.may(Scope.WRITE)
        if shown is None or not bounded:
            return exchange
        fitting = shown.fitting
        if not fitting.busy and len(messages) >= fitting.hopeless:
            await self._await_memory(self._renew_summary(exchange, messages, fitting))
        shorter = fitting.shortened(exchange.chat, messages)
        return replace(exchange, messages=shorter) if shorter else exchange

    async def _renew_summary(
        self, exchange: Exchange, messages: Sequence[Any], fitting: Fitting
    ) -> None:
        """Summarise more of a chat, where it is too long with the summary that it has."""
        asker, chat, tokens = exchange.asker, exchange.chat, self._budgets.window_tokens
        shorter = fitting.shortened(chat, messages)
        known = fitting.cut if shorter else None

        def make(memory: Memory) -> Cut | None:
            self._check_stays(asker, "turn", Scope.WRITE)
            _check_session_owner(memory, asker, exchange.session)
            place = exchange.session, _whose(memory, asker)
            limits = limits_of(memory, tokens)
            return make_cut(memory, chat, messages, known=known, limits=limits, place=place)

        fitting.busy = True
        try:
            # In the queue of readers, where nobody waits for a job.
            long = await self._desk.read(
                lambda memory: outgrows(memory, shorter or messages, tokens), asker.caller
            )
            if long:
                # Before it is tried: what fails would fail with the next request, too.
                fitting.hopeless = len(messages) + TRY_AGAIN
                if made := await self._desk.change(make, asker.caller):
                    fitting.cut, fitting.hopeless = made, 0
        finally:
            fitting.busy = False

    def keep_request(self, exchange: Exchange) -> None:
        """Keep what the user said in a request."""
        chat = exchange.chat
        for said in chat.fresh:
            self._store_turn(exchange, said, chat.chain[said.place])

    def keep_answer(self, exchange: Exchange, text: str, id: str = "") -> None:
        """Keep what was answered, under the server's id of it if there is one."""
        chat, text = exchange.chat, strip_injected(text).strip()
        self._known.answered(exchange.asker, chat, exchange.session, (text, id))
        if text:
            place = chat.said[-1].place + 1 if chat.said else 0
            self._store_turn(exchange, Said(place, "assistant", text), chat.answered(text))

    def _store_turn(self, exchange: Exchange, said: Said, ref: str) -> None:
        if not exchange.asker.caller.may(Scope.WRITE):
            return
        # The session need not hold it: a chat may have begun elsewhere.
        before = [one.text for one in exchange.chat.said if one.place < said.place][-2:]

        def keep(memory: Memory) -> None:
            self._check_stays(exchange.asker, "turn", Scope.WRITE)
            _check_session_owner(memory, exchange.asker, exchange.session)
            handle = memory.session(exchange.session, **_whose(memory, exchange.asker))
            speaker = exchange.asker.user if said.role == "user" else ""
            text = memory.screen.pass_turn(said.text, before).text
            # The digest is of all that was said: without the key no secret is found by trying.
            mark = keyed_mark(ref, memory.store.journal.keyed)
            handle.turn(said.role, text, speaker=speaker, ref=mark)
            self._end_silent_sessions(memory)

        done = asyncio.ensure_future(self._desk.change(keep, exchange.asker.caller))
        self._keeping.add(done)
        done.add_done_callback(self._keeping.discard)
        done.add_done_callback(_log_failure)

    def _query_memory(
        self, memory: Memory, asker: Asker, chat: Chat, session: str, shown: Shown | None
    ) -> _Found:
        if asker.caller.may(Scope.READ):
            self._check_stays(asker, "context", Scope.READ)
        session = session or _session_on_disk(memory, asker, chat)
        _check_session_owner(memory, asker, session)
        if not asker.caller.may(Scope.READ):
            return _Found(session, "", None)
        standing = "" if shown else self._build_start_text(memory, asker, session)
        return _Found(session, standing, self._build_prompt_context(memory, asker, chat, session))

    def _build_start_text(self, memory: Memory, asker: Asker, session: str) -> str:
        budget = self._budgets.start_tokens
        # Its session makes the marks of a block the same whenever a chat goes on.
        asked = {"purpose": "start", "budget": budget, "beside": session}
        return _fetch_context(memory, asker, asked).text if budget else ""

    def _build_prompt_context(
        self, memory: Memory, asker: Asker, chat: Chat, session: str
    ) -> Context | None:
        budget = self._budgets.prompt_tokens
        question = question_of(chat.fresh[-1].text) if chat.fresh and budget else ""
        if not question:
            return None
        asked = {"purpose": "task", "query": question, "budget": budget, "beside": session}
        found = _fetch_context(memory, asker, asked)
        return found if found.text else None

    def _check_stays(self, asker: Asker, name: str, scope: Scope) -> None:
        """Refuse a caller who lost access while the chat waited for its turn or for its answer.

        Raises:
            KimiMemoryError: what was shown opens no door any more, or the space says no.
        """
        if not asker.stays():
            raise unauthorized()
        if (guard := self._desk.guard) is not None:
            guard.rule(asker.caller, Request(name, "proxy", scope))

    async def _await_memory(self, work: Coroutine[Any, Any, T]) -> T | None:
        """Return what a look gave; None when it failed or took too long."""
        done = asyncio.ensure_future(work)
        # Not cancelled afterwards: the look runs in a thread, which nobody can stop.
        await asyncio.wait({done}, timeout=self._budgets.seconds)
        if not done.done():
            done.add_done_callback(_log_failure)
            log.warning("Memory took longer than %g s; a chat went on.", self._budgets.seconds)
            return None
        error = done.exception()
        # Forbidden is an answer and no failure: a chat must not go on in somebody else's session.
        if isinstance(error, ServerError) and error.status == 403:
            raise error
        return None if _log_failure(done) else done.result()

    def _end_silent_sessions(self, memory: Memory) -> None:
        """End the conversations that went silent; the daily job distils them."""
        if time.monotonic() - self._swept < SWEEP_SECONDS:
            return
        self._swept = time.monotonic()
        now = memory.clock()
        for place in list(sessions.places(memory.store)):
            if not place.open:
                continue
            transcript = sessions.read(memory.store, place.path)
            quiet = (now - transcript.latest).total_seconds() / 3600
            if transcript.session.host == HOST and quiet > STALE_HOURS:
                memory.mark_ended(place.id)


def _log_failure(done: asyncio.Future[Any]) -> bool:
    """Say that memory failed, if it did, without a word of what was said to it."""
    error = None if done.cancelled() else done.exception()
    if error is not None:
        why = str(error) if isinstance(error, KimiMemoryError) else type(error).__name__
        log.warning("Memory failed, and a chat went on without it: %s", why)
    return error is not None


def _check_session_owner(memory: Memory, asker: Asker, session: str) -> None:
    """Raise ServerError for a session that lies outside of the caller's namespace."""
    if asker.caller.space:
        asker.caller.space.check_session(memory, session)


def _whose(memory: Memory, asker: Asker) -> dict[str, str]:
    """Return whose a session is that is begun for a chat."""
    space = asker.space
    area = asker.caller.space.area(memory, "")
    whose = {"agent": space.agent, "user": asker.user, "project": space.project}
    return {**whose, "host": HOST, "area": area}


def _fetch_context(memory: Memory, asker: Asker, asked: Mapping[str, Any]) -> Context:
    asked = {**asked, "project": asker.space.project}
    if asker.caller.space:
        return asker.caller.space.context(memory, asked)
    # A chat is no owner: it is shown what is shared, and what is of those that it names.
    return memory.context(**asked, within=asker.space.own)


def _session_on_disk(memory: Memory, asker: Asker, chat: Chat) -> str:
    """Return the session a chat goes on with; a fresh one for a chat that begins."""
    held = {place.root for place in sessions.places(memory.store)}
    numbered = _candidates(memory, asker, chat)
    known = list(takewhile(held.__contains__, numbered))
    begins = not any(said.role == "assistant" for said in chat.said)
    # Chats that began with the same words differ in what was said after the first answer.
    answers = dropwhile(lambda said: said.role == "user", chat.said)
    plain = {chat.chain[said.place] for said in answers}
    # Earlier versions kept them plain.
    links = plain | {keyed_mark(link, memory.store.journal.keyed) for link in plain}
    for id in known[-1:] if begins else known[: -LOOKS - 1 : -1]:
        parts = sessions.parts(memory.store, id)
        turns = [turn for one in parts for turn in sessions.read(memory.store, one.path).turns]
        answered = any(turn.role is Role.ASSISTANT for turn in turns)
        if not answered or any(turn.ref in links for turn in turns):
            return id
    return next(id for id in _candidates(memory, asker, chat) if id not in held)


def _candidates(memory: Memory, asker: Asker, chat: Chat) -> Iterator[str]:
    """Yield the ids of chats with this opening; they are made of what of it may be stored."""
    return candidates(asker, memory.screen.mask(chat.opening)[0])
