"""What kubectl asks of a cluster, for one job at a time; its command runs in bubblewrap."""

from __future__ import annotations

import json
import subprocess
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

RESOURCES = {
    "/api/v1": ("v1", {"secrets": "Secret", "pods": "Pod"}),
    "/apis/batch/v1": ("batch/v1", {"jobs": "Job"}),
    "/apis/networking.k8s.io/v1": ("networking.k8s.io/v1", {"networkpolicies": "NetworkPolicy"}),
}


class Cluster:
    """A server of the interface; use it in a ``with`` block."""

    def __init__(self) -> None:
        self.made: list[dict[str, Any]] = []
        self.deleted: list[str] = []
        self.pod: subprocess.Popen[bytes] | None = None
        self.folder = Path(tempfile.mkdtemp(prefix="kimi-kubernetes-"))
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._make_handler())
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Cluster:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
        self._server.shutdown()
        self._server.server_close()

    def find(self, kind: str) -> dict[str, Any]:
        return next(one for one in self.made if one["kind"] == kind)

    def end(self) -> None:
        if self.pod is not None and self.pod.poll() is None:
            self.pod.kill()
            self.pod.wait()

    def take(self, what: dict[str, Any]) -> dict[str, Any]:
        what["metadata"] |= {"uid": f"uid-{len(self.made)}", "namespace": "default"}
        if what["kind"] == "Job":
            labels = what["spec"]["template"]["metadata"]["labels"]
            what["spec"]["selector"] = {"matchLabels": labels}
        self.made.append(what)
        if what["kind"] == "Secret":
            self._start(self.find("Job"), what)
        return what

    def _start(self, job: dict[str, Any], secret: dict[str, Any]) -> None:
        """Do what a kubelet does with a pod: lay its volumes, and start its command."""
        spec, values = job["spec"]["template"]["spec"], secret["stringData"]
        container = spec["containers"][0]
        for item in spec["volumes"][0]["secret"]["items"]:
            path = self.folder / "given" / item["path"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(values[item["key"]])
        (self.folder / "box").mkdir(exist_ok=True)
        argv = ["bwrap", "--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin"]
        argv += ["--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64"]
        argv += ["--dev", "/dev", "--ro-bind", f"{self.folder}/given", "/given"]
        argv += ["--bind", f"{self.folder}/box", "/box", "--chdir", container["workingDir"]]
        env = {one["name"]: values[one["valueFrom"]["secretKeyRef"]["key"]]
               for one in container["env"]}  # fmt: skip
        with (self.folder / "log").open("wb") as log:
            self.pod = subprocess.Popen(
                [*argv, "--unshare-pid", "--proc", "/proc", "--", *container["command"]],
                stdout=log, stderr=log, env={"PATH": "/usr/bin:/bin", **env},
            )  # fmt: skip

    def describe_pod(self) -> dict[str, Any]:
        job, code = self.find("Job"), self.pod.poll() if self.pod else None
        over = {"terminated": {"exitCode": code}} if code is not None else {"running": {}}
        phase = "Running" if code is None else "Failed" if code else "Succeeded"
        about = job["spec"]["template"]["metadata"] | {"name": "pod-1", "namespace": "default"}
        status = {"phase": phase, "containerStatuses": [{"name": "agent", "state": over}]}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": about, "status": status,
                "spec": {"containers": [{"name": "agent"}]}}  # fmt: skip

    def describe_job(self) -> dict[str, Any]:
        job, code = self.find("Job"), self.pod.poll() if self.pod else None
        kind = "Failed" if code else "Complete"
        found = [] if code is None else [{"type": kind, "status": "True"}]
        return {**job, "status": {"conditions": found}}

    def answer(self, path: str) -> dict[str, Any] | None:
        if path == "/api":
            return {"kind": "APIVersions", "versions": ["v1"]}
        if path == "/apis":
            names = [about[0].split("/") for about in RESOURCES.values() if "/" in about[0]]
            versions = [{"groupVersion": f"{g}/{v}", "version": v} for g, v in names]
            groups = [{"name": one[0], "versions": [its], "preferredVersion": its}
                      for one, its in zip(names, versions, strict=True)]  # fmt: skip
            return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}
        if path in RESOURCES:
            version, kinds = RESOURCES[path]
            verbs = ["create", "get", "list", "watch", "delete"]
            found = [{"name": name, "singularName": kind.lower(), "namespaced": True,
                      "kind": kind, "verbs": verbs} for name, kind in kinds.items()]  # fmt: skip
            return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": version,
                    "resources": found}  # fmt: skip
        inside = path.partition("/namespaces/default/")[2]
        if inside == "pods":
            return {"kind": "PodList", "apiVersion": "v1", "items": [self.describe_pod()]}
        if inside == "jobs":
            return {"kind": "JobList", "apiVersion": "batch/v1", "items": [self.describe_job()]}
        if inside.startswith("jobs/"):
            return self.describe_job()
        return self.describe_pod() if inside.startswith("pods/") else None

    def _make_handler(self) -> type[BaseHTTPRequestHandler]:  # noqa: C901  a method for each verb
        cluster = self

        class Answering(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                path = urlsplit(self.path).path
                if path.endswith("/log"):
                    self._stream()
                else:
                    self._send(cluster.answer(path))

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                self._send(cluster.take(json.loads(body)), 201)

            def do_DELETE(self) -> None:
                cluster.deleted.append(urlsplit(self.path).path.rpartition("/")[2])
                cluster.end()
                self._send({"kind": "Status", "apiVersion": "v1", "status": "Success"})

            def _send(self, body: dict[str, Any] | None, status: int = 200) -> None:
                content = json.dumps(body or {"kind": "Status", "code": 404}).encode()
                self.send_response(status if body else 404)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def _stream(self) -> None:
                self.send_response(200)
                self.send_header("content-type", "text/plain")
                self.end_headers()
                with (cluster.folder / "log").open("rb") as log:
                    over = False
                    while not over:
                        over = cluster.pod is None or cluster.pod.poll() is not None
                        self.wfile.write(log.read())
                        self.wfile.flush()
                        time.sleep(0.05)

            def log_message(self, *_: object) -> None:
                """Be silent."""

        return Answering
