"""What a memory does at a moment of an agent's session, and what it says."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from kimi_memory.agent_hooks import agent_protocols, spool
from kimi_memory.agent_hooks.detached import start_detached
from kimi_memory.domain.ids import safe_session_id
from kimi_memory.domain.note import Origin
from kimi_memory.domain.session import named
from kimi_memory.errors import FormatError, KimiMemoryError, NotFoundError, TranscriptError
from kimi_memory.nlp.basic.patterns import regex
from kimi_memory.nlp.basic.safe_text import strip_injected
from kimi_memory.store.notes import sessions

if TYPE_CHECKING:
    from kimi_memory.api.memory import Memory

LONGEST = 4000
"""More of a prompt than this is pasted matter, and no question."""
_COMMAND = regex(r"\s*[/!#][\w:-]*(?:\s|$)")
# "ok, go ahead", 好的，继续: nothing to look up. Atomic and possessive, because one word may be
# followed by the next in many ways.
_ACK = regex(
    r"(?:(?>ok(?:ay)?|yes please|yes|yep|yeah|nope|no|sure|fine|good|great|nice|cool|perfect"
    r"|thank you|thanks?|thx|ty|please|go(?: on| ahead| for it)?|continue|proceed"
    r"|do it|next|stop|wait|done|hi|hello|hey|lgtm|looks good|sounds good|got it|right|correct"
    r"|exactly|agreed|try again|retry|again|ship it|y|n|k"
    r"|好[的吧]?|行|可以|嗯++|对的?|是的?|没错|不是|不用|不要|谢谢你?|多谢|继续|接着来?|下一步|开始吧?"
    r"|停|等等|等一下|明白了?|知道了|收到|没问题|再试一次|重试|你好|您好|辛苦了|太好了|棒|就这样)"
    r"[\s,.!?;:~，。！？；：～、…]*+)+"
)
START_TOKENS, PROMPT_TOKENS = 1500, 900
"""Budgets of the block at the start of a session and of the one for a prompt."""
# With less room, not even one card and its source would fit.
_LEAST_TOKENS = 100
SYNC_SECONDS = "30"
"""So long a sync behind a session may take with each remote."""
STALE_HOURS = 6
"""A session that was silent so long has ended, also where its program never said so."""
YOUNG_SECONDS = 30.0
"""So long an end of a turn waits for the program to write it into its log."""


def question_of(prompt: str) -> str:
    """Return what of a prompt memory should be asked, empty where recall would not help.

    Acknowledgements, commands of the host and blocks that programs put in are none.
    """
    said = strip_injected(prompt).strip()
    if not said or _COMMAND.match(said) or _ACK.fullmatch(said.lower()):
        return ""
    # Of pasted matter its beginning and its end: the question stands before or behind it.
    return said if len(said) <= LONGEST else f"{said[: LONGEST // 2]}\n{said[-LONGEST // 2 :]}"


class Reply:
    """Answers the events of agent programs for one memory."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def to(self, event: Mapping[str, Any]) -> str:
        """Do what an event asks for; return what the program should print."""
        host, moment, payload = event["host"], event["moment"], event["payload"]
        session = _session_id(host, payload)
        if moment == agent_protocols.START:
            self._sync_behind()
            text = self._build_start_block(host, payload, session)
            return agent_protocols.answer(host, payload, text)
        if moment == agent_protocols.PROMPT:
            return agent_protocols.answer(host, payload, self._answer_prompt(event, session))
        self._process_event(event)
        return ""

    def capture(self, event: Mapping[str, Any]) -> None:
        """Take in what is new in a session's transcript; end the session if it has ended."""
        from kimi_memory.capture.ingest import open_file  # Who only asks need not load it.

        path = Path(str(event["payload"].get("transcript_path") or ""))
        if path.is_file():
            try:
                for _ in self._memory.ingest([open_file(path)]):
                    pass
            except TranscriptError:
                return  # A format that is newer than our reader; ingest says so to a person.
        if event["moment"] == agent_protocols.END:
            self._end_session(agent_protocols.session_of(event["payload"]))

    def drain(self) -> int:
        """Work off the spool; return how many events there were. What fails stays there."""
        events = [one for one in spool.take_events(str(self._memory.root)) if _is_whole(one[1])]
        unwritten: set[str] = set()
        for path, event in _keep_latest_events(events):
            session = agent_protocols.session_of(event["payload"])
            # Turns of one session stay in order: none overtakes the one that is still unwritten.
            if spool.age(path) < YOUNG_SECONDS and (session in unwritten or _is_early(event)):
                unwritten.add(session)
                continue
            # An event that cannot be stored now stays in the spool, and the others are not held
            # up.
            with suppress(KimiMemoryError, OSError):
                self._process_event(event)
                spool.drop(path)
        return len(events)

    def waits(self) -> bool:
        """Whether the end of a turn was left that its program has not logged yet."""
        left = [one for one in spool.take_events(str(self._memory.root)) if _is_whole(one[1])]
        return any(spool.age(path) < YOUNG_SECONDS and _is_early(event) for path, event in left)

    def _process_event(self, event: Mapping[str, Any]) -> None:
        """Take in what an event was left for."""
        host, payload = event["host"], event["payload"]
        if host in agent_protocols.TRANSCRIPTS:
            self.capture(event)
        else:
            self._store_event(event, _session_id(host, payload))

    def sweep(self) -> None:
        """End the sessions of agent programs that went silent."""
        for id in list(self._find_silent_sessions()):
            self._end_session(id)

    def _answer_prompt(self, event: Mapping[str, Any], session: str) -> str:
        """Store what the user typed, then look into memory for it; who waits may not wait long."""
        said, deaf = words_in(event).get("user", ""), agent_protocols.DEAF_AT_START
        first = event["host"] in deaf and not self._is_known_session(session)
        # The turn first: it must be on disk even if recall fails. Its cards wait, because the
        # person waits for the answer.
        keep = self._store_turn(event, session, "user", said) if said else None
        try:
            return self._find_for(event, session, first=first)
        finally:
            if keep:
                keep()

    def _find_for(self, event: Mapping[str, Any], session: str, *, first: bool) -> str:
        """Return the blocks for a prompt, with those of a session's start where it is the first."""
        host, payload = event["host"], event["payload"]
        question = question_of(_typed_prompt(payload))
        # Not every program's prompt is stored before it is looked for, so its session may be new.
        about = (session, _project_name(payload))
        block = self._build_block(host, "task", question, *about) if question else ""
        if first:
            standing = self._build_start_block(host, payload, session)
            both = f"{standing}\n{block}".strip()
            return both if agent_protocols.fits(host, both) else standing
        return block

    def _build_start_block(self, host: str, payload: Mapping[str, Any], session: str) -> str:
        """Return the block of a session that begins, about the project it begins in."""
        return self._build_block(host, "start", "", session, _project_name(payload))

    def _build_block(
        self, host: str, purpose: Literal["start", "task"], query: str, session: str, project: str
    ) -> str:
        """Return a block that the program passes on whole."""
        budget = START_TOKENS if purpose == "start" else PROMPT_TOKENS
        while budget >= _LEAST_TOKENS:
            block = self._memory.context(
                purpose, query, budget=budget, session=session, within=(named("agent", host),),
                project=project,
            )  # fmt: skip
            if agent_protocols.fits(host, block.text):
                return block.text
            # Tokens are not characters: for some texts only a smaller budget fits the program's
            # limit.
            budget //= 2
        return ""

    def _store_event(self, event: Mapping[str, Any], session: str) -> None:
        """Store what an event itself carries, or what was left of it."""
        moment, payload = event["moment"], event["payload"]
        if moment == agent_protocols.END:
            self._end_session(session)
        if moment == agent_protocols.TURN:
            event = {**event, "payload": {**payload, **_read_copilot_log(payload)[0]}}
        left = event.get("said")
        said = left if isinstance(left, dict) else words_in(event)
        for role in ("user", "assistant"):
            if text := said.get(role):
                self._store_turn(event, session, role, str(text))()

    def _store_turn(
        self, event: Mapping[str, Any], session: str, role: str, text: str
    ) -> Callable[[], None]:
        """Store a turn; what is returned makes the cards that do not wait for the session's end."""
        host, payload = event["host"], event["payload"]
        project = _project_name(payload)
        number = payload.get("prompt_id") or payload.get("turn_id") or payload.get("promptId")
        # A hook that gave up on a busy server stores by itself what the server then has, too.
        number = number or event.get("id")
        handle = self._memory.session(session, agent=host, host=host, project=project)
        origin = Origin.HUMAN if role == "user" else Origin.AGENT
        # The program's own number of the prompt makes a turn that is sent twice one turn.
        return handle.store(role, text, ref=f"{number}:{role}" if number else "", origin=origin)[1]

    def _is_known_session(self, session: str) -> bool:
        try:
            sessions.find(self._memory.store, session)
        except NotFoundError:
            return False
        return True

    def _end_session(self, session: str) -> None:
        store = self._memory.store
        for place in sessions.parts(store, safe_session_id(session)):
            if place.open:
                self._memory.end(place.id)
                self._sync_behind()

    def _sync_behind(self) -> None:
        """Have a process of its own sync, where the user wants it; nobody waits for it.

        How it went stands in `status` and `doctor`.
        """
        memory = self._memory
        if memory.home.settings().sync == "never":
            return
        from kimi_memory.store.git.remotes import Remotes  # few users want it

        if Remotes(memory.home.config, memory.settings.memory.id).read():
            start_detached("sync", "--timeout", SYNC_SECONDS, "--memory", str(memory.root))

    def _find_silent_sessions(self) -> Iterator[str]:
        """Yield the sessions of agent programs that nobody spoke in for hours."""
        now = self._memory.clock()
        for place in sessions.places(self._memory.store):
            if not place.open:
                continue
            try:
                transcript = sessions.read(self._memory.store, place.path)
            except FormatError:
                continue  # A damaged session keeps no other from its end; the daily job names it.
            quiet = (now - transcript.latest).total_seconds() / 3600
            if transcript.session.host in agent_protocols.EVENTS and quiet > STALE_HOURS:
                yield place.root


