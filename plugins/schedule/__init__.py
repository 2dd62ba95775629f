"""The command ``schedule``: jobs run by cron, systemd, launchd or Kubernetes.

Why it exists: a memory that nobody consolidates grows and learns nothing.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from dataclasses import dataclass
from pathlib import Path

from kimi_memory import hookimpl
from kimi_memory.agent_hooks import user_files
from kimi_memory.cli.shared import locate_settings, show, show_json, show_note, show_text
from kimi_memory.domain.command import Command
from kimi_memory.domain.job_registry import scheduled
from kimi_memory.errors import UsageError

from . import entries as schedule
from .entries import Cluster

_CLUSTER = Cluster()
_HELP = {
    "day": "time of the job, such as 03:15",
    "week": "day and time, such as 'sun 04:00'",
    "memory": "time, with a day or for every day; '' for never",
}


@hookimpl
def register_commands() -> list[Command]:
    """Add ``schedule``."""
    help = "let the daily and weekly job and introspection run by themselves"
    return [Command("schedule", help, _add_arguments, _run, "run by itself")]


def _add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "kind", nargs="?", choices=schedule.KINDS, help="default: what this machine has"
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--install", action="store_true", help="put the entries in place")
    what.add_argument("--remove", action="store_true", help="take them out again")
    parser.add_argument("--dry-run", action="store_true", help="only show what would change")
    for job in scheduled():
        parser.add_argument(f"--{job.name}", dest=job.name, help=_HELP[job.span])
    parser.add_argument("--image", default=_CLUSTER.image, help="container image, for kubernetes")
    parser.add_argument("--claim", default=_CLUSTER.claim, help="volume claim, for kubernetes")
    parser.add_argument("--namespace", default="default", help="namespace, for kubernetes")
    parser.add_argument("--time-zone", default="Etc/UTC", help="time zone, for kubernetes")


@dataclass(frozen=True, slots=True)
class _File:
    """One file of a scheduler as it is and as it should be; cron has one without a place."""

    name: str
    text: str
    path: Path | None = None

    @property
    def old(self) -> str:
        return user_files.text_at(self.path) if self.path is not None else ""


def _run(arguments: Namespace) -> int:
    """Print the entries, or install or remove them."""
    kind = arguments.kind or _default_kind()
    root, settings = locate_settings(arguments)
    given = {job.name: getattr(arguments, job.name) for job in scheduled()}
    times = {name: time for name, time in given.items() if time is not None}
    program = (sys.executable, "-m", "kimi_memory")
    found = schedule.entries(root, program, {**settings.schedule, **times})
    tag = schedule.tag_of(root)
    cluster = Cluster(arguments.image, arguments.claim, arguments.namespace, arguments.time_zone)
    files = _scheduler_files(kind, found, tag, cluster)
    if not (arguments.install or arguments.remove):
        _print_files(arguments, kind, files)
        return 0
    if kind == "cron":
        return _change_crontab(arguments, files[0].text, tag)
    if kind == "kubernetes":
        return _apply_manifest(arguments, files[0])
    return _change_files(arguments, kind, files)


def _default_kind() -> str:
    if sys.platform == "darwin":
        return "launchd"
    return "systemd" if user_files.has("systemctl") else "cron"


def _scheduler_files(
    kind: str, found: list[schedule.Entry], tag: str, cluster: Cluster
) -> list[_File]:
    config = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    if kind == "cron":
        return [_File("crontab", schedule.cron_block(found, tag))]
    if kind == "kubernetes":
        manifest = schedule.kubernetes_manifest(found, tag, cluster)
        return [_File(f"kimi-memory-{tag}.yaml", manifest)]
    if kind == "systemd":
        texts, folder = schedule.systemd_units(found, tag), config / "systemd" / "user"
    else:
        texts = schedule.launchd_plists(found, tag)
        folder = Path.home() / "Library" / "LaunchAgents"
    return [_File(name, text, folder / name) for name, text in texts.items()]


def _print_files(arguments: Namespace, kind: str, files: list[_File]) -> None:
    if arguments.json:
        rows = [{"name": f.name, "path": f.path, "text": f.text} for f in files]
        show_json({"kind": kind, "files": rows})
        return
    for file in files:
        if file.path is not None:
            show(f"# {file.path}")
        show_text(file.text.rstrip("\n"))


def _change_crontab(arguments: Namespace, block: str, tag: str) -> int:
    code, old, complaint = user_files.call(["crontab", "-l"])
    # Who has no crontab gets an error, too. Any other one must stop us: writing would replace
    # entries that could not be read.
    if code and "no crontab" not in complaint:
        raise UsageError(f"crontab cannot be read: {complaint.strip()}. Mend it first.")
    gone = arguments.remove
    new = schedule.without_block(old, tag) if gone else schedule.with_block(old, block, tag)
    if _show_changes(arguments, [("crontab", old, new)]):
        code, _, complaint = user_files.call(["crontab", "-"], new)
        if code:
            raise UsageError(f"crontab refused the entries: {complaint.strip()}.")
    return 0


def _change_files(arguments: Namespace, kind: str, files: list[_File]) -> int:
    changes = [(f.name, f.old, "" if arguments.remove else f.text) for f in files]
    if not _show_changes(arguments, changes):
        return 0
    # systemd can only disable a unit whose file is still there.
    before, after = _reload_commands(kind, files, remove=arguments.remove)
    _run_commands(before)
    for file in files:
        assert file.path is not None  # only those of cron and kubernetes have none
        if arguments.remove:
            user_files.drop(file.path)
        else:
            user_files.put(file.path, file.text)
    _run_commands(after)
    return 0


def _apply_manifest(arguments: Namespace, file: _File) -> int:
    gone = arguments.remove
    old, new = (file.text, "") if gone else ("", file.text)
    if not _show_changes(arguments, [(file.name, old, new)]):
        return 0
    verb = ["delete", "--ignore-not-found"] if gone else ["apply"]
    code, output, complaint = user_files.call(["kubectl", *verb, "-f", "-"], file.text)
    if code:
        raise UsageError(f"kubectl refused: {complaint.strip()}. Nothing was changed by us.")
    show_note(output.strip())
    return 0


def _show_changes(arguments: Namespace, changes: list[tuple[str, str, str]]) -> bool:
    """Show what changes; whether it is to be done."""
    diffs = [user_files.diff(old, new, name) for name, old, new in changes if old != new]
    if arguments.json:
        show_json({"changed": [name for name, old, new in changes if old != new], "diff": diffs})
    else:
        for text in diffs or ["nothing to change"]:
            show_text(text)
    return bool(diffs) and not arguments.dry_run


def _reload_commands(
    kind: str, files: list[_File], *, remove: bool
) -> tuple[list[list[str]], list[list[str]]]:
    """Return what makes a scheduler notice: before and after the files change."""
    if kind == "systemd":
        timers = [file.name for file in files if file.name.endswith(".timer")]
        reload = ["systemctl", "--user", "daemon-reload"]
        if remove:
            return [["systemctl", "--user", "disable", "--now", *timers]], [reload]
        return [], [reload, ["systemctl", "--user", "enable", "--now", *timers]]
    domain = f"gui/{os.getuid()}"
    # launchd reads a list only once: what it knew is let go first.
    labels = [f.name.removesuffix(".plist") for f in files if f.old]
    out = [["launchctl", "bootout", f"{domain}/{label}"] for label in labels]
    return out, [] if remove else [["launchctl", "bootstrap", domain, str(f.path)] for f in files]


def _run_commands(commands: list[list[str]]) -> None:
    """Run commands; those that cannot be run are shown, so that a person can."""
    for argv in commands:
        code = user_files.call(argv)[0] if user_files.has(argv[0]) else 1
        if code:
            show_note(f"kimi-memory: now run: {' '.join(argv)}")
