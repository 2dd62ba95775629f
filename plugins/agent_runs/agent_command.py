"""``agent``: run an agent; list, show and stop runs; say who the memory is."""

from __future__ import annotations

import os
import shlex
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kimi_memory import Memory, Opening
from kimi_memory.cli.shared import (
    leave,
    open_memory,
    pad,
    say,
    show,
    show_fields,
    show_json,
    show_result,
    translate,
)
from kimi_memory.cluster import Cluster
from kimi_memory.cluster.reaching import name_silent_engine
from kimi_memory.domain.agent_run import (
    SECURITIES,
    TASK_CLASSES,
    AgentRun,
    Limits,
    Needs,
    Program,
    Task,
)
from kimi_memory.domain.ids import new_id
from kimi_memory.domain.memory_identity import MemoryIdentity
from kimi_memory.errors import UsageError
from kimi_memory.nlp.dates.vocabulary import parse_span
from kimi_memory.runs.identity import Wanted, read_identity, write_identity
from kimi_memory.runs.lifecycle import Runs
from kimi_memory.runs.profiles import choose_place
from kimi_memory.runs.programs import find_program
from kimi_memory.runs.run_records import Skill, count_skills, read_runs
from kimi_memory.spaces.placing import PlacePolicies

from .serve_tasks import serve_tasks
from .task_time import check_expected, parse_deadline


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    steps = parser.add_subparsers(dest="step", required=True, metavar="STEP")
    run = steps.add_parser("run", help="start an agent with a task, keep what it says, distil it")
    _declare_program(run)
    run.add_argument("prompt", help="what to do; - reads it from standard input")
    run.add_argument("--task", choices=TASK_CLASSES, default="batch", help="default: batch")
    run.add_argument("--ref", default="", help="your name of the task: once done, not done again")
    run.add_argument("--folder", type=Path, help="where it works; else a passing folder")
    run.add_argument(
        "--placed", action="store_true",
        help="carry it out on the machine of the cluster that 'place' says",
    )  # fmt: skip
    run.add_argument(
        "--deadline",
        default="",
        metavar="WHEN",
        help="2026-11-28T18:00+08:00: ends it then at last",
    )
    run.add_argument(
        "--expected", type=float, default=0.0, metavar="S", help="so many seconds it should take"
    )
    run.add_argument("--realtime", action="store_true", help="somebody waits for each answer")
    run.add_argument("--security", choices=SECURITIES, default="normal", help="default: normal")
    run.add_argument("--needs", default="", help="with --placed: runtimes and languages, by commas")
    run.add_argument("--dry-run", action="store_true", help="only say what would be done")
    _declare_serve(steps)
    listed = steps.add_parser("list", help="list the runs")
    listed.add_argument("--live", action="store_true", help="only those that have not ended")
    for name, help in (
        ("show", "show a run"),
        ("stop", "end a run, and keep what its agent said"),
        ("logs", "print what an agent wrote, kept for a week"),
    ):
        step = steps.add_parser(name, help=help)
        step.add_argument("id", help="of the run, or the beginning of it")
        if name == "logs":
            step.add_argument("--errors", action="store_true", help="standard error instead")
        if name == "stop":
            step.add_argument("--dry-run", action="store_true", help="only say what would be done")
    _declare_identity(steps)


def _declare_identity(steps: Any) -> None:
    """Declare the arguments of ``agent identity``, as those of ``agent serve``."""
    who = steps.add_parser("identity", help="show who the memory is, or change it")
    who.add_argument("--name", help="what people call it")
    who.add_argument("--description", help="what it is for, in a sentence")
    who.add_argument(
        "--persona", action="append", metavar="KEY=VALUE",
        help="role, mission, or a trait such as tone=friendly; may be repeated, empty removes it",
    )  # fmt: skip
    who.add_argument("--model", help="the model that its agents are meant for")
    who.add_argument("--skills", help="what its agents come with, separated by commas")
    who.add_argument("--dry-run", action="store_true", help="only say what would be done")


def _declare_serve(steps: Any) -> None:
    """Declare the arguments of ``agent serve``; what argparse has for steps has no public type."""
    serve = steps.add_parser(
        "serve",
        help="do tasks of standard input, a line of JSON each, by agents that wait for them",
    )
    _declare_program(serve)
    serve.add_argument("--warm", type=int, default=1, metavar="N", help="so many wait; default: 1")
    serve.add_argument(
        "--idle", type=float, default=300.0, metavar="S",
        help="one that waited for so many seconds is replaced; default: 300",
    )  # fmt: skip


def _declare_program(parser: ArgumentParser) -> None:
    """Declare the arguments that say what is started, and how."""
    add = parser.add_argument
    add("name", help="of the agent: [agents.NAME] of your config.toml has its program")
    add("--command", dest="program", metavar="LINE", help="the program, in one line")
    add("--runtime", default="", help="process, sandbox, container:IMAGE …; default: process")
    add("--seconds", type=float, metavar="S", help="time limit; default: 300")
    add("--network", action="store_true", help="let a sandbox into the network")


