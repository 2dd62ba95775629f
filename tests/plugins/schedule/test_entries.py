"""Schedules: hostile paths quoted, foreign lines untouched, checked by the schedulers."""

from __future__ import annotations

import plistlib
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from kimi_memory.plugins.schedule.entries import (
    Cluster,
    cron_block,
    entries,
    kubernetes_manifest,
    launchd_plists,
    systemd_units,
    tag_of,
    with_block,
    without_block,
)

from kimi_memory.config import Settings
from kimi_memory.domain.job_registry import find_job, scheduled
from kimi_memory.errors import UsageError

HOSTILE = [
    "/home/me/memory",
    "/home/me/my memory",
    "/home/李雷/记忆 库",
    '/home/o\'brien/"mem"',
    "/tmp/100% $HOME $(id) `id`; rm -rf x & #",
    "/tmp/back\\slash\\",
    "/tmp/%%",
]
TIMES = {job.name: "" for job in scheduled() if job.span == "memory"}
"""No times but those of the day and the week."""
TAG = "0123abcd"


def made(root: str, program: tuple[str, ...] = ("/bin/true",)) -> list:
    return entries(Path(root), program, {**Settings().schedule, **TIMES})


@pytest.mark.parametrize("root", HOSTILE)
def test_cron_gives_the_shell_the_very_path(root: str) -> None:
    block = cron_block(made(root), TAG)
    daily, weekly = block.splitlines()[1:3]
    assert daily.startswith("15 3 * * * ")
    assert weekly.startswith("0 4 * * 0 ")
    command = daily.split(" ", 5)[5]
    # cron turns \% into % and a bare % into a line break
    assert not re.search(r"(?<!\\)%", command)
    words = shlex.split(command.replace("\\%", "%"))
    assert words == ["/bin/true", "consolidate", "daily", "--memory", root, ">/dev/null"]
    printed = subprocess.run(
        [
            "sh",
            "-c",
            command.replace("\\%", "%")
            .replace("/bin/true", "printf '%s\\n'", 1)
            .removesuffix(" >/dev/null"),
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert printed.stdout.splitlines()[-1] == root


@pytest.mark.parametrize("root", HOSTILE)
def test_systemd_accepts_the_units(root: str, tmp_path: Path) -> None:
    verify = shutil.which("systemd-analyze")
    if verify is None:
        pytest.skip("systemd-analyze is not on this machine")
    for name, text in systemd_units(made(root), TAG).items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    names = sorted(str(path) for path in tmp_path.iterdir())
    done = subprocess.run(
        [verify, "verify", "--man=no", *names], capture_output=True, text=True, check=False
    )
    ours = [line for line in done.stderr.splitlines() if "kimi-memory" in line]
    assert (done.returncode, ours) == (0, [])


def test_systemd_knows_the_times() -> None:
    verify = shutil.which("systemd-analyze")
    if verify is None:
        pytest.skip("systemd-analyze is not on this machine")
    units = systemd_units(made("/m"), TAG)
    lines = [line for text in units.values() for line in text.splitlines()]
    calendars = [line.split("=", 1)[1] for line in lines if line.startswith("OnCalendar=")]
    assert calendars == ["*-*-* 03:15:00", "Sun *-*-* 04:00:00"]
    for calendar in calendars:
        subprocess.run([verify, "calendar", calendar], capture_output=True, check=True)


@pytest.mark.parametrize("root", HOSTILE)
def test_systemd_is_given_the_very_path(root: str) -> None:
    text = systemd_units(made(root), TAG)[f"kimi-memory-daily-{TAG}.service"]
    line = next(line for line in text.splitlines() if line.startswith("ExecStart="))
    last = line[len("ExecStart=") :].rsplit(' "--memory" ', 1)[1]
    plain = last[1:-1].replace("%%", "%").replace("$$", "$")
    assert re.sub(r"\\(.)", r"\1", plain) == root


@pytest.mark.parametrize("root", HOSTILE)
def test_launchd_reads_the_very_arguments(root: str) -> None:
    plists = launchd_plists(made(root), TAG)
    daily, weekly = (plistlib.loads(text.encode()) for text in plists.values())
    assert daily["ProgramArguments"][-1] == root
    assert daily["StartCalendarInterval"] == {"Hour": 3, "Minute": 15}
    assert weekly["StartCalendarInterval"] == {"Hour": 4, "Minute": 0, "Weekday": 0}
    assert list(plists) == [f"{daily['Label']}.plist", f"{weekly['Label']}.plist"]


def test_plutil_accepts_the_lists(tmp_path: Path) -> None:
    check = shutil.which("plutil")
    if check is None:
        pytest.skip("plutil is not on this machine")
    for name, text in launchd_plists(made(HOSTILE[4]), TAG).items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        subprocess.run([check, "-lint", tmp_path / name], check=True)


CRON_JOB = {
    "apiVersion": str,
    "kind": str,
    "metadata": {"name": str, "namespace": str, "labels": dict},
    "spec": {
        "schedule": str,
        "timeZone": str,
        "concurrencyPolicy": str,
        "startingDeadlineSeconds": int,
        "successfulJobsHistoryLimit": int,
        "failedJobsHistoryLimit": int,
        "jobTemplate": {
            "spec": {
                "backoffLimit": int,
                "activeDeadlineSeconds": int,
                "template": {
                    "spec": {
                        "restartPolicy": str,
                        "automountServiceAccountToken": bool,
                        "securityContext": dict,
                        "containers": list,
                        "volumes": list,
                    }
                },
            }
        },
    },
}
"""The fields of batch/v1 CronJob that are used, and their types; no others may stand there."""


def fits(value: object, shape: object) -> bool:
    if isinstance(shape, dict):
        return (
            isinstance(value, dict)
            and value.keys() == shape.keys()
            and all(fits(value[k], shape[k]) for k in shape)
        )
    return type(value) is shape


@pytest.mark.parametrize("image", ["kimi-memory:1", 'a"b: {x}\n#', "镜像"])
def test_kubernetes_objects_have_the_shape_of_a_cron_job(image: str) -> None:
    text = kubernetes_manifest(made("/m"), TAG, Cluster(image, "my-claim", "team", "Asia/Shanghai"))
    jobs = list(yaml.safe_load_all(text))
    assert [job["spec"]["schedule"] for job in jobs] == ["15 3 * * *", "0 4 * * 0"]
    for job in jobs:
        assert fits(job, CRON_JOB)
        assert (job["apiVersion"], job["kind"]) == ("batch/v1", "CronJob")
        assert re.fullmatch(r"[a-z0-9]([a-z0-9-]{0,50}[a-z0-9])?", job["metadata"]["name"])
        pod = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]
        [container] = pod["containers"]
        assert container["image"] == image
        assert container["command"][:2] == ["kimi-memory", "consolidate"]
        mounts = {m["name"] for m in container["volumeMounts"]}
        assert mounts == {v["name"] for v in pod["volumes"]}


@pytest.mark.parametrize(
    "check", [("kubernetes-validate", "--strict"), ("kubeconform", "-strict")], ids=lambda c: c[0]
)
def test_validators_of_kubernetes_accept_the_manifest(
    check: tuple[str, str], tmp_path: Path
) -> None:
    if shutil.which(check[0]) is None:
        pytest.skip(f"{check[0]} is not on this machine")
    file = tmp_path / "jobs.yaml"
    file.write_text(kubernetes_manifest(made("/m"), TAG, Cluster()), encoding="utf-8")
    subprocess.run([*check, file], check=True)


@pytest.mark.parametrize("root", ["/a\nb", "/a\rb", "/a\tb", "/a\u2028b", "/a\x1bb", "/a\udc80b"])
def test_paths_no_scheduler_can_hold_are_refused(root: str) -> None:
    with pytest.raises(UsageError, match="control character"):
        made(root)


def test_a_command_that_cron_would_cut_is_refused() -> None:
    with pytest.raises(UsageError, match="cuts commands"):
        cron_block(made("/" + "x" * 950), TAG)


@pytest.mark.parametrize(
    ("daily", "weekly"),
    [
        ("25:00", "sun 04:00"),
        ("3", "sun 04:00"),
        ("sun 03:00", "sun 04:00"),
        ("03:00", "04:00"),
        ("03:00", "xyz 04:00"),
        ("03:00\n", "sun 4:60"),
    ],
)
def test_times_that_are_none_are_refused(daily: str, weekly: str) -> None:
    with pytest.raises(UsageError, match="Write it like"):
        entries(Path("/m"), ("kmem",), {**TIMES, "daily": daily, "weekly": weekly})


LINES = st.lists(
    st.one_of(
        st.text(alphabet="ab #%>\t茶", max_size=12),
        st.sampled_from(
            ["# >>> kimi-memory ffff0000 >>>", "# <<< kimi-memory ffff0000 <<<", "@daily x"]
        ),
    ),
    max_size=6,
)


@given(LINES, st.booleans())
def test_foreign_lines_of_a_crontab_stay_byte_for_byte(lines: list[str], ends: bool) -> None:
    foreign = "\n".join(lines) + ("\n" if ends and lines else "")
    first, second = cron_block(made("/m"), TAG), cron_block(made("/m", ("/bin/false",)), TAG)
    installed = with_block(foreign, first, TAG)
    assert with_block(installed, first, TAG) == installed
    assert foreign in installed
    changed = with_block(installed, second, TAG)
    assert first not in changed
    assert without_block(changed, TAG) == without_block(installed, TAG) == foreign
    assert without_block(foreign, TAG) == foreign


def test_two_memories_have_entries_of_their_own() -> None:
    assert tag_of(Path("/a")) != tag_of(Path("/b"))
    one, two = (cron_block(made(root), root[1] * 8) for root in ("/a", "/b"))
    both = with_block(with_block("", one, "a" * 8), two, "b" * 8)
    assert without_block(both, "a" * 8) == two


def test_introspection_runs_on_a_day_or_every_day_or_never() -> None:
    def lines(introspect: str) -> list[str]:
        found = entries(
            Path("/m"), ("kmem",), {**Settings().schedule, **TIMES, "introspect": introspect}
        )
        return [f"{one.cron_time} {' '.join(one.argv[1:3])}" for one in found][2:]

    assert lines(find_job("introspect").time) == ["0 5 * * 0 consolidate introspect"]
    assert lines("04:30") == ["30 4 * * * consolidate introspect"]
    assert lines("") == []
    with pytest.raises(UsageError, match="'25:00' is no introspect time"):
        lines("25:00")
