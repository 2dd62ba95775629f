"""``exec``: carry out what grants allow, grant it, and check the audit."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from contextlib import closing
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path

from kimi_memory import Memory
from kimi_memory.api.options import Home
from kimi_memory.cli.shared import (
    open_memory,
    say,
    show_result,
    translate,
    user_plugins,
)
from kimi_memory.cluster.reaching import name_silent_engine
from kimi_memory.domain.agent_run import Grant, Limits
from kimi_memory.domain.ids import new_id, stamp
from kimi_memory.errors import UsageError
from kimi_memory.runs.exec_https import Certificates, serve_https
from kimi_memory.runs.exec_node import METHODS, name_node, open_node, open_state
from kimi_memory.runs.grants import sign_grant
from kimi_memory.runs.hosted_runs import host_run
from kimi_memory.runs.lifecycle import Runs
from kimi_memory.runs.run_folder import find_folder


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    steps = parser.add_subparsers(dest="step", required=True, metavar="STEP")
    serve = steps.add_parser(
        "serve", help="answer JSON-RPC on standard input and output, a line each"
    )
    serve.add_argument("--mcp", action="store_true", help="as tools of MCP, for one grant, instead")
    serve.add_argument("--grant", type=Path, metavar="FILE", help="with --mcp: holds the grant")
    serve.add_argument(
        "--listen", default="", metavar="HOST:PORT", help="over HTTPS instead, a POST each"
    )
    for name, help in (
        ("--certificate", "with --listen: of this machine, a PEM file"),
        ("--private", "with --listen: the key of that certificate"),
        ("--clients", "with --listen: certificates of those, or of who signs theirs, who may ask"),
    ):
        serve.add_argument(name, type=Path, metavar="FILE", help=help)
    steps.add_parser("host", help="carry out a run that ssh:HOST of another machine sends")
    grant = steps.add_parser("grant", help="print a grant for a run of this memory")
    grant.add_argument("id", help="of the run")
    grant.add_argument(
        "--elsewhere", action="store_true", help="the run lives on another machine: do not look"
    )
    grant.add_argument("--methods", default=",".join(METHODS), help="by commas; default: all")
    grant.add_argument("--root", action="append", default=[], help="a folder to show, or rw:FOLDER")
    grant.add_argument("--network", action="store_true", help="all of the network")
    grant.add_argument("--minutes", type=float, default=10.0, help="how long; default: 10")
    grant.add_argument("--seconds", type=float, default=60.0, help="of one call; default: 60")
    grant.add_argument("--calls", type=int, default=0, help="most calls; default: no bound")
    steps.add_parser("check", help="check the audit of this machine for edits, cuts and reorders")


def run(arguments: Namespace) -> int:
    """Serve, host, grant or check."""
    steps = {"serve": _serve, "host": _host, "grant": _grant, "check": _check}
    return steps[arguments.step](arguments)


def _host(_arguments: Namespace) -> int:
    sinks = (sys.stdout.buffer, sys.stderr.buffer)
    return host_run(user_plugins(), Home.of_user(), sys.stdin.buffer, sinks)


def _serve(arguments: Namespace) -> int:
    if arguments.mcp and arguments.grant is None:
        raise UsageError("--mcp offers what one grant allows. Name its file with --grant.")
    files = (arguments.certificate, arguments.private, arguments.clients)
    if arguments.listen and None in files:
        raise UsageError("--listen needs --certificate, --private and --clients: PEM files.")
    grant = _read_grant(arguments.grant) if arguments.mcp else ""
    with closing(open_node(user_plugins())) as node:
        if arguments.mcp:
            tools = import_module("kimi_memory.mcp.exec_tools")
            tools.build_exec_tools(node, grant).run()
        elif arguments.listen:
            serve_https(node, _parse_address(arguments.listen), Certificates(*files))
        else:
            for line in filter(str.strip, sys.stdin):
                sys.stdout.write(f"{node.answer(line)}\n")
                sys.stdout.flush()
    return 0


def _read_grant(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}.") from error


def _parse_address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not host or not port.isdigit() or not 0 < int(port) < 65536:
        raise UsageError(f"{text!r} is no address. Write HOST:PORT, such as 0.0.0.0:8443.")
    return host.strip("[]"), int(port)


def _grant(arguments: Namespace) -> int:
    methods = tuple(one.strip() for one in arguments.methods.split(",") if one.strip())
    for one in methods:
        if one not in METHODS:
            raise UsageError(f"{one!r} is no method. Choose of {', '.join(METHODS)}.")
    if min(arguments.minutes, arguments.seconds) <= 0 or arguments.calls < 0:
        raise UsageError("A grant needs a time above zero. Give --minutes and --seconds.")
    with open_memory(arguments) as memory:
        now = datetime.now(UTC)
        until = now + timedelta(minutes=arguments.minutes)
        grant = Grant(
            new_id("grant", now), _find_run(memory, arguments), memory.settings.memory.id,
            _epoch_of(memory), name_node(memory.home), methods, tuple(arguments.root),
            ("*",) if arguments.network else (),
            Limits(wall_s=arguments.seconds, calls=arguments.calls),
            until,
        )  # fmt: skip
        if not arguments.elsewhere:
            find_folder(memory.home.state, grant.run).note_grant(stamp(until))
    text = sign_grant(grant, memory.home.key())
    show_result(arguments, {"grant": text, "epoch": grant.epoch, "until": grant.until}, text)
    return 0


def _find_run(memory: Memory, arguments: Namespace) -> str:
    """Return the whole id of a run that lives; only its own machine knows whether it does."""
    if arguments.elsewhere:
        if not arguments.id.startswith("run-"):
            raise UsageError(f"{arguments.id!r} is no id of a run. Give it whole: run-….")
        return str(arguments.id)
    found = Runs(memory).show(arguments.id)
    if found.status == "stopped":
        raise UsageError(f"{found.id} has ended ({found.outcome}), so it needs no grant.")
    return found.id


def _epoch_of(memory: Memory) -> int:
    """Return the epoch of a deployed memory; 0 for one of this machine alone."""
    relay = memory.store.relay
    if relay is None:
        return 0
    with name_silent_engine():
        return relay.position.log.state(relay.position.place.memory).epoch


def _check(arguments: Namespace) -> int:
    found = open_state().check_audit()
    lines = map(translate, found or [say("The audit is whole.")])
    show_result(arguments, {"problems": found}, lines)
    return 1 if found else 0
