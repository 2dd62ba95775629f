"""A chat request as memory sees it: what was said, what of it is new, where a block goes."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.basic.safe_text import strip_injected

Body = Mapping[str, Any]

LEAST_TOKENS = 64
"""Who asks for a shorter answer, and offers no tools, wants a title or a probe."""
MOST_CHARS = 200_000
"""So much of one text is looked at; a turn keeps less of it."""
_LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens")
_ASIDE = ("### Task:", "<chat_history>")
"""What stands in requests that chat programs make about a chat, for titles, tags and the like."""
OPENING = ("system", "developer")
Heard = Callable[[Mapping[str, Any]], Iterator[str]]

MOST_BYTES = 32 * 1024 * 1024
"""More than this of an answer without an end of line is not held."""
_STREAMS = ("text/event-stream", "application/x-ndjson", "application/jsonl")


@dataclass(frozen=True, slots=True)
class Said:
    """What somebody said in a chat."""

    place: int
    """Its position in the list of messages."""
    role: str
    """user or assistant."""
    text: str
    """Without what programs put in."""


@dataclass(frozen=True, slots=True)
class Chat:
    """A chat up to a request."""

    said: tuple[Said, ...]
    fresh: tuple[Said, ...]
    """What the user says in this request: after the last answer, and no earlier."""
    chain: Mapping[int, str]
    """For the position of each message, a digest of all that was said up to it."""

    @property
    def tail(self) -> str:
        """A digest of the last answer and what it answers; empty before the first one."""
        last = max((n for n, one in enumerate(self.said) if one.role == "assistant"), default=0)
        return tail_of(self.said[last - 1].text, self.said[last].text) if last else ""

    @property
    def opening(self) -> str:
        """What the user said first."""
        return next((one.text for one in self.said if one.role == "user"), "")

    def answered(self, text: str) -> str:
        """Return the digest of the chat with its next answer."""
        last = self.chain[self.said[-1].place] if self.said else ""
        return _link_digest(last, "assistant", text)


def chat_of(messages: Sequence[Any]) -> Chat:
    """Return what stands in a list of messages."""
    said = tuple(_yield_spoken_messages(messages))
    # What the user said before the last answer came with an earlier request.
    # Not of the user is an answer, a call, or what a tool returned.
    asks = ("user", *OPENING)
    answers = (n for n, one in enumerate(messages) if _message_role(one) not in asks)
    answer = max(answers, default=-1)
    chain: dict[int, str] = {}
    link = ""
    for one in said:
        link = chain[one.place] = _link_digest(link, one.role, one.text)
    fresh = tuple(one for one in said if one.role == "user" and one.place > answer)
    return Chat(said, fresh, chain)


def tail_of(asked: str, answer: str) -> str:
    """Return the digest by which an answer is known again, whatever was cut off before it."""
    return _link_digest("", asked, answer)


def is_aside(body: Body, chat: Chat) -> bool:
    """Whether a request is no part of a conversation: a title, a probe, a summary for a list."""
    # Both marks, since a person may write one of them.
    if not chat.said or (chat.fresh and all(mark in chat.fresh[-1].text for mark in _ASIDE)):
        return True
    if body.get("tools") or len(chat.said) > 1:
        return False
    options = body.get("options")
    limits = [body.get(name) for name in _LIMITS]
    limits.append(options.get("num_predict") if isinstance(options, dict) else None)
    return any(isinstance(limit, int) and 0 < limit <= LEAST_TOKENS for limit in limits)


def text_of(content: Any) -> str:
    """Return the words of a message; images, files and results of tools are none."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(
        part["text"]
        for part in parts
        if isinstance(part, dict) and isinstance(part.get("text"), str)
        if part.get("type") in ("text", "input_text", "output_text")
    )


def beside(message: Any, block: str, kind: str) -> Any:
    """Return a message with a block after its words.

    Args:
        message: of a user.
        block: to put there.
        kind: what a part of text is called, where the content is a list of parts.
    """
    content = message.get("content")
    if isinstance(content, list):
        return {**message, "content": [*content, {"type": kind, "text": block}]}
    return {**message, "content": f"{content}\n\n{block}"}


def after_opening(messages: Sequence[Any], block: str, role: str) -> list[Any]:
    """Return messages with a block behind the instructions that open them."""
    count = 0
    while count < len(messages) and _message_role(messages[count]) in OPENING:
        role, count = _message_role(messages[count]), count + 1
    return [*messages[:count], {"role": role, "content": block}, *messages[count:]]


def _yield_spoken_messages(messages: Sequence[Any]) -> Iterator[Said]:
    for place, message in enumerate(messages):
        role = _message_role(message)
        if role not in ("user", "assistant"):
            continue
        text = strip_injected(text_of(message.get("content"))[:MOST_CHARS]).strip()
        if text:
            yield Said(place, role, text)


def _message_role(message: Any) -> str:
    return str(message.get("role", "")) if isinstance(message, dict) else ""


def _link_digest(before: str, who: str, text: str) -> str:
    """Return a digest; blanks count for nothing, since programs trim what they send again."""
    told = "\0".join((before, who, " ".join(text.split())))
    return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:24]


class Reply:
    """Listens to one answer.

    Args:
        heard: yields the words of a JSON object of the dialect.
        kind: the content type of the answer.
        encoding: its content encoding; what is neither plain nor gzip is not understood.
    """

    def __init__(self, heard: Heard, kind: str, encoding: str = "") -> None:
        self._heard, self._streams = heard, kind.partition(";")[0].strip() in _STREAMS
        self._deaf = encoding not in ("", "identity", "gzip", "deflate")
        # 47: a window of 15 bits, and 32 more for gzip or zlib, whichever comes.
        self._unzip = zlib.decompressobj(47) if encoding in ("gzip", "deflate") else None
        self._rest = b""
        self._words: list[str] = []
        self._length = 0
        self.id = ""
        """The id under which a server keeps the answer, where it does."""

    def feed(self, chunk: bytes) -> None:
        """Listen to more of it."""
        if self._deaf:
            return
        try:
            self._rest += self._unzip.decompress(chunk) if self._unzip else chunk
        except zlib.error:
            self._deaf = True
        if self._streams:
            *lines, self._rest = self._rest.split(b"\n")
            for line in lines:
                self._parse_line(line)
        self._deaf = self._deaf or len(self._rest) > MOST_BYTES

    def text(self) -> str:
        """Return all that was said so far."""
        rest, self._rest = self._rest, b""
        if not self._deaf:
            self._parse_line(rest)
        return "".join(self._words).strip()

    def _parse_line(self, line: bytes) -> None:
        said = line.strip().removeprefix(b"data:").strip()
        if not said.startswith(b"{"):
            return
        try:
            told = json.loads(said)
        except (ValueError, RecursionError):
            # A stream may carry what is no JSON; it goes on to the client as it came.
            return
        for words in self._heard(told):
            # An endless answer passes on, but is not gathered here.
            self._words.append(words[: MOST_CHARS - self._length])
            self._length += len(self._words[-1])
        kept = told.get("response", told)
        if isinstance(kept, dict) and kept.get("object") == "response":
            self.id = str(kept.get("id", ""))
