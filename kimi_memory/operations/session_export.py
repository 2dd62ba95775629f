"""Export of sessions whole, as the session JSON that ``ingest`` reads."""

from __future__ import annotations

import json
from pathlib import Path, PurePosixPath

from kimi_memory.api.memory import Memory
from kimi_memory.domain.json_value import Json
from kimi_memory.domain.moment import zulu
from kimi_memory.domain.session import Transcript
from kimi_memory.domain.turn import Turn
from kimi_memory.errors import FormatError
from kimi_memory.operations.export import Exported, prepare_folder, write_outside
from kimi_memory.store.notes import sessions

SESSION_FORMAT = "kimi_memory/session/1"
"""Says that turns of tools are part of it, too; `read_session` looks for it."""


def export_sessions(
    memory: Memory, folder: Path, *, past: bool = False, force: bool = False
) -> Exported:
    """Write each session, open or ended, as a JSON file in a folder of its month.

    Args:
        memory: an open memory.
        folder: an empty or new one, outside of the memory.
        past: no difference: what was said is never past.
        force: write into a folder that is not empty.

    Raises:
        UsageError: the folder lies in the memory, or it is not empty.
    """
    prepare_folder(memory, folder, force=force)
    count = 0
    for place in sessions.places(memory.store):
        try:
            transcript = sessions.read(memory.store, place.path)
        except FormatError:
            continue  # 'verify' names it; its own file can be copied as it is.
        month = f"{transcript.session.started:%Y-%m}"
        path = folder / month / f"{PurePosixPath(place.path).stem}.json"
        text = json.dumps(_members(transcript), ensure_ascii=False, indent=1)
        write_outside(memory, path, f"{text}\n".encode("utf-8", "replace"), force=True)
        count += 1
    return Exported(folder, count, count)


def _members(transcript: Transcript) -> dict[str, Json]:
    session = transcript.session
    texts: dict[str, Json] = {
        name: getattr(session, name)
        for name in ("agent", "user", "project", "channel", "host", "title", "area", "continues")
    }
    found: dict[str, Json] = {
        "format": SESSION_FORMAT,
        "id": session.id,
        "timestamp": zulu(session.started),
        **{name: text for name, text in texts.items() if text},
        "turns": [_turn(turn) for turn in transcript.turns],
    }
    more: dict[str, Json] = {
        "current_task": dict(transcript.task),
        "temp_vars": dict(transcript.variables),
        "metadata": dict(transcript.metadata),
        "ended": zulu(transcript.ended) if transcript.ended else None,
    }
    return found | {name: value for name, value in more.items() if value}


def _turn(turn: Turn) -> Json:
    said: dict[str, Json] = {
        "role": str(turn.role),
        "content": turn.text,
        "timestamp": zulu(turn.at),
        "speaker": turn.speaker,
        "origin": str(turn.origin),
        "tool_calls": list(turn.tool_calls),
        "ref": turn.ref,
    }
    return {name: value for name, value in said.items() if value or name == "content"}
