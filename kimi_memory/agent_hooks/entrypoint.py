"""The first thing a hook runs: ask the server, or leave the event, or answer in this process.

Nothing here may break the program that called: the exit code is 0 whatever happens, and
where something fails there is no output. Few modules are imported, because a person waits.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
import time

from kimi_memory.agent_hooks import agent_protocols, socket_protocol, spool
from kimi_memory.agent_hooks.detached import CHILD, start_detached
from kimi_memory.store.files.code_branch import find_working_copy

# Not from `typing`: its import would cost each hook some milliseconds.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

MARKER = "memory.toml"
OWNER = ".kimi/owner"
LIMIT_SECONDS = 8
"""An answer that takes longer is not given; every program waits at least ten seconds."""
NEWS_SECONDS = 0.5
"""A server that is too busy to be informed of news looks for them by itself."""


def main(arguments: Sequence[str]) -> int:
    """Answer one event, which stands as JSON on standard input; always 0."""
    # Some programs take an exit code other than 0 for "stop the agent".
    sys.excepthook = _go_quietly
    if not os.environ.get(CHILD):
        _handle_event(dict(_parse_options(arguments)))
    return 0


def _go_quietly(kind: type[BaseException], error: BaseException, _: object) -> None:
    """End the process well, whatever went wrong: the program that called goes on."""
    if os.environ.get("KIMI_MEMORY_DEBUG"):
        sys.stderr.write(f"kimi-memory: {kind.__name__}: {error}\n")
        sys.stderr.flush()
    os._exit(0)


def _parse_options(arguments: Sequence[str]) -> list[tuple[str, str]]:
    words = [word for given in arguments for word in given.split("=", 1)]
    return [(name.lstrip("-"), value) for name, value in zip(words[::2], words[1::2], strict=False)]


def _handle_event(options: dict[str, str]) -> None:
    host = options["host"]
    payload = json.loads(sys.stdin.buffer.read())
    payload.setdefault("event", options.get("event"))  # Copilot names it nowhere else.
    moment = agent_protocols.moment_of(host, payload)
    cwd = str(payload.get("cwd") or ".")
    root = _find_memory(options.get("memory", ""), cwd)
    if not moment or not root:
        return
    _, place = find_working_copy(root, cwd)
    # The first event on a branch of code makes its working copy.
    begun = os.path.isfile(os.path.join(place, MARKER))
    root = place if begun else root
    # It names this event, whichever process handles it.
    id = f"{time.time_ns()}-{os.getpid()}"
    event = {"host": host, "moment": moment, "payload": payload, "id": id}
    behind = host in agent_protocols.LEFT and moment not in (
        agent_protocols.START,
        agent_protocols.PROMPT,
    )
    # What lies in the private folder of a stranger is set aside when the memory is opened.
    if behind and begun and os.path.isfile(os.path.join(root, OWNER)):
        _spool_event(root, event)
        return
    found = socket_protocol.ask(root, event) if begun else None
    # A server that answers with an error is no answer: this process tries by itself.
    told = found is not None and "out" in found
    here = "" if begun else cwd
    _write_output(str(found["out"]) if found and told else _answer_in_process(root, event, here))


def _find_memory(named: str, cwd: str) -> str:
    """Return the memory folder, empty where there is none."""
    named = named or os.environ.get("KIMI_MEMORY", "")
    if named:
        root = os.path.abspath(os.path.expanduser(named))
        return root if os.path.isfile(os.path.join(root, MARKER)) else ""
    folder = os.path.abspath(cwd)
    # As git finds its repository: the agent may run in a folder below the memory's.
    while not os.path.isfile(os.path.join(folder, MARKER)):
        above = os.path.dirname(folder)
        if above == folder:
            return ""
        folder = above
    return folder


def _write_output(text: str) -> None:
    if text:
        sys.stdout.buffer.write(text.encode("utf-8", "replace"))
        sys.stdout.buffer.flush()


def _spool_event(root: str, event: dict[str, Any]) -> None:
    """Queue the transcript path and exit; a background process ingests it.

    It is on disk before the answer: programs kill hooks of a session's end after a
    second or so, and a server may be killed at any time.
    """
    spool.put(root, event)
    heard = socket_protocol.ask(root, {"news": True}, seconds=NEWS_SECONDS)
    # After a turn the next event comes soon and takes this one along; after the last none may
    # come.
    if heard is None and event["moment"] != agent_protocols.TURN:
        start_detached("hook", "drain", "--memory", root)


def _answer_in_process(root: str, event: dict[str, Any], new: str) -> str:
    """Answer an event; where somebody works on a `new` branch, in the working copy for it."""
    gc.disable()  # The process ends before looking for cycles would free anything.
    # Only a signal ends a wait for a lock or a slow disk; what is half done is journaled.
    signal.signal(signal.SIGALRM, lambda *_: os._exit(0))
    signal.alarm(LIMIT_SECONDS)
    from kimi_memory.agent_hooks.inline import answer_here, begin_here, leave_words, may_serve

    def end_late(*_: Any) -> None:
        # What can be read nowhere else is taken in once the memory can be written again.
        try:
            leave_words(root, event)
        finally:
            os._exit(0)

    def end_failed(*failure: Any) -> None:
        try:
            leave_words(root, event)
        finally:
            _go_quietly(*failure)

    signal.signal(signal.SIGALRM, end_late)
    sys.excepthook = end_failed
    root = begin_here(root, new) if new else root
    said = answer_here(root, event)
    signal.alarm(0)
    if may_serve():
        # The next one is answered sooner; it works off the spool too.
        start_detached("hook", "serve", "--memory", root)
    elif event["moment"] == agent_protocols.START and spool.take_events(root):
        start_detached("hook", "drain", "--memory", root)
    return said
