"""What people see of a session: the JSON view while it is open, the page once it ended."""

from __future__ import annotations

from collections import Counter
from datetime import UTC

from kimi_memory.domain.ids import stamp
from kimi_memory.domain.note import Lang
from kimi_memory.domain.session import Json, Transcript, Turn
from kimi_memory.formats.body_layout import label
from kimi_memory.nlp.basic.patterns import language_of
from kimi_memory.nlp.basic.safe_text import Value, clean, entry, one_line


def transcript_markdown(transcript: Transcript, lang: Lang) -> str:
    """Return the readable page of a session.

    Turns are block quotes, so that no heading, fence or rule in what was said can
    change the page around it.
    """
    session = transcript.session
    title = one_line(session.title) or session.id
    head = [
        line
        for name, value in _head_values(transcript, lang).items()
        for line in entry(name, value)
    ]
    lines = ["---", *head, "---", "", f"# {label('session', lang)}: {title}"]
    for turn in transcript.turns:
        lines += ["", _turn_heading(turn), "", *_quote_lines(turn.text), *_tool_lines(turn)]
        # Obsidian links to a block by such a line; after a quote it stands alone.
        lines += ["", f"^t{turn.n}"]
    return "".join(f"{line}\n" for line in lines)


def transcript_language(transcript: Transcript) -> Lang:
    """Return the language most of a session's turns are in."""
    # So many turns show the language; a longer session would only cost more time.
    counts = Counter(language_of(turn.text) for turn in transcript.turns[:200])
    return Lang(max(counts, key=lambda lang: (counts[lang], lang), default="en"))


def _head_values(transcript: Transcript, lang: Lang) -> dict[str, Value]:
    session = transcript.session
    head: dict[str, Value] = {
        "id": session.id,
        "kind": "session",
        "created": stamp(session.started),
        "ended": stamp(transcript.ended) if transcript.ended else None,
        "lang": str(lang),
        "agent": one_line(session.agent),
        "user": one_line(session.user),
        "project": one_line(session.project),
        "channel": one_line(session.channel),
        "host": one_line(session.host),
        "area": one_line(session.area),
        "continues": session.continues,
        "turns": len(transcript.turns),
    }
    return {name: value for name, value in head.items() if value not in (None, "")}


def _turn_heading(turn: Turn) -> str:
    who = f"{turn.role} {one_line(turn.speaker)}".strip()
    return f"### #{turn.n} {who} {turn.at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def _tool_lines(turn: Turn) -> list[str]:
    """Return the names of the tools a turn called; what they were given is in the JSONL."""
    names = [one_line(_tool_name(call)) for call in turn.tool_calls]
    return ["", f"> tools: {', '.join(names)}"] if names else []


def _tool_name(call: Json) -> str:
    """Return the name of a tool, as the chat APIs and other programs write it."""
    found = call.get("function", call) if isinstance(call, dict) else None
    name = (found.get("name") or found.get("tool")) if isinstance(found, dict) else found
    return name if isinstance(name, str) and name else "?"


def _quote_lines(text: str) -> list[str]:
    return [f"> {line}".rstrip() for line in clean(text).split("\n")]