def _session_id(host: str, payload: Mapping[str, Any]) -> str:
    """Return the id a program's session has here; of readers of transcripts, their own."""
    id = agent_protocols.session_of(payload)
    if host in agent_protocols.TRANSCRIPTS:
        return id
    return safe_session_id(f"{host}-{id}" if id else host)


def words_in(event: Mapping[str, Any]) -> dict[str, str]:
    """Return the words that an event itself carries, by who says them; they stand nowhere else."""
    host, payload = event["host"], event["payload"]
    if host in agent_protocols.TRANSCRIPTS:
        return {}
    at_end = event["moment"] == agent_protocols.TURN
    asks = at_end if host in agent_protocols.TOGETHER else event["moment"] == agent_protocols.PROMPT
    user = _typed_prompt(payload) if asks else ""
    said = {"user": user, "assistant": agent_protocols.reply_of(payload) if at_end else ""}
    return {role: text for role, text in said.items() if text}


def _typed_prompt(payload: Mapping[str, Any]) -> str:
    """Return what the user typed; Gemini puts what a hook said before it."""
    return strip_injected(agent_protocols.prompt_of(payload)).strip()


def _read_copilot_log(payload: Mapping[str, Any]) -> tuple[dict[str, str], bool]:
    """Return the last words of both sides in Copilot's log up to the end of a turn.

    Returns:
        the words, and whether the log has come to that end.
    """
    prompt, number, said, whole = "", "", list[str](), False
    path, end = Path(str(payload.get("transcriptPath") or "")), payload.get("timestamp")
    # The file belongs to another program: another form means an empty answer, no failure.
    with suppress(OSError, ValueError, KeyError, TypeError), path.open("rb") as lines:
        for event in map(json.loads, lines):
            kind, data = event["type"], event["data"]
            if kind == "user.message":
                prompt, number, said = data["content"], event["id"], []
            elif kind == "assistant.message":
                said.append(str(data["content"] or ""))
            elif kind == "hook.start" and end and data.get("input", {}).get("timestamp") == end:
                whole = True
                break
    words = {"prompt": prompt, "prompt_id": number}
    reply = "\n".join(filter(None, said))
    return ({**words, "last_assistant_message": reply} if prompt else {}), whole


