"""Jobs of a memory as entries of cron, systemd, launchd, Kubernetes.

A program that missed its hour is no loss: each job takes all periods that have news.
"""

from __future__ import annotations

import hashlib
import json
import plistlib
import re
import shlex
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kimi_memory.domain.job_registry import scheduled
from kimi_memory.errors import UsageError

KINDS = ("cron", "systemd", "launchd", "kubernetes")
FORMS = {"day": "04:00", "week": "sun 04:00", "memory": "sun 05:00' or '04:30"}
"""How the times of jobs over days, weeks and the whole memory are written."""
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_TIME = re.compile(r"(?:(?P<day>[a-z]{3}) )?(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)")
_LONGEST_CRON = 900
"""cron cuts commands of more than about a thousand bytes."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One job and when it runs, in the time zone of the machine."""

    period: str
    argv: tuple[str, ...]
    hour: int
    minute: int
    weekday: int | None = None
    """0 is Monday; None is every day."""

    @property
    def cron_time(self) -> str:
        """The five fields of cron, where Sunday is 0."""
        day = "*" if self.weekday is None else str((self.weekday + 1) % 7)
        return f"{self.minute} {self.hour} * * {day}"


@dataclass(frozen=True, slots=True)
class Cluster:
    """Where a Kubernetes job finds its image and its memory."""

    image: str = "kimi-memory:latest"
    claim: str = "kimi-memory"
    """Name of the persistent volume claim that holds the memory."""
    namespace: str = "default"
    time_zone: str = "Etc/UTC"


def entries(root: Path, program: Sequence[str], times: Mapping[str, str]) -> list[Entry]:
    """Return what is to be run for a memory.

    Args:
        root: the memory folder.
        program: how the command line is started, by absolute path.
        times: of jobs by name: ``HH:MM`` for jobs over days, ``day HH:MM`` for jobs over
            weeks, and either, or none, for others.

    Raises:
        UsageError: a time is none, or a path holds what no scheduler can be given.
    """
    for word in (str(root), *program):
        _refuse_control_chars(word)
    found = []
    for job in scheduled():
        written = times[job.name].strip()
        if job.span == "memory" and not written:
            continue
        time = _TIME.fullmatch(written.lower())
        day = time["day"] if time else None
        fits = job.span == "memory" or (day is not None) == (job.span == "week")
        if time is None or not fits or (day and day not in _DAYS):
            form = FORMS[job.span]
            raise UsageError(f"{written!r} is no {job.name} time. Write it like '{form}'.")
        argv = (*program, "consolidate", job.name, "--memory", str(root))
        weekday = _DAYS.index(day) if day else None
        found.append(Entry(job.name, argv, int(time["hour"]), int(time["minute"]), weekday))
    return found


def _refuse_control_chars(word: str) -> None:
    bad = [ch for ch in word if unicodedata.category(ch) in ("Cc", "Cs", "Zl", "Zp")]
    if bad:
        raise UsageError(
            f"{word!r} holds a line break or a control character. Rename the folder, or link to it."
        )


def tag_of(root: Path) -> str:
    """Return the short name under which a memory's entries are known."""
    # Two memories on one machine need entries of their own; a path would not fit in a unit's name.
    return hashlib.sha256(str(root).encode("utf-8", "surrogatepass")).hexdigest()[:8]


def cron_block(found: Sequence[Entry], tag: str) -> str:
    """Return the lines of a crontab, between two marks.

    Raises:
        UsageError: a command is longer than cron takes.
    """
    lines = []
    for entry in found:
        # cron takes a bare % for a line break, even inside of quotes.
        command = shlex.join(entry.argv).replace("%", "\\%")
        if len(command.encode()) > _LONGEST_CRON:
            raise UsageError("cron cuts commands this long. Link to the memory from a short path.")
        # Only the output is dropped: errors still come as mail.
        lines.append(f"{entry.cron_time} {command} >/dev/null\n")
    return "".join([f"# >>> kimi-memory {tag} >>>\n", *lines, f"# <<< kimi-memory {tag} <<<\n"])


# So that to uninstall gives back the very bytes that were there.
_ADDED = "# The line break above was added by kimi-memory.\n"


def with_block(crontab: str, block: str, tag: str) -> str:
    """Return a crontab with a block put in or brought up to date; the rest as it was."""
    old = _block_pattern(tag).search(crontab)
    if old is not None:
        return crontab[: old.start("block")] + block + crontab[old.end() :]
    if crontab and not crontab.endswith("\n"):
        return f"{crontab}\n{_ADDED}{block}"
    return crontab + block


def without_block(crontab: str, tag: str) -> str:
    """Return a crontab without a block; the rest as it was."""
    return _block_pattern(tag).sub("", crontab, count=1)


