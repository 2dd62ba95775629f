"""``place``: say where a task would run and why; say what this machine offers."""

from __future__ import annotations

import re
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from kimi_memory.api.options import Home
from kimi_memory.cli.shared import foretell, say, show_json, show_result, show_text, translate
from kimi_memory.cluster import Cluster
from kimi_memory.cluster.reaching import name_silent_engine
from kimi_memory.domain.agent_run import SECURITIES, TASK_CLASSES, Needs, Task
from kimi_memory.domain.ids import new_id, stamp
from kimi_memory.domain.placement_types import (
    Capabilities,
    Latency,
    Permissions,
    Placement,
    Resources,
)
from kimi_memory.errors import UsageError
from kimi_memory.runs.placing import Forbid, forbid_nothing
from kimi_memory.runs.profiles import (
    SSH,
    Offer,
    measure_latency,
    measure_resources,
    place,
    publish_latency,
    publish_offer,
)
from kimi_memory.spaces.placing import PlacePolicies

from .task_time import check_expected, parse_deadline

_STATES = ("online", "busy", "maintenance")
_USE_CASES = ("", "low-latency", "offline", "edge")
_RUNTIMES = ("process", "sandbox", "gvisor", "container", "kubernetes", "ray")
_REASONS = re.compile(r", (?=(?:lacks|offers|has|is|in maintenance|offline|busy)\b)")
_PERMISSIONS = ("sudo", "filesystem", "network", "docker")


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--task", choices=TASK_CLASSES, default="batch", help="default: batch")
    parser.add_argument("--for", dest="name", default="", help="a deployed memory to be near to")
    parser.add_argument(
        "--expected", type=float, default=0.0, metavar="S", help="so many seconds it should take"
    )
    parser.add_argument(
        "--deadline", default="", metavar="WHEN", help="when it has to be done at last"
    )
    parser.add_argument("--realtime", action="store_true", help="somebody waits for each answer")
    parser.add_argument("--security", choices=SECURITIES, default="normal", help="default: normal")
    parser.add_argument("--region", default="", help="where it must run")
    parser.add_argument("--needs", default="", help="runtimes and languages, by commas")
    parser.add_argument("--permissions", default="", help="of sudo, filesystem, network, docker")
    parser.add_argument("--cpu", type=float, default=0.0, metavar="N", help="processors")
    parser.add_argument("--ram", type=int, default=0, metavar="MB", help="memory")
    parser.add_argument("--disk", type=int, default=0, metavar="MB", help="disk")
    parser.add_argument("--gpu", action="store_true", help="a GPU")
    _declare_offer(parser)


def _declare_offer(parser: ArgumentParser) -> None:
    """Declare what a machine says of itself, and of the way to others."""
    parser.add_argument(
        "--offer",
        action="store_true",
        help="say that this machine offers all that, instead; of processors, memory and disk what "
        "it has, if not given",
    )
    parser.add_argument("--gpu-ram", type=int, default=0, metavar="MB", help="with --offer")
    parser.add_argument("--providers", default="", help="with --offer: of models, by commas")
    parser.add_argument("--use-case", choices=_USE_CASES, default="", help="with --offer")
    parser.add_argument(
        "--most", type=int, default=0, metavar="N", help="with --offer: so many memories; 0 for any"
    )
    parser.add_argument(
        "--label", action="append", default=[], metavar="NAME=VALUE",
        help="with --offer: what you say of it; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--load",
        type=int,
        default=0,
        metavar="PERCENT",
        help="with --offer: at least so busy; else as it is measured",
    )
    parser.add_argument(
        "--status", choices=_STATES, default="online", help="with --offer; default: online"
    )
    parser.add_argument(
        "--endpoint", default="", metavar="ssh:HOST",
        help="with --offer: how others reach what carries out here",
    )  # fmt: skip
    parser.add_argument(
        "--measure", action="append", default=[], metavar="NODE",
        help="measure how long the way from this machine to another and back takes",
    )  # fmt: skip
    parser.add_argument(
        "--latency", action="append", default=[], metavar="NODE=MS",
        help="say how long the way from this machine to another and back takes",
    )  # fmt: skip
    parser.add_argument(
        "--dry-run", action="store_true", help="with --offer, --latency, --measure: note nothing"
    )


def run(arguments: Namespace) -> int:
    """Place a task, or publish what this machine offers."""
    with name_silent_engine(), Cluster.open() as cluster:
        if arguments.dry_run and (arguments.offer or arguments.latency or arguments.measure):
            return foretell(arguments, "\n".join(_foretell(cluster, arguments)))
        measured = [_parse_latency(cluster.node, text) for text in arguments.latency]
        for one in measured:
            publish_latency(cluster, one)
        if arguments.offer:
            publish_offer(cluster, _read_offer(arguments))
        pinged = [measure_latency(cluster, node) for node in arguments.measure]
        if pinged:
            show_result(
                arguments,
                [one._asdict() for one in pinged],
                "\n".join(map(_format_latency, pinged)),
            )
            return 0
        if arguments.offer or measured:
            show_result(arguments, {"node": cluster.node}, f"{cluster.node}: noted.")
            return 0
        found = place(cluster, _read_task(arguments), forbid=_find_policies(cluster, arguments))
    if arguments.json:
        show_json({**found._asdict(), "refused": [one._asdict() for one in found.refused]})
    else:
        show_text(format_placement(found))
    return 0


