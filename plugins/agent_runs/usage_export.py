"""Sending sums of usage to a collector of OpenTelemetry; the one module that knows its libraries.

What is sent is the total so far, as a sum that may also fall: sent again, or from another copy of
the memory, it replaces what was sent before, and nothing counts twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from importlib import import_module
from importlib.metadata import version
from typing import Any
from urllib.parse import urlsplit

from kimi_memory.domain.agent_run import Usage
from kimi_memory.errors import ServerError, UsageError

BY = ("memory", "job", "model")
"""What figures are told apart by: who asked, and for what, is nobody else's business."""
_LABELS = {
    "memory": "kimi_memory.memory",
    "job": "kimi_memory.job",
    "model": "gen_ai.request.model",
}
_METRICS = {
    "calls": ("kimi_memory.model.calls", "{call}", ""),
    "tokens_in": ("kimi_memory.model.tokens", "{token}", "input"),
    "tokens_out": ("kimi_memory.model.tokens", "{token}", "output"),
    "tokens_cached": ("kimi_memory.model.tokens", "{token}", "cached"),
    "model_s": ("kimi_memory.model.seconds", "s", ""),
    "cpu_s": ("kimi_memory.agent.cpu", "s", ""),
    "wall_s": ("kimi_memory.agent.seconds", "s", ""),
    "reads": ("kimi_memory.reads", "{read}", ""),
    "writes": ("kimi_memory.writes", "{write}", ""),
    "stored_bytes": ("kimi_memory.storage.bytes", "By", ""),
    "log_bytes": ("kimi_memory.log.bytes", "By", ""),
}
"""Name and unit of each figure, and of which kind its tokens are."""
# Figures are sent again at the next time; a collector that is down must not hold us up.
_SECONDS = 10.0


def export_usage(rows: Sequence[Usage], url: str) -> None:
    """Send sums to a collector, by OTLP over HTTP.

    Args:
        rows: sums by `BY`.
        url: of the collector, such as ``http://127.0.0.1:4318``.

    Raises:
        UsageError: a library is missing, or that is no address.
        ServerError: the collector did not take it.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise UsageError(f"{url!r} is no address. Write http://HOST:4318.")
    target = url if parts.path.strip("/") else f"{url.rstrip('/')}/v1/metrics"
    try:
        metrics = import_module("opentelemetry.sdk.metrics")
        outlets = import_module("opentelemetry.sdk.metrics.export")
        wire = import_module("opentelemetry.exporter.otlp.proto.http.metric_exporter")
        resources = import_module("opentelemetry.sdk.resources")
    except ImportError as error:
        raise UsageError(
            "That needs OpenTelemetry. Install it with 'pip install kimi-memory[otel]'."
        ) from error
    reader = outlets.InMemoryMetricReader()
    resource = resources.Resource.create({"service.name": "kimi-memory"})
    provider = metrics.MeterProvider([reader], resource=resource, shutdown_on_exit=False)
    meter = provider.get_meter("kimi_memory", version("kimi-memory"))
    observed = import_module("opentelemetry.metrics").Observation
    for name, unit in dict.fromkeys((name, unit) for name, unit, _ in _METRICS.values()):
        look = partial(_observe, rows, name, observed)
        meter.create_observable_up_down_counter(name, [look], unit=unit)
    exporter = wire.OTLPMetricExporter(endpoint=target, timeout=_SECONDS)
    taken = exporter.export(reader.get_metrics_data(), timeout_millis=_SECONDS * 1000)
    exporter.shutdown()
    provider.shutdown()
    if taken is not outlets.MetricExportResult.SUCCESS:
        raise ServerError(
            f"{target} did not take the figures. See that a collector answers there.",
            status=502,
            code="not_taken",
        )


def _observe(rows: Iterable[Usage], name: str, observed: Any, _: object) -> Iterable[Any]:
    for one in rows:
        labels = {label: value for key, label in _LABELS.items() if (value := getattr(one, key))}
        for figure, (metric, _unit, kind) in _METRICS.items():
            if metric == name and (value := getattr(one, figure)):
                yield observed(value, labels | ({"gen_ai.token.type": kind} if kind else {}))
