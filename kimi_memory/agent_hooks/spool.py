"""The spool: events that a hook left for later, one file each under ``.kimi/spool``.

It holds no words of a conversation, only where they stand: what is not screened yet may
not reach the disk. Only words that stand nowhere else and could not be stored are left, screened.
"""

from __future__ import annotations

import json
import os
import time

# Not from `typing`: its import would cost each hook some milliseconds.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

FOLDER = ".kimi/spool"
_KEPT = ("session_id", "transcript_path", "cwd", "sessionId", "transcriptPath", "timestamp")
"""What of an event says where the words are, and is none of them."""


def put(root: str, event: Mapping[str, Any]) -> None:
    """Leave what an event says of where the words are; it is whole or not there."""
    payload = event["payload"]
    left = {**event, "payload": {name: payload[name] for name in _KEPT if name in payload}}
    folder = os.path.join(root, FOLDER)
    # Names sort by time, and two hooks at the same moment differ by their process.
    name = f"{time.time_ns():020d}-{os.getpid()}"
    part, path = (os.path.join(folder, name + end) for end in (".part", ".json"))
    try:
        fd = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileNotFoundError:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        fd = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.write(fd, json.dumps(left).encode())
    finally:
        os.close(fd)
    # A reader looks for .json only, so it never sees half an event.
    os.rename(part, path)


def take_events(root: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the events left, oldest first, each with its file; other files are removed."""
    folder = os.path.join(root, FOLDER)
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".json"))
    except FileNotFoundError:
        # Nothing was ever left: the folder is made by the first event.
        return []
    found = []
    for name in names:
        path = os.path.join(folder, name)
        try:
            with open(path, encoding="utf-8") as file:
                event = json.load(file)
        except IsADirectoryError:
            # Not ours; removing what a person put there is not our business.
            continue
        except (OSError, ValueError):
            drop(path)
            continue
        if isinstance(event, dict) and isinstance(event.get("payload"), dict):
            found.append((path, event))
        else:
            drop(path)
    return found


def age(path: str) -> float:
    """Return how many seconds ago an event was left; endless where its name does not tell."""
    at = os.path.basename(path).split("-")[0]
    since = (time.time_ns() - int(at)) / 1e9 if at.isdecimal() else -1.0
    return since if since >= 0 else float("inf")  # A clock that was set back tells nothing.


def drop(path: str) -> None:
    """Remove an event that was dealt with."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        # Another process worked it off at the same time.
        return