def _foretell(cluster: Cluster, arguments: Namespace) -> Iterator[str]:
    for one in (_parse_latency(cluster.node, text) for text in arguments.latency):
        line = "Would note {ms} ms from {a} to {b} and back."
        yield say(line, ms=f"{one.p50_ms:g}", a=one.a, b=one.b)
    if arguments.offer:
        offer = _read_offer(arguments)
        publish_offer(cluster, offer, dry_run=True)
        can, has = offer.capabilities, offer.resources
        yield say(
            "Would note that {node} offers {things}; {cpu} processors, {memory} MB of memory, "
            "{disk} MB of disk.",
            node=cluster.node, things=", ".join((*can.runtimes, *can.languages)),
            cpu=f"{has.cpu:g}", memory=f"{has.memory_mb:,}", disk=f"{has.disk_mb:,}",
        )  # fmt: skip
    for node in arguments.measure:
        yield say("Would measure the way to {node} and back.", node=node)


def format_placement(found: Placement) -> str:
    """Return a placement with its reasons, one below the other."""
    where = found.execution
    if found.mode == "separated":
        line = "{thinker} thinks, {doer} carries out"
        where = say(line, thinker=found.reasoning, doer=found.execution)
    widest = max((len(one.node) for one in found.refused), default=0)
    lines = [
        say("refused {node}  {why}", node=one.node.ljust(widest), why=_say_reasons(one.why))
        for one in found.refused
    ]
    head = f"{say(found.mode)}  {where}  {say('score {score}', score=found.score)}"
    return "\n  ".join([head, say("because {why}", why=translate(found.why)), *lines])


def _say_reasons(why: str) -> str:
    return ", ".join(map(translate, _REASONS.split(why)))


def _find_policies(cluster: Cluster, arguments: Namespace) -> Forbid:
    """Return what the space of the memory that was named says of places."""
    if not arguments.name:
        return forbid_nothing
    id = cluster.registry.find(arguments.name)
    here = [one.folder for one in cluster.deployments(id) if one.node == cluster.node]
    return PlacePolicies(Home.of_user(), id, Path(*here)).refuse


def _format_latency(one: Latency) -> str:
    line = "{a} → {b}: {median} ms, {worst} ms at most in 95 of 100"
    return say(line, a=one.a, b=one.b, median=f"{one.p50_ms:g}", worst=f"{one.p95_ms:g}")


def _split(text: str) -> tuple[str, ...]:
    return tuple(one.strip() for one in text.split(",") if one.strip())


def _read_permissions(arguments: Namespace) -> tuple[str, ...]:
    found = _split(arguments.permissions)
    for one in found:
        if one not in _PERMISSIONS:
            raise UsageError(f"{one!r} is no permission. Choose of {', '.join(_PERMISSIONS)}.")
    return found


def _read_task(arguments: Namespace) -> Task:
    needs = Needs(
        arguments.cpu, arguments.ram, arguments.disk, arguments.gpu, _read_permissions(arguments),
        _split(arguments.needs),
    )  # fmt: skip
    return Task(
        new_id("task", datetime.now(UTC)), arguments.name, arguments.task,
        realtime=arguments.realtime, security=arguments.security, needs=needs,
        region=arguments.region, expected_s=check_expected(arguments.expected),
        deadline=parse_deadline(arguments.deadline),
    )  # fmt: skip


def _read_offer(arguments: Namespace) -> Offer:
    if not 0 <= arguments.load <= 100:
        raise UsageError(f"--load is {arguments.load}. Give a number from 0 to 100.")
    if arguments.endpoint and not arguments.endpoint.startswith((SSH, "https://")):
        raise UsageError(f"{arguments.endpoint!r} is no endpoint. Write ssh:HOST, or https://….")
    names = set(_read_permissions(arguments))
    has = measure_resources()
    runtimes = [one for one in _split(arguments.needs) if one in _RUNTIMES]
    languages = [one for one in _split(arguments.needs) if one not in runtimes]
    return Offer(
        use_case=arguments.use_case,
        capabilities=Capabilities(
            arguments.gpu, _split(arguments.providers), arguments.most,
            tuple(runtimes) or ("process",), tuple(languages),
        ),
        resources=Resources(
            arguments.cpu or has.cpu, arguments.ram or has.memory_mb,
            arguments.disk or has.disk_mb, arguments.gpu_ram,
        ),
        permissions=Permissions(
            "sudo" in names, "all" if "filesystem" in names else "work", "network" in names,
            "docker" in names,
        ),
        status=arguments.status, load=arguments.load, endpoint=arguments.endpoint,
        labels=dict(map(_parse_label, arguments.label)),
    )  # fmt: skip


def _parse_label(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    if not (name and value and text.isprintable()):
        raise UsageError(f"{text!r} is no label. Write NAME=VALUE, such as rack=7.")
    return name, value


def _parse_latency(node: str, text: str) -> Latency:
    name, _, number = text.partition("=")
    try:
        ms = float(number)
    except ValueError:
        ms = -1.0
    if not name or not 0 <= ms < 1e6:
        raise UsageError(f"{text!r} is no latency. Write NODE=MS, such as rack-2=83.")
    return Latency(node, name, ms, at=stamp(datetime.now(UTC)))
