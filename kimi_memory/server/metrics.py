"""Figures of a running server, in the text form of Prometheus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kimi_memory.store.relay import Relay

BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds of the classes of durations, in seconds."""


class Metrics:
    """Counts requests by route and status, and how long they took."""

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, int]] = Counter()
        self._classes: Counter[tuple[str, float]] = Counter()
        self._seconds: Counter[str] = Counter()

    def add(self, route: str, status: int, seconds: float) -> None:
        """Count one request."""
        self._requests[route, status] += 1
        self._seconds[route] += seconds  # type: ignore[assignment]  # a counter adds floats too
        for bound in BOUNDS:
            # Prometheus wants each class to hold all shorter durations, too.
            if seconds <= bound:
                self._classes[route, bound] += 1

    def text(self, gauges: Mapping[str, float]) -> str:
        """Return everything, with figures of the memory."""
        return "\n".join([*self._yield_lines(), *_yield_gauges(gauges), ""])

    def _yield_lines(self) -> Iterator[str]:
        yield "# HELP kimi_memory_http_requests_total Requests by route and status."
        yield "# TYPE kimi_memory_http_requests_total counter"
        for (route, status), count in sorted(self._requests.items()):
            labels = f'route="{route}",status="{status}"'
            yield f"kimi_memory_http_requests_total{{{labels}}} {count}"
        yield "# HELP kimi_memory_http_request_seconds Duration of requests."
        yield "# TYPE kimi_memory_http_request_seconds histogram"
        for route in sorted(self._seconds):
            yield from self._yield_durations(route)

    def _yield_durations(self, route: str) -> Iterator[str]:
        name = "kimi_memory_http_request_seconds"
        whole = sum(count for (known, _), count in self._requests.items() if known == route)
        for bound in BOUNDS:
            labels = f'route="{route}",le="{bound:g}"'
            yield f"{name}_bucket{{{labels}}} {self._classes[route, bound]}"
        yield f'{name}_bucket{{route="{route}",le="+Inf"}} {whole}'
        yield f'{name}_sum{{route="{route}"}} {self._seconds[route]:.6f}'
        yield f'{name}_count{{route="{route}"}} {whole}'


def measure_log(relay: Relay) -> dict[str, float]:
    """Return how far a memory on several machines got here, without asking its log.

    Each change of who leads begins an epoch, so that changes of it count failovers.
    """
    position = relay.position
    found: dict[str, float] = {
        "log_record": position.place.seq,
        "log_epoch": relay.epoch or position.known_epoch,
    }
    if relay.epoch or position.lag_ms >= 0:  # Else its end was not seen yet.
        found["log_lag_seconds"] = 0 if relay.epoch else position.lag_ms / 1000
    return found


def _yield_gauges(gauges: Mapping[str, float]) -> Iterator[str]:
    for name, value in gauges.items():
        yield f"# TYPE kimi_memory_{name} gauge"
        yield f"kimi_memory_{name} {value:.15g}"
