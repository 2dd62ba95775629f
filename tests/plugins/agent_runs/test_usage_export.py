"""Usage for a collector of OpenTelemetry: real bytes over real HTTP, and nothing without it."""

from __future__ import annotations

import gzip
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.cli import run
from kimi_memory.domain.agent_run import Usage
from kimi_memory.errors import ServerError, UsageError

pytest.importorskip("opentelemetry.exporter.otlp.proto.http", reason="needs kimi-memory[otel]")

from kimi_memory.plugins.agent_runs.usage_export import export_usage
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)

ROWS = [
    Usage(memory="茶铺", job="distil", model="qwen3", calls=2, tokens_in=800, tokens_out=60),
    Usage(memory="茶铺", user="lin", agent="scout", reads=3, stored_bytes=4096),
]


class Collector(HTTPServer):
    """Takes metrics as a collector does; ``found`` are the requests."""

    status = 200

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Taker)
        self.found: list[tuple[str, Any]] = []
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.thread = threading.Thread(target=self.serve_forever, daemon=True)
        self.thread.start()


class _Taker(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        assert isinstance(self.server, Collector)
        self.server.found.append((self.path, ExportMetricsServiceRequest.FromString(body)))
        self.send_response(self.server.status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def collector() -> Iterator[Collector]:
    found = Collector()
    yield found
    found.shutdown()
    found.server_close()


def points_of(request: Any) -> dict[tuple[str, ...], float]:
    """Figures by the name of the metric and its labels."""
    found: dict[tuple[str, ...], float] = {}
    for metric in request.resource_metrics[0].scope_metrics[0].metrics:
        assert not metric.sum.is_monotonic
        for point in metric.sum.data_points:
            labels = sorted(f"{one.key}={one.value.string_value}" for one in point.attributes)
            found[metric.name, *labels] = point.as_int or point.as_double
    return found


def test_a_collector_gets_the_sums_and_nobodys_name(collector: Collector) -> None:
    export_usage(ROWS, collector.url)
    ((path, request),) = collector.found
    shop, model, job = (
        "kimi_memory.memory=茶铺",
        "gen_ai.request.model=qwen3",
        "kimi_memory.job=distil",
    )
    assert path == "/v1/metrics"
    assert points_of(request) == {
        ("kimi_memory.model.calls", model, job, shop): 2,
        ("kimi_memory.model.tokens", model, "gen_ai.token.type=input", job, shop): 800,
        ("kimi_memory.model.tokens", model, "gen_ai.token.type=output", job, shop): 60,
        ("kimi_memory.reads", shop): 3,
        ("kimi_memory.storage.bytes", shop): 4096,
    }
    assert b"lin" not in (sent := request.SerializeToString()) and b"scout" not in sent


def test_the_command_sends_what_it_sums_up(
    collector: Collector, tmp_path: Path, home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    with Memory.create(tmp_path / "shop", opening=Opening(home=home, background=False)) as memory:
        memory.remember("The shop opens at nine. 九点开门。")
        memory.recall("When does the shop open?")
    called = ["usage", str(tmp_path / "shop"), "--by", "agent", "--otlp"]
    assert run([*called, collector.url]) == 0
    assert "AGENT" in capsys.readouterr().out
    ((_, request),) = collector.found
    sent = points_of(request)
    assert sent["kimi_memory.reads", "kimi_memory.memory=shop"] == 1
    assert sent["kimi_memory.storage.bytes", "kimi_memory.memory=shop"] > 100
    assert run([*called, "collector"]) == 2


def test_sent_again_it_is_the_same_total(collector: Collector) -> None:
    export_usage(ROWS, f"{collector.url}/v1/metrics")
    export_usage(ROWS, f"{collector.url}/")
    first, second = (points_of(request) for _, request in collector.found)
    assert first == second
    assert [path for path, _ in collector.found] == ["/v1/metrics"] * 2


def test_what_no_collector_takes_is_said(collector: Collector) -> None:
    collector.status = 400
    with pytest.raises(ServerError, match="did not take the figures"):
        export_usage(ROWS, collector.url)
    with pytest.raises(UsageError, match="no address"):
        export_usage(ROWS, "collector:4318")


def test_nothing_of_it_is_loaded_unless_it_is_asked_for() -> None:
    code = (
        "import sys, kimi_memory.plugins.agent_runs.usage_command; "
        "print([one for one in sys.modules if 'opentelemetry' in one or one == 'usage_export'])"
    )
    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert said.stdout.strip() == "[]"