def run(arguments: Namespace) -> int:
    """Do one step."""
    steps = {
        "run": _run, "serve": _serve, "list": _list, "show": _show, "stop": _stop, "logs": _logs,
        "identity": _identity,
    }  # fmt: skip
    with open_memory(arguments) as memory:
        code = steps[arguments.step](memory, arguments)
        leave(memory)
        return code


def _run(memory: Memory, arguments: Namespace) -> int:
    program = _choose_program(memory, arguments)
    prompt = sys.stdin.read() if arguments.prompt == "-" else arguments.prompt
    if not prompt.strip():
        raise UsageError("There is nothing to do. Give a prompt.")
    task = Task(
        new_id("task", datetime.now(UTC)), memory.settings.memory.id, arguments.task,
        prompt.strip(), realtime=arguments.realtime, security=arguments.security,
        needs=Needs(runtimes=tuple(filter(None, map(str.strip, arguments.needs.split(","))))),
        ref=arguments.ref, deadline=parse_deadline(arguments.deadline),
        expected_s=check_expected(arguments.expected),
    )  # fmt: skip
    if arguments.placed:
        opening = Opening(home=memory.home, background=False)
        with name_silent_engine(), Cluster.open("", opening) as cluster:
            # One that no other machine has is near to none.
            near = task if memory.store.relay else replace(task, memory="")
            policies = PlacePolicies(memory.home, task.memory, memory.root)
            _, runtime = choose_place(cluster, near, forbid=policies.refuse)
        program = program._replace(runtime=runtime or program.runtime)
    folder = arguments.folder
    if folder is not None and not folder.is_dir():
        raise UsageError(f"{folder} is no folder. Make it, or leave --folder out.")
    folder, runs = folder and folder.resolve(), Runs(memory, os.environ)
    if arguments.dry_run:
        return _foretell(arguments, runs.plan(task, program, folder), program)
    found = runs.run(task, program, folder)
    show_result(arguments, found, _format_end(memory, found))
    return 0 if found.outcome == "done" else 1


def _foretell(arguments: Namespace, run: AgentRun, program: Program) -> int:
    if run.status == "stopped":
        line = say("{run} did {ref} already; nothing would start.", run=run.id, ref=run.ref)
        show_result(arguments, {"would": line, "run": run}, line)
        return 0
    limit = f"{program.limits.wall_s:g}"
    line = say(
        "Would start {agent} ({runtime}, {seconds} s at most): {command}",
        agent=run.agent, runtime=run.runtime, seconds=limit, command=shlex.join(program.command),
    )  # fmt: skip
    show_result(arguments, {"would": line, "run": run}, [line, f"  {_format_place(run)}"])
    return 0


def _serve(memory: Memory, arguments: Namespace) -> int:
    if arguments.warm < 0:
        raise UsageError("--warm is below zero. Give how many are to wait.")
    return serve_tasks(memory, _choose_program(memory, arguments), arguments)


def _choose_program(memory: Memory, arguments: Namespace) -> Program:
    if arguments.program is not None:
        try:
            command = tuple(shlex.split(arguments.program))
        except ValueError as error:
            raise UsageError(f"--command cannot be read: {error}. Close the quotes.") from error
        if not command:
            raise UsageError("--command is empty. Name a program and its arguments.")
        found = Program(arguments.name, command)
    else:
        config = memory.home.config / "config.toml"
        found = find_program(arguments.name, memory.home.settings().agents, config)
    if arguments.seconds is not None and arguments.seconds <= 0:
        raise UsageError("--seconds is not above zero. Give how long it may take.")
    limits = found.limits
    if arguments.seconds is not None:
        limits = Limits(
            limits.cpu_s, arguments.seconds, limits.memory_mb, limits.output_bytes, limits.calls
        )
    return found._replace(
        runtime=arguments.runtime or found.runtime,
        network=found.network or arguments.network,
        limits=limits,
    )


def _format_end(memory: Memory, run: AgentRun) -> str:
    said = f"{run.id}  {say(run.outcome)}" + (f" ({translate(run.why)})" if run.why else "")
    log = Runs(memory).read_log(run.id).strip() if run.outcome == "done" else ""
    lines = [f"{log}\n", f"{said}  {_format_time(run.usage.wall_s, run.usage.cpu_s)}"]
    if run.outcome != "done":
        lines.append(say("See 'kimi-memory agent logs {run} --errors'.", run=run.id))
    return "\n".join(lines).lstrip("\n")


def _format_time(wall: float, cpu: float) -> str:
    line = "{wall} s, {cpu} s of processor time"
    return say(line, wall=f"{wall:.1f}", cpu=f"{cpu:.1f}")