def _is_whole(event: Mapping[str, Any]) -> bool:
    return all(isinstance(event.get(name), str) for name in ("host", "moment"))


def _is_early(event: Mapping[str, Any]) -> bool:
    """Whether the end of a turn is not yet in the log that the program keeps of it."""
    payload = event["payload"]
    logs = event.get("moment") == agent_protocols.TURN and payload.get("transcriptPath")
    return bool(logs and payload.get("timestamp")) and not _read_copilot_log(payload)[1]


def _keep_latest_events(
    events: list[tuple[str, dict[str, Any]]],
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the last event of each transcript; what is dropped before says nothing more."""
    # A transcript is read whole each time, so one event of many is enough.
    last = {(e.get("host"), agent_protocols.session_of(e["payload"])): path for path, e in events}
    kept = set(last.values())
    for path, event in events:
        known = event.get("host") in agent_protocols.EVENTS
        # Others tell each of a turn of its own.
        each = event.get("host") not in agent_protocols.TRANSCRIPTS
        if known and (each or path in kept or event.get("moment") == agent_protocols.END):
            yield path, event
        else:
            spool.drop(path)


def _project_name(payload: Mapping[str, Any]) -> str:
    """Return the project an event is of: the folder that the program runs in."""
    return Path(str(payload.get("cwd") or "")).name
