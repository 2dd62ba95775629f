"""The runtime ``kubernetes:IMAGE``: a job of a Kubernetes cluster, by kubectl.

Why it exists: where a team has such a cluster, agents with programs of their own belong there. The
memory stays here, and what the agent says is kept here. A process beside the run speaks with
kubectl; where it is killed, the job ends by its own deadline, and what it was given goes with it.
"""

from __future__ import annotations

import json
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from kimi_memory import hookimpl
from kimi_memory.domain.agent_run import Isolation, RunSpec, Runtime, Started
from kimi_memory.errors import UsageError
from kimi_memory.runs.hosted_runs import pack_run
from kimi_memory.runs.processes import start_line, stop_process
from kimi_memory.runs.roots import NOBODY

_SCHEME = "kubernetes:"
_INSIDE, _GIVEN = "/box", "/given"
_LABEL = "kimi-memory/run"
_KEPT_SECONDS = 3600
"""So long a job that ended stays, with what it was given."""
_START_SECONDS = 300
_MOST_BYTES = 900_000
"""A secret of Kubernetes holds a mebibyte."""
_PASSING = "256Mi"
_CANNOT, _LOOK_SECONDS = 69, 0.2
_BEGIN = 'cp /given/files/* /box/ && exec "$@" < /given/stdin'


class KubernetesRuntime:
    """Starts programs as jobs of one image.

    Args:
        image: as the cluster knows it.
    """

    isolation: Isolation = "medium"
    inside = _INSIDE
    host = "kubernetes"

    def __init__(self, image: str) -> None:
        if not image or image.startswith("-") or not image.isprintable() or " " in image:
            raise UsageError(f"{image!r} is no image. Write kubernetes:NAME.")
        self._image, self.name = image, f"{_SCHEME}{image}"

    def start(self, spec: RunSpec) -> Started:
        """Start a job where kubectl leads to by itself, in its namespace."""
        if shutil.which("kubectl") is None:
            raise UsageError("There is no kubectl on this machine. Install it.")
        if spec.roots:
            raise UsageError("A job has no folders of a machine. Leave roots out.")
        line = pack_run(spec)
        if len(line) > _MOST_BYTES:
            raise UsageError(f"What the agent is given has {len(line)} bytes, a job takes fewer.")
        return start_line(spec, [sys.executable, "-m", __name__, self._image], line)

    def stop(self, started: Started, grace_s: float) -> None:
        """End a job, by ending what speaks with Kubernetes."""
        stop_process(started, max(grace_s, 5.0))  # It has the job removed first.

    def alive(self, started: Started) -> bool:
        """Whether it runs."""
        return started.poll() is None


