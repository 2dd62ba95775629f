"""Figures for Prometheus."""

from __future__ import annotations

import json
import re
from pathlib import Path

from fakes.served import Served

from kimi_memory.server.metrics import Metrics

DASHBOARD = Path(__file__).parents[2] / "integrations/grafana/kimi-memory.json"


def test_metrics_count_requests(served: Served) -> None:
    with served.client() as client:
        client.post("/search", json={"query": "mast"})
        text = client.get("/v1/metrics").text
    assert 'kimi_memory_http_requests_total{route="search",status="200"}' in text
    assert 'kimi_memory_http_request_seconds_bucket{route="search",le="+Inf"}' in text
    assert "kimi_memory_journal_records" in text


def test_the_dashboard_asks_for_figures_that_are_served(served: Served) -> None:
    panels = json.loads(DASHBOARD.read_text("utf-8"))["panels"]
    asked = "\n".join(target["expr"] for panel in panels for target in panel["targets"])
    with served.client() as client:
        client.post("/search", json={"query": "mast"})
        text = client.get("/v1/metrics").text
    there = set(re.findall(r"^(kimi_memory_\w+)", text, re.MULTILINE))
    named = set(re.findall(r"kimi_memory_\w+", asked))
    assert named <= there
    # Each figure is shown; of a histogram its classes are enough.
    assert {re.sub("_(sum|count|bucket)$", "", name) for name in there} == {
        re.sub("_bucket$", "", name) for name in named
    }
    labels = set(re.findall(r"by \(([\w, ]+)\)", asked))
    assert all(f'{label}="' in text for found in labels for label in found.split(", "))


def test_a_large_figure_keeps_all_its_digits() -> None:
    assert "kimi_memory_log_record 12345678\n" in Metrics().text({"log_record": 12345678})
