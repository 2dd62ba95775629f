"""An execution node: JSON-RPC 2.0, one request a line, each bound to a grant.

A request names its grant; the node looks at the signature, the time, the epoch, the method and the
limits, writes an audit record, and answers after that. Programs run in a sandbox, and files are
read and written by programs in there, so that no link leads out.
"""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from kimi_memory import __version__
from kimi_memory.api.options import Home
from kimi_memory.domain.agent_run import Grant, Runtime
from kimi_memory.errors import UsageError
from kimi_memory.hooks.host import Host
from kimi_memory.runs.exec_programs import Programs, Wish
from kimi_memory.runs.exec_state import BEGUN, ExecState
from kimi_memory.runs.grants import (
    EXPIRED,
    LIMIT,
    NO_GRANT,
    NOT_GRANTED,
    STALE,
    UNKNOWN,
    GrantError,
    read_grant,
)
from kimi_memory.runs.lifecycle import choose_runtime
from kimi_memory.runs.roots import keep_out, split_root

METHODS = (
    *("exec.run", "exec.start", "exec.poll", "exec.kill", "exec.outcome"),
    *("fs.read", "fs.write", "fs.list", "fs.patch"),
)
_LOOKS = ("exec.outcome", "exec.poll", "exec.kill")
"""Methods about an earlier call, whose own answers are not kept."""
_OPEN = ("node.describe", "node.ping")
_BAD_JSON, _BAD_REQUEST, _NO_METHOD, _BAD_PARAMS = -32700, -32600, -32601, -32602
_LONGEST_WAIT_MS = 20_000
_IN_FOLDER = ("sh", "-c", 'cd -- "$1" && shift && exec "$@"', "sh")
"""Before a folder and a program: it is entered inside of the sandbox, so that no link leads out."""


class _Call(NamedTuple):
    """One request, understood."""

    id: str
    method: str
    params: Mapping[str, Any]