def _list(memory: Memory, arguments: Namespace) -> int:
    runs = Runs(memory)
    runs.recover()
    found = [one for one in runs.list_runs() if not arguments.live or one.status != "stopped"]
    if arguments.json:
        show_json(found)
        return 0
    for one in found:
        state, why = pad(say(one.outcome or one.status), 8), translate(one.why)
        show(f"{one.id}  {one.started[:16]}  {state} {one.agent}  {why}".rstrip())
    if not found:
        show(say("No runs. 'kimi-memory agent run NAME PROMPT' starts one."))
    return 0


def _show(memory: Memory, arguments: Namespace) -> int:
    runs = Runs(memory)
    runs.recover()
    one = runs.show(arguments.id)
    if arguments.json:
        show_json(one)
        return 0
    used = one.usage
    show(one.id)
    _show_named(
        {
            "agent": one.agent,
            "state": say(one.outcome or one.status),
            "why": translate(one.why),
            "task": f"{one.task} ({say(one.task_class)})",
            "ref": one.ref,
            "session": one.session,
            "runtime": one.runtime,
            "model": one.model,
            "skills": ", ".join(one.skills),
            "started": one.started,
            "stopped": one.stopped,
            "attempt": str(one.attempt),
            "where": _format_place(one),
            "used": f"{_format_time(used.wall_s, used.cpu_s)}, {one.memory_mb} MB",
            "tokens": say("{sent} in, {made} out", sent=used.tokens_in, made=used.tokens_out)
            if used.tokens_in
            else "",
        }
    )
    return 0


def _stop(memory: Memory, arguments: Namespace) -> int:
    if arguments.dry_run:
        one = Runs(memory).show(arguments.id)
        text = "{run} has ended." if one.status == "stopped" else "Would end {run} of {agent}."
        show_result(arguments, one, say(text, run=one.id, agent=one.agent))
        return 0
    one = Runs(memory).stop(arguments.id)
    line = "{run}: {outcome}; what it said is in {session}."
    said = say(line, run=one.id, outcome=say(one.outcome), session=one.session)
    show_result(arguments, one, said)
    return 0


def _logs(memory: Memory, arguments: Namespace) -> int:
    text = Runs(memory).read_log(arguments.id, errors=arguments.errors)
    show_result(arguments, {"log": text}, text.rstrip("\n"))
    return 0


def _identity(memory: Memory, arguments: Namespace) -> int:
    persona = None if arguments.persona is None else dict(map(_parse_trait, arguments.persona))
    skills = arguments.skills
    wanted = Wanted(
        arguments.name,
        arguments.description,
        persona,
        arguments.model,
        None if skills is None else tuple(filter(None, (one.strip() for one in skills.split(",")))),
    )
    would = None
    if any(value is not None for value in wanted):
        made = write_identity(memory, wanted, dry_run=arguments.dry_run)
        would = made if arguments.dry_run else None
    # Opened anew: settings are read when a memory is opened.
    with open_memory(arguments) as fresh:
        kept = parse_span(fresh.settings.ttl.skill_progress)
        first = f"{fresh.now() - kept:%Y-%m-%d}" if kept else ""
        found, progress = would or read_identity(fresh), count_skills(read_runs(fresh), first)
        found = found._replace(space=PlacePolicies(fresh.home, found.id, fresh.root).space)
    if arguments.json:
        show_json({**found._asdict(), "skills_progress": [one._asdict() for one in progress]})
        return 0
    if would:
        show(say("It would be:"))
    show(found.name)
    _show_named(_name_fields(found, progress))
    return 0


def _name_fields(found: MemoryIdentity, progress: Sequence[Skill]) -> dict[str, str]:
    """Return what people read of a memory, by what it is called."""
    begun = say("{count}, last {day}", count=found.interactions, day=found.last_active)
    line = "{runs} runs, {done} done, last {day}"
    return {
        "id": found.id,
        "about": found.description,
        **found.persona,
        "model": found.default_model,
        "skills": ", ".join(found.default_skills),
        "space": found.space,
        "parent": found.parent,
        "version": f"v{found.version}" if found.version else "",
        "sessions": begun if found.last_active else "",
        "primary": found.primary,
        **{one.name: say(line, runs=one.runs, done=one.done, day=one.last) for one in progress},
    }


def _show_named(fields: Mapping[str, str]) -> None:
    # A trait or a skill that a person named keeps its name.
    show_fields({say(name): value for name, value in fields.items()})


def _format_place(run: AgentRun) -> str:
    nodes = dict.fromkeys(filter(None, (run.reasoning_node, run.execution_node)))
    return "; ".join(filter(None, (" → ".join(nodes), translate(run.placement))))


def _parse_trait(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign or not name.strip() or "\n" in name:
        raise UsageError(f"{text!r} is no trait. Write KEY=VALUE, such as tone=friendly.")
    return name.strip(), " ".join(value.split())