def describe_job(image: str, run: Mapping[str, Any]) -> dict[str, Any]:
    """Return the job of a run, which waits for its secret to be there.

    Args:
        image: its programs.
        run: as `pack_run` writes it.
    """
    name = run["run"]
    items = [{"key": "stdin", "path": "stdin"}]
    items += [{"key": f"file.{one}", "path": f"files/{one}"} for one in sorted(run["files"])]
    pod = {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "securityContext": {
            "runAsNonRoot": True, "runAsUser": NOBODY, "runAsGroup": NOBODY, "fsGroup": NOBODY,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [_describe_container(image, run)],
        "volumes": [
            {"name": "given", "secret": {"secretName": name, "items": items}},
            {"name": "box", "emptyDir": {"sizeLimit": _PASSING}},
            {"name": "passing", "emptyDir": {"sizeLimit": _PASSING}},
        ],
    }  # fmt: skip
    spec: dict[str, Any] = {
        "backoffLimit": 0,  # Whether a task is repeated is for the next run.
        "ttlSecondsAfterFinished": _KEPT_SECONDS,
        "template": {"metadata": {"labels": {_LABEL: name}}, "spec": pod},
    }
    if wall := run["limits"]["wall_s"]:
        spec["activeDeadlineSeconds"] = int(wall) + _START_SECONDS
    about = {"name": name, "labels": {_LABEL: name}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": about, "spec": spec}


def _describe_container(image: str, run: Mapping[str, Any]) -> dict[str, Any]:
    limits, bounds = run["limits"], {"ephemeral-storage": _PASSING}
    if limits["memory_mb"]:
        bounds["memory"] = f"{limits['memory_mb']}Mi"
    return {
        "name": "agent",
        "image": image,
        "command": ["sh", "-c", _BEGIN, "sh", *run["argv"]],
        "workingDir": _INSIDE,
        "env": [*_list_variables(run)],
        "resources": {"limits": bounds},
        "securityContext": {
            "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [
            {"name": "given", "mountPath": _GIVEN, "readOnly": True},
            {"name": "box", "mountPath": _INSIDE},
            {"name": "passing", "mountPath": "/tmp"},  # noqa: S108  inside of the container
        ],
    }  # fmt: skip


def describe_rest(run: Mapping[str, Any], job: str) -> list[dict[str, Any]]:
    """Return what else a run needs, removed with its job: no network, then what it is given.

    Args:
        run: as `pack_run` writes it.
        job: the unique id of its job.
    """
    name = run["run"]
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": job}
    about = {"name": name, "labels": {_LABEL: name}, "ownerReferences": [owner]}
    values = {"stdin": run["stdin"]}
    values |= {f"env.{one}": value for one, value in run["env"].items()}
    values |= {f"file.{one}": value for one, value in run["files"].items()}
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": about, "stringData": values}
    if run["network"]:
        return [secret]
    closed = {
        "apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": about,
        "spec": {
            "podSelector": {"matchLabels": {_LABEL: name}}, "policyTypes": ["Ingress", "Egress"],
        },
    }  # fmt: skip
    return [closed, secret]


def _list_variables(run: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for name in sorted(run["env"]):
        if name != "PATH":  # That of the image.
            source = {"secretKeyRef": {"name": run["run"], "key": f"env.{name}"}}
            yield {"name": name, "valueFrom": source}


def carry_over(image: str) -> int:
    """Have Kubernetes carry out the run that comes on standard input; return its exit code."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(_CANNOT))  # The job is removed then, too.
    given = sys.stdin.buffer
    run = json.loads(given.readline())
    try:
        job = json.loads(_create(describe_job(image, run)))
        for one in describe_rest(run, job["metadata"]["uid"]):
            _create(one)
        return _follow(run["run"], given.fileno())
    except subprocess.CalledProcessError as error:
        sys.stderr.write(error.stderr)
        return _CANNOT
    finally:
        with suppress(subprocess.CalledProcessError):
            _ask("delete", "job", run["run"], "--wait=false", "--ignore-not-found")


def _follow(name: str, given: int) -> int:
    """Pass on what a job writes until it ends; return its exit code."""
    wait = f"--pod-running-timeout={_START_SECONDS}s"
    words = ["kubectl", "logs", "--follow", wait, f"job/{name}"]
    with subprocess.Popen(words, stdin=subprocess.DEVNULL) as logs:
        while logs.poll() is None:
            if select.select([given], [], [], _LOOK_SECONDS)[0]:
                logs.kill()  # Who asked for the run is gone.
                return _CANNOT
    _ask("wait", "--for=jsonpath={.status.conditions[*].status}=True", f"job/{name}",
         "--timeout=60s")  # fmt: skip
    path = "{.items[0].status.containerStatuses[0].state.terminated.exitCode}"
    said = _ask("get", "pods", f"--selector={_LABEL}={name}", f"--output=jsonpath={path}")
    return int(said) if said.strip().isdigit() else _CANNOT


def _create(what: Mapping[str, Any]) -> str:
    # The server looks at it; here, the whole schema would have to be fetched for that.
    return _ask("create", "--filename=-", "--validate=false", "--output=json", given=what)


def _ask(*words: str, given: Mapping[str, Any] | None = None) -> str:
    text = "" if given is None else json.dumps(given)
    argv = ["kubectl", *words]
    return subprocess.run(argv, input=text, capture_output=True, text=True, check=True).stdout


@hookimpl(trylast=True)
def open_runtime(name: str) -> Runtime | None:
    """Start programs as jobs of Kubernetes."""
    return KubernetesRuntime(name.removeprefix(_SCHEME)) if name.startswith(_SCHEME) else None


if __name__ == "__main__":
    sys.exit(carry_over(sys.argv[1]))
