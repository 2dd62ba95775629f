"""Jobs of Kubernetes: what is asked for, by a validator and by the real kubectl.

No cluster was there to try it on: the server that kubectl asks here is ours, and runs the command.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kimi_memory.plugins.runtime_kubernetes import describe_job, describe_rest

from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.domain.agent_run import Limits, Program, Task
from kimi_memory.errors import UsageError
from kimi_memory.hooks.host import Host
from kimi_memory.runs import Runs
from tests.plugins.kubernetes_server import Cluster

RUN: dict[str, Any] = {
    "run": "run-01m8abcd", "argv": ["python3", "-c", "print('你好')"],
    "env": {"KIMI_RUN": "run-01m8abcd", "TOKEN": "INNERMOST", "PATH": "/usr/bin", "HOME": "/box"},
    "limits": {"cpu_s": 0.0, "wall_s": 120.0, "memory_mb": 512, "output_bytes": 0, "calls": 0},
    "network": False, "roots": [], "stdin": "Which port?\n",
    "files": {"context.md": "The port is 8080.", "task.json": "{}"},
}  # fmt: skip


def test_a_job_has_no_secret_no_rights_and_an_end() -> None:
    job = describe_job("python:3.13", RUN)
    assert "INNERMOST" not in json.dumps(job)
    pod = job["spec"]["template"]["spec"]
    [container] = pod["containers"]
    assert (job["spec"]["activeDeadlineSeconds"], job["spec"]["backoffLimit"]) == (420, 0)
    assert pod["automountServiceAccountToken"] is False and pod["restartPolicy"] == "Never"
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert container["resources"]["limits"]["memory"] == "512Mi"
    assert container["command"][-3:] == RUN["argv"]
    assert "PATH" not in [one["name"] for one in container["env"]]
    closed, secret = describe_rest(RUN, "uid-1")
    assert closed["spec"]["policyTypes"] == ["Ingress", "Egress"] and "egress" not in closed["spec"]
    # All of it goes with the job, also where nobody lives who could remove it.
    assert all(one["metadata"]["ownerReferences"][0]["uid"] == "uid-1" for one in (closed, secret))
    assert [one["kind"] for one in describe_rest(RUN | {"network": True}, "u")] == ["Secret"]


@pytest.mark.sandbox
def test_a_validator_accepts_all_of_it(tmp_path: Path) -> None:
    check = shutil.which("kubernetes-validate")
    if check is None:
        pytest.skip("needs kubernetes-validate; 'make test-sandbox' installs it")
    for n, one in enumerate([describe_job("python:3.13", RUN), *describe_rest(RUN, "uid-1")]):
        (tmp_path / f"{n}.json").write_text(json.dumps(one))
    files = sorted(tmp_path.glob("*.json"))
    subprocess.run([check, "--strict", *files], check=True)
    broken = json.loads(files[0].read_text())
    broken["spec"]["backoffLimits"] = 0
    files[0].write_text(json.dumps(broken))
    assert subprocess.run([check, "--strict", files[0]], check=False).returncode != 0


@pytest.mark.parametrize("name", ["", "-x", "a b"])
def test_what_is_no_image_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="is no image"):
        Host(entry_points=False).answer("open_runtime", name=f"kubernetes:{name}")


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    if not (shutil.which("kubectl") and shutil.which("bwrap")):
        pytest.skip("needs kubectl and bubblewrap; 'make test-sandbox' installs them")
    with Cluster() as made:
        server = {"name": "c", "cluster": {"server": made.url}}
        context = {"name": "x", "context": {"cluster": "c", "user": ""}}
        config = {"apiVersion": "v1", "kind": "Config", "clusters": [server],
                  "contexts": [context], "current-context": "x"}  # fmt: skip
        (tmp_path / "kube").write_text(json.dumps(config))
        monkeypatch.setenv("KUBECONFIG", str(tmp_path / "kube"))
        monkeypatch.setenv("HOME", str(tmp_path))
        yield made


@pytest.mark.sandbox
def test_kubectl_makes_the_job_and_its_words_and_exit_code_come_back(
    cluster: Cluster, home: Home, tmp_path: Path
) -> None:
    with Memory.create(tmp_path / "m", opening=Opening(home=home, background=False)) as memory:
        memory.remember("The port is 8080.", key="port")
        code = (
            "import os, sys; print(os.environ['TOKEN'], '8080' in sys.stdin.read(),"
            " *sorted(os.listdir('.')), flush=True); sys.exit(7)"
        )
        image = "kubernetes:python:3.13"
        program = Program("worker", ("/usr/bin/python3", "-c", code), image, env=("TOKEN",))
        runs = Runs(memory, {**os.environ, "TOKEN": "sesame"})
        found = runs.run(Task("t", prompt="Which port?"), program)
        errors = runs.read_log(found.id, errors=True)
        assert (found.outcome, found.why) == ("failed", "exit code 7"), errors
        assert runs.read_log(found.id).split() == ["sesame", "True", "context.md", "task.json"]
        assert [one["kind"] for one in cluster.made] == ["Job", "NetworkPolicy", "Secret"]
        assert cluster.deleted == [found.id] and found.execution_node == "kubernetes"


@pytest.mark.sandbox
def test_a_job_ends_with_its_run(cluster: Cluster, home: Home, tmp_path: Path) -> None:
    with Memory.create(tmp_path / "m", opening=Opening(home=home, background=False)) as memory:
        words = ("/usr/bin/python3", "-c", "import time; time.sleep(60)")
        slow = Program("worker", words, "kubernetes:python:3.13", limits=Limits(wall_s=5))
        runs = Runs(memory, os.environ)
        found = runs.run(Task("t", prompt="Wait."), slow)
        assert not runs.read_log(found.id, errors=True)
        assert found.why == "time limit of 5 s" and cluster.deleted == [found.id]
        end = time.monotonic() + 10
        while cluster.pod is None or cluster.pod.poll() is None:
            assert time.monotonic() < end
            time.sleep(0.05)
