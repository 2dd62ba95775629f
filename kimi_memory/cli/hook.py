"""``hook``: what agent programs call, and putting it into their settings."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace

from kimi_memory.agent_hooks import agent_protocols, entrypoint
from kimi_memory.agent_hooks.inline import drain_here
from kimi_memory.agent_hooks.install import run_step
from kimi_memory.agent_hooks.server import serve
from kimi_memory.cli.shared import find_memory, show_result


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    steps = parser.add_subparsers(dest="step", metavar="STEP", required=True)
    run = steps.add_parser("run", help="answer one event, JSON on standard input")
    run.add_argument(
        "--host", required=True, choices=sorted(agent_protocols.EVENTS), help="the program"
    )
    run.add_argument("--event", default="", help="its name, for programs that do not say it")
    steps.add_parser("drain", help="store what hooks left for later")
    serve = steps.add_parser("serve", help="keep the memory open, so that hooks answer at once")
    serve.add_argument(
        "--idle",
        type=float,
        default=600.0,
        metavar="SECONDS",
        help="end after so long without a request",
    )
    for name, help in _STEPS.items():
        step = steps.add_parser(name, help=help)
        step.add_argument(
            "--host",
            required=True,
            choices=["agents", *sorted(agent_protocols.EVENTS)],
            help="the program; agents: the skill for ~/.agents/skills",
        )
        step.add_argument(
            "--slot", action="store_true", help="openclaw: take the place of its own memory"
        )
        step.add_argument("--dry-run", action="store_true", help="show the change, write nothing")


_STEPS = {
    "install": "put the hooks into a program's settings",
    "remove": "take them out again",
    "status": "say whether they are there",
}


def run(arguments: Namespace) -> int:
    """Do one step."""
    steps = {"run": _run_hook, "drain": _drain_spool, "serve": _serve_hooks}
    return steps.get(arguments.step, _manage_hooks)(arguments)


def _run_hook(arguments: Namespace) -> int:
    named = ["--memory", str(arguments.memory)] if arguments.memory else []
    return entrypoint.main(["--host", arguments.host, "--event", arguments.event, *named])


def _drain_spool(arguments: Namespace) -> int:
    count = drain_here(find_memory(arguments))
    return show_result(arguments, {"events": count}, f"{count} events taken in.")


def _serve_hooks(arguments: Namespace) -> int:
    if serve(find_memory(arguments), idle_seconds=arguments.idle):
        return 0
    # No failure: hooks have a server to ask, whichever it is.
    print("kimi-memory: another server has this memory open.", file=sys.stderr)
    return 0


def _manage_hooks(arguments: Namespace) -> int:
    report = run_step(
        arguments.step,
        arguments.host,
        find_memory(arguments).resolve(),
        dry_run=arguments.dry_run,
        slot=arguments.slot,
    )
    text = report.text()
    if arguments.step == "install" and not arguments.dry_run:
        text += "\nJobs: kimi-memory schedule --install lets the daily and the weekly job run"
    show_result(arguments, report, text)
    return 0 if report.ok else 1