class ExecNode:
    """Carries out what grants allow.

    Args:
        node: its name.
        key: signs grants and audit records.
        state: what it keeps on disk.
        runtime: the sandbox.
        clock: tells the time.
        kept_out: folders that no grant shows, such as that of the key.
    """

    def __init__(
        self, node: str, key: bytes, state: ExecState, runtime: Runtime,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC), *,
        kept_out: Sequence[Path] = (),
    ) -> None:  # fmt: skip
        self._node, self._key, self._state = node, key, state
        self._clock, self._kept_out = clock, tuple(kept_out)
        self._programs = Programs(runtime, state)

    def answer(self, line: str) -> str:
        """Return the answer to one line."""
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            return _render(None, error=(_BAD_JSON, "this is no JSON", {}))
        if not isinstance(value, dict) or value.get("jsonrpc") != "2.0":
            return _render(None, error=(_BAD_REQUEST, "send one JSON-RPC 2.0 request a line", {}))
        id, method, params = value.get("id"), value.get("method"), value.get("params", {})
        if not isinstance(id, str) or not id or not isinstance(params, dict):
            return _render(None, error=(_BAD_REQUEST, "id is a text, params an object", {}))
        try:
            return _render(id, self._take(_Call(id, str(method), params)))
        except GrantError as error:
            return _render(id, error=(error.code, error.why, error.about))

    def _take(self, call: _Call) -> Mapping[str, Any]:
        if call.method == "node.ping":
            return {"node": self._node, "at": time.monotonic()}
        if call.method == "node.describe":
            return {"node": self._node, "version": __version__, "methods": [*_OPEN, *METHODS]}
        if call.method not in METHODS:
            raise GrantError(_NO_METHOD, f"there is no method {call.method}")
        with self._state.hold():
            grant = self._check(call)
            known = self._find_answer(call, grant)
        self._programs.end_older(grant.memory, grant.epoch)
        if known is not None:
            return known
        found = self._carry_out(call, grant)
        if call.method not in _LOOKS:
            self._state.keep_result(grant.run, call.id, found)
        return found

    def _find_answer(self, call: _Call, grant: Grant) -> Mapping[str, Any] | None:
        """Return what a call was answered before; note that a new one begins. The lock is held."""
        if call.method in _LOOKS[1:]:
            return None
        # The id is the key under which an answer is kept.
        asked = _text(call.params, "call") if call.method == "exec.outcome" else call.id
        known = self._state.find_result(grant.run, asked)
        if known == BEGUN or (known is None and call.method == "exec.outcome"):
            raise GrantError(UNKNOWN, "it is not known what became of that call")
        if known is None:
            self._state.keep_result(grant.run, call.id, BEGUN)
        return known

    def _check(self, call: _Call) -> Grant:
        """Return the grant of a call, once that is in the audit; so is a refusal."""
        now, grant = self._clock(), None
        try:
            grant = read_grant(call.params.get("grant"), self._key)
            self._check_grant(grant, call, now)
        except GrantError as error:
            self._audit(now, call, grant, error)
            raise
        self._audit(now, call, grant, None)
        return grant

    def _check_grant(self, grant: Grant, call: _Call, now: datetime) -> None:
        if grant.node != self._node:
            raise GrantError(NO_GRANT, f"the grant is for {grant.node}")
        # First of all: also a grant that has expired tells of a newer epoch.
        highest = self._state.raise_epoch(grant.memory, grant.epoch)
        if grant.epoch < highest:
            raise GrantError(STALE, "stale epoch", epoch=highest)
        if grant.until is None or now >= grant.until:
            raise GrantError(EXPIRED, "the grant has expired")
        if call.method not in grant.methods:
            raise GrantError(NOT_GRANTED, f"{call.method} is not granted")
        if grant.network not in ((), ("*",)):
            raise GrantError(NOT_GRANTED, "a list of hosts cannot be held: grant * or nothing")
        self._check_roots(grant)
        if grant.limits.calls and self._state.count_call(grant.id) > grant.limits.calls:
            raise GrantError(LIMIT, f"{grant.limits.calls} calls were granted")

    def _check_roots(self, grant: Grant) -> None:
        try:
            for one in grant.roots:
                keep_out(split_root(one)[0], self._kept_out)
        except UsageError as error:
            raise GrantError(NOT_GRANTED, str(error)) from error

    def _audit(
        self, now: datetime, call: _Call, grant: Grant | None, refused: GrantError | None
    ) -> None:
        record = {
            "node": self._node,
            "run": grant.run if grant else "",
            "memory": grant.memory if grant else "",
            "epoch": grant.epoch if grant else 0,
            "action": call.method,
            "resource": call.id[:80],
            "decision": f"refused {refused.code}" if refused else "allowed",
        }
        self._state.audit(now, record)

    def _carry_out(self, call: _Call, grant: Grant) -> Mapping[str, Any]:
        params = call.params
        if call.method == "exec.run":
            return self._run(grant, _read_wish(params, grant))
        if call.method == "exec.start":
            program = self._programs.start(grant, _read_wish(params, grant))
            self._programs.keep(grant, call.id, program)
            return {"call": call.id}
        if call.method in ("exec.poll", "exec.kill"):
            return self._look_at(call, grant)
        wish = Wish(_build_file_call(call), str(params.get("content", params.get("diff", ""))))
        found = self._run(grant, wish._replace(seconds=grant.limits.wall_s))
        if found["exit"]:
            code = _BAD_PARAMS if call.method == "fs.patch" else NOT_GRANTED
            raise GrantError(code, str(found["stderr"]).strip() or "that is out of reach")
        return {
            "content": "" if call.method == "fs.write" else found["stdout"], "cut": found["cut"]
        }  # fmt: skip

    def _run(self, grant: Grant, wish: Wish) -> dict[str, Any]:
        """Run a program to its end; return how it ended, and what it wrote and changed."""
        work = self._state.find_work(grant.run)
        before = _look(work)
        program = self._programs.start(grant, wish)
        try:
            program.wait()
            if program.late:
                raise GrantError(LIMIT, f"time limit of {wish.seconds:g} s")
            found = program.read()
        finally:
            program.drop()
        after = _look(work)
        changed = sorted(name for name in after if before.get(name) != after[name])
        del found["next"]
        return {"exit": program.code, **found, "changed": changed, "usage": program.usage}

    def _look_at(self, call: _Call, grant: Grant) -> dict[str, Any]:
        """Return what a program wrote that was started before, and whether it still runs."""
        params = call.params
        program = self._programs.find(grant.run, _text(params, "call"))
        if program is None:
            raise GrantError(UNKNOWN, "that program is not known here, or ended with its node")
        if call.method == "exec.kill":
            program.end()
        program.wait(min(_number(params, "wait_ms"), _LONGEST_WAIT_MS) / 1000)
        after = params.get("after", [0, 0])
        if not isinstance(after, list) or len(after) != 2 or not all(map(_is_count, after)):
            raise GrantError(_BAD_PARAMS, "after is two numbers: bytes of stdout and stderr")
        found = program.read(*after)
        why = "it took too long" if program.late else ""
        return {
            "running": program.code is None, "exit": program.code, **found, "why": why,
            "usage": program.usage,
        }  # fmt: skip

    def close(self) -> None:
        """End the programs that were started and still run."""
        self._programs.close()


