"""Figures for Prometheus."""

from __future__ import annotations

from fakes.served import Served


def test_metrics_count_requests(served: Served) -> None:
    with served.client() as client:
        client.post("/search", json={"query": "mast"})
        text = client.get("/v1/metrics").text
    assert 'kimi_memory_http_requests_total{route="search",status="200"}' in text
    assert 'kimi_memory_http_request_seconds_bucket{route="search",le="+Inf"}' in text
    assert "kimi_memory_journal_records" in text