def _block_pattern(tag: str) -> re.Pattern[str]:
    mark = rf"kimi-memory {re.escape(tag)}"
    return re.compile(
        rf"(?:\n{re.escape(_ADDED)})?(?P<block>^# >>> {mark} >>>\n(?:.*\n)*?# <<< {mark} <<<\n?)",
        re.MULTILINE,
    )


def systemd_units(found: Sequence[Entry], tag: str) -> dict[str, str]:
    """Return service and timer of each job, by file name."""
    units = {}
    for entry in found:
        name = f"kimi-memory-{entry.period}-{tag}"
        day = "*-*-*" if entry.weekday is None else f"{_DAYS[entry.weekday].title()} *-*-*"
        units[f"{name}.service"] = (
            "[Unit]\n"
            f"Description=kimi-memory: the {entry.period} job\n\n"
            "[Service]\n"
            "Type=oneshot\n"
            f"ExecStart={' '.join(map(_systemd_word, entry.argv))}\n"
            # A job in the background must not slow down the person at the machine.
            "Nice=10\n"
            "IOSchedulingClass=idle\n"
            "TimeoutStartSec=2h\n"
        )
        units[f"{name}.timer"] = (
            "[Unit]\n"
            f"Description=kimi-memory: when the {entry.period} job runs\n\n"
            "[Timer]\n"
            f"OnCalendar={day} {entry.hour:02d}:{entry.minute:02d}:00\n"
            # A machine that was off at that hour runs the job when it starts.
            "Persistent=true\n"
            # Several memories on one machine do not all start in the same second.
            "RandomizedDelaySec=5min\n\n"
            "[Install]\n"
            "WantedBy=timers.target\n"
        )
    return units


def _systemd_word(word: str) -> str:
    quoted = word.replace("\\", "\\\\").replace('"', '\\"')
    # systemd replaces %h and $HOME even inside of quotes.
    return f'"{quoted}"'.replace("%", "%%").replace("$", "$$")


def launchd_plists(found: Sequence[Entry], tag: str) -> dict[str, str]:
    """Return the property list of each job, by file name."""
    plists = {}
    for entry in found:
        label = f"kimi-memory.{entry.period}.{tag}"
        when = {"Hour": entry.hour, "Minute": entry.minute}
        if entry.weekday is not None:
            when["Weekday"] = (entry.weekday + 1) % 7
        content = {
            "Label": label,
            "ProgramArguments": list(entry.argv),
            "StartCalendarInterval": when,
            "ProcessType": "Background",
            "LowPriorityIO": True,
        }
        plists[f"{label}.plist"] = plistlib.dumps(content).decode()
    return plists


def kubernetes_manifest(found: Sequence[Entry], tag: str, cluster: Cluster) -> str:
    """Return a CronJob for each job; the memory is the volume of a claim, at ``/memory``."""
    return "".join(_cron_job(entry, tag, cluster) for entry in found)


def _cron_job(entry: Entry, tag: str, cluster: Cluster) -> str:
    command = ["kimi-memory", "consolidate", entry.period, "--memory", "/memory"]
    values: Mapping[str, str] = {
        "name": f"kimi-memory-{entry.period}-{tag}",
        "namespace": cluster.namespace,
        "schedule": entry.cron_time,
        "zone": cluster.time_zone,
        "image": cluster.image,
        "claim": cluster.claim,
    }
    # Every JSON text is a YAML scalar, whatever it holds.
    words = {key: json.dumps(value, ensure_ascii=False) for key, value in values.items()}
    return _MANIFEST.format(command=json.dumps(command), **words)


_MANIFEST = """\
---
apiVersion: batch/v1
kind: CronJob
metadata:
  name: {name}
  namespace: {namespace}
  labels:
    app.kubernetes.io/name: kimi-memory
spec:
  schedule: {schedule}
  timeZone: {zone}
  concurrencyPolicy: Forbid
  startingDeadlineSeconds: 3600
  successfulJobsHistoryLimit: 1
  failedJobsHistoryLimit: 3
  jobTemplate:
    spec:
      backoffLimit: 2
      activeDeadlineSeconds: 7200
      template:
        spec:
          restartPolicy: Never
          automountServiceAccountToken: false
          securityContext:
            runAsNonRoot: true
            runAsUser: 1000
            fsGroup: 1000
          containers:
            - name: kimi-memory
              image: {image}
              command: {command}
              env:
                - name: HOME
                  value: /tmp
              securityContext:
                allowPrivilegeEscalation: false
                readOnlyRootFilesystem: true
                capabilities:
                  drop: ["ALL"]
              volumeMounts:
                - name: memory
                  mountPath: /memory
                - name: scratch
                  mountPath: /tmp
          volumes:
            - name: memory
              persistentVolumeClaim:
                claimName: {claim}
            - name: scratch
              emptyDir: {{}}
"""
