"""An execution node: JSON-RPC 2.0, one request a line, each bound to a grant.

A request names its grant; the node looks at the signature, the time, the epoch, the method and the
limits, writes an audit record, and answers after that. Programs run in a sandbox, and files are
read and written by programs in there, so that no link leads out.
"""

from __future__ import annotations

import json
import os
import platform
import resource
import subprocess
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from kimi_memory import __version__
from kimi_memory.api.options import Home
from kimi_memory.domain.agent_run import Grant, RunSpec, Runtime
from kimi_memory.errors import UsageError
from kimi_memory.hooks.host import Host
from kimi_memory.runs.exec_state import BEGUN, ExecState
from kimi_memory.runs.grants import (
    EXPIRED,
    LIMIT,
    NO_GRANT,
    NO_SANDBOX,
    NOT_GRANTED,
    STALE,
    UNKNOWN,
    GrantError,
    read_grant,
)
from kimi_memory.runs.lifecycle import choose_runtime

METHODS = ("exec.run", "exec.outcome", "fs.read", "fs.write", "fs.list")
_OPEN = ("node.describe", "node.ping")
_BAD_JSON, _BAD_REQUEST, _NO_METHOD, _BAD_PARAMS = -32700, -32600, -32601, -32602
_LONGEST = 1024 * 1024
"""Bytes of output in one answer; the rest is cut, and said."""


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
    """

    def __init__(
        self, node: str, key: bytes, state: ExecState, runtime: Runtime,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:  # fmt: skip
        self._node, self._key, self._state, self._runtime = node, key, state, runtime
        self._clock = clock

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
            known = self._state.find_result(grant.run, self._asked(call))
            if call.method != "exec.outcome" and known is None:
                self._state.keep_result(grant.run, call.id, BEGUN)
        if known is None and call.method != "exec.outcome":
            found = self._carry_out(call, grant)
            self._state.keep_result(grant.run, call.id, found)
            return found
        if known is None or known == BEGUN:
            raise GrantError(UNKNOWN, "it is not known what became of that call")
        return known

    def _asked(self, call: _Call) -> str:
        """Return which call is meant: the id is the key under which an answer is kept."""
        return _text(call.params, "call") if call.method == "exec.outcome" else call.id

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
        if grant.limits.calls and self._state.count_call(grant.id) > grant.limits.calls:
            raise GrantError(LIMIT, f"{grant.limits.calls} calls were granted")

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
            argv = params.get("argv")
            if not isinstance(argv, list) or not argv or not all(isinstance(a, str) for a in argv):
                raise GrantError(_BAD_PARAMS, "argv is a list of texts; there is no shell")
            return self._run(grant, tuple(argv), str(params.get("stdin", "")))
        path = _text(params, "path")
        if call.method == "fs.read":
            found = self._run(grant, ("cat", "--", path))
        elif call.method == "fs.list":
            found = self._run(grant, ("ls", "-1A", "--", path))
        else:
            found = self._run(grant, ("tee", "--", path), _text(params, "content"))
            found = {**found, "stdout": ""}
        if found["exit"]:
            raise GrantError(NOT_GRANTED, str(found["stderr"]).strip() or f"{path} is out of reach")
        return {"content": found["stdout"], "cut": found["cut"]}

    def _run(self, grant: Grant, argv: tuple[str, ...], given: str = "") -> dict[str, Any]:
        work = self._state.find_work(grant.run)
        before = _look(work)
        with TemporaryDirectory(prefix="kimi-call-") as place:
            for name, text in (("in", given), ("out", ""), ("err", "")):
                (Path(place) / name).write_text(text, encoding="utf-8")
            given_at, out_at, err_at = (Path(place) / name for name in ("in", "out", "err"))
            env = {"HOME": self._runtime.inside, "LANG": "C.UTF-8"}
            spec = RunSpec(
                grant.run, argv, env, work, given_at, out_at, err_at, grant.limits,
                bool(grant.network), grant.roots,
            )  # fmt: skip
            code, used = self._wait(spec)
            out, cut_out = _read_text(out_at)
            errors, cut_errors = _read_text(err_at)
        after = _look(work)
        changed = sorted(name for name in after if before.get(name) != after[name])
        return {
            "exit": code, "stdout": out, "stderr": errors, "cut": cut_out or cut_errors,
            "changed": changed, "usage": used,
        }  # fmt: skip

    def _wait(self, spec: RunSpec) -> tuple[int, dict[str, float]]:
        begun, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        try:
            started = self._runtime.start(spec)
        except UsageError as error:
            raise GrantError(NO_SANDBOX, str(error)) from error
        late = False
        try:
            started.wait(spec.limits.wall_s or None)
        except subprocess.TimeoutExpired:
            late = True
        # Also where it ended by itself: programs that it started may still run.
        finally:
            self._runtime.stop(started, 0)
        if late:
            raise GrantError(LIMIT, f"time limit of {spec.limits.wall_s:g} s")
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
        return started.wait(), {
            "cpu_s": round(cpu, 3),
            "wall_s": round(time.monotonic() - begun, 3),
            "rss_mb": used.ru_maxrss // 1024,
        }


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
    return ExecNode(name_node(home), home.key(), open_state(home), runtime)


def _text(params: Mapping[str, Any], name: str) -> str:
    value = params.get(name)
    if not isinstance(value, str) or "\0" in value:
        raise GrantError(_BAD_PARAMS, f"{name} is a text")
    return value


def _look(work: Path) -> dict[str, tuple[int, int]]:
    """Return the files of a run, each with what tells that it changed; links are not followed."""
    found = {}
    for folder, _, names in os.walk(work):
        for name in names:
            path = Path(folder) / name
            stat = path.lstat()
            found[path.relative_to(work).as_posix()] = (stat.st_size, stat.st_mtime_ns)
    return found


def _read_text(path: Path) -> tuple[str, bool]:
    with path.open("rb") as file:
        content = file.read(_LONGEST + 1)
    return content[:_LONGEST].decode("utf-8", "replace"), len(content) > _LONGEST


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