def name_node(home: Home) -> str:
    """Return how this machine is called: in its cluster, or by its host name."""
    return home.settings().cluster.node or platform.node()


def open_state(home: Home | None = None) -> ExecState:
    """Return what this machine keeps as an execution node."""
    home = home or Home.of_user()
    return ExecState(home.state / "exec", home.key())


def open_node(host: Host, home: Home | None = None) -> ExecNode:
    """Return this machine as an execution node.

    Raises:
        UsageError: it has no sandbox.
    """
    home = home or Home.of_user()
    runtime = choose_runtime(host, "sandbox")
    kept = (home.config.resolve(), home.state.resolve())
    return ExecNode(name_node(home), home.key(), open_state(home), runtime, kept_out=kept)


def _text(params: Mapping[str, Any], name: str) -> str:
    value = params.get(name)
    if not isinstance(value, str) or "\0" in value:
        raise GrantError(_BAD_PARAMS, f"{name} is a text")
    return value


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53


def _number(params: Mapping[str, Any], name: str) -> int:
    value = params.get(name, 0)
    if not _is_count(value):
        raise GrantError(_BAD_PARAMS, f"{name} is a number from 0 on")
    return int(value)


def _read_wish(params: Mapping[str, Any], grant: Grant) -> Wish:
    argv = params.get("argv")
    if not isinstance(argv, list) or not argv or not all(isinstance(a, str) for a in argv):
        raise GrantError(_BAD_PARAMS, "argv is a list of texts; there is no shell")
    if any("\0" in one for one in argv):
        raise GrantError(_BAD_PARAMS, "argv holds a zero")
    if "cwd" in params:
        argv = [*_IN_FOLDER, _text(params, "cwd"), *argv]
    seconds = [grant.limits.wall_s, _number(params, "deadline_ms") / 1000]
    given = str(params.get("stdin", ""))
    return Wish(tuple(argv), given, min(filter(None, seconds), default=0.0))


def _build_file_call(call: _Call) -> tuple[str, ...]:
    """Return the program that does what a method of files does, from inside of the sandbox."""
    params = call.params
    if call.method == "fs.patch":
        _text(params, "diff")
        folder = _text(params, "cwd") if "cwd" in params else "."
        # All of it or nothing; it neither follows links nor leaves the folder.
        return (*_IN_FOLDER, folder, "git", "apply", "--whitespace=nowarn", "-")
    path = _text(params, "path")
    if call.method == "fs.write":
        _text(params, "content")
    program = {"fs.read": ("cat",), "fs.list": ("ls", "-1A"), "fs.write": ("tee",)}[call.method]
    return (*program, "--", path)


def _look(work: Path) -> dict[str, tuple[int, int]]:
    """Return the files of a run, each with what tells that it changed; links are not followed."""
    found = {}
    for folder, _, names in os.walk(work):
        for name in names:
            path = Path(folder) / name
            with suppress(FileNotFoundError):  # Another program may work there at this moment.
                stat = path.lstat()
                found[path.relative_to(work).as_posix()] = (stat.st_size, stat.st_mtime_ns)
    return found


def _render(
    id: str | None, result: Mapping[str, Any] | None = None,
    error: tuple[int, str, Mapping[str, object]] | None = None,
) -> str:  # fmt: skip
    answer: dict[str, Any] = {"jsonrpc": "2.0", "id": id}
    if error is None:
        answer["result"] = result
    else:
        answer["error"] = {"code": error[0], "message": error[1], "data": dict(error[2])}
    return json.dumps(answer, ensure_ascii=False)
