"""The wire between a hook and the server of a memory: one JSON line each way."""

from __future__ import annotations

import json
import os

# Not from `typing`: its import would cost each hook some milliseconds.
TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from collections.abc import Mapping
    from typing import Any

NAME = ".kimi/server.sock"
PATIENCE_SECONDS = 4.0
"""A hook waits no longer for an answer; programs give up after 10 seconds and more."""
# Far above any turn: a broken peer must not fill the memory of the machine.
_LONGEST = 4 * 1024 * 1024
_ROOM = 100
"""A longer path does not fit into the address of a socket."""


def address(root: str) -> str:
    """Return a path of the memory's socket that is short enough to be an address."""
    path = os.path.join(root, NAME)
    if len(os.fsencode(path)) <= _ROOM:
        return path
    # Left open on purpose: the address is a path through this very descriptor.
    folder = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY)
    return f"/proc/self/fd/{folder}/server.sock"


def ask(
    root: str, request: Mapping[str, Any], *, seconds: float = PATIENCE_SECONDS
) -> dict[str, Any] | None:
    """Return the server's answer, or None where no server answers in time."""
    # Cheaper than a failed connection, and the common case where no server runs.
    if not os.path.exists(os.path.join(root, NAME)):
        return None
    import socket  # It takes longer to load than all else here.

    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
            line.settimeout(seconds)
            line.connect(address(root))
            line.sendall(json.dumps(request).encode() + b"\n")
            found = json.loads(receive(line))
    except (OSError, ValueError):
        # No server, or one that hangs: the hook then does the work itself.
        return None
    return found if isinstance(found, dict) else None


def receive(line: socket.socket) -> bytes:
    """Return one line.

    Raises:
        ValueError: it is longer than any request of ours.
    """
    parts, size = [], 0
    while part := line.recv(65536):
        parts.append(part)
        size += len(part)
        if part.endswith(b"\n"):
            break
        if size > _LONGEST:
            raise ValueError("the line is too long")
    return b"".join(parts)
