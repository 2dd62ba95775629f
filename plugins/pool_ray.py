"""The pool ``ray``: workers of a Ray cluster, on one machine or many.

Why it exists: where a job has more memories than one machine has hours, Ray places its parts.
Which node leads a memory is not its to say: the change log of the memory decides that.
"""

from __future__ import annotations

import importlib
import os
import time
from typing import Any

from kimi_memory import hookimpl
from kimi_memory.domain.fleet import Pool, PoolWish, Unit, UnitResult
from kimi_memory.errors import UsageError

RESOURCE = "kimi-node:"
"""Before the name of a node: what Ray has to offer on the machine that leads a memory."""
# A worker that leaks is replaced before it matters.
_USES = 200
# The resource says where, and not how much: a thousand units may be there at once.
_SHARE = 0.001


class RayPool:
    """Workers that Ray starts."""

    def __init__(self, wish: PoolWish) -> None:
        self._ray = _load_library()
        self._own = not self._ray.is_initialized()
        if self._own:
            self._connect(wish)
        # A worker that died did something already: whether to repeat it is for the next run.
        remote = self._ray.remote(max_retries=0, max_calls=_USES)
        self._task = remote(wish.work)
        self._running: dict[Any, tuple[Unit, float]] = {}
        self._refused: list[UnitResult] = []
        self.workers = wish.workers

    def _connect(self, wish: PoolWish) -> None:
        # Ray says at its start who uses it, unless this stands in the environment.
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        # By default its workers yield to every other program, and get nothing done beside one.
        os.environ.setdefault("RAY_worker_niceness", "0")
        here: dict[str, Any] = {"num_cpus": wish.workers, "include_dashboard": False}
        try:
            self._ray.init(
                address=wish.address or "local",
                log_to_driver=False,
                logging_level="ERROR",
                **({} if wish.address else here),
            )
        except (OSError, ValueError, RuntimeError) as error:
            where = wish.address or "this machine"
            raise UsageError(f"Ray on {where} cannot be used: {error}. Look at it.") from error

    def submit(self, unit: Unit) -> None:
        """Have a unit carried out by Ray, on the machine that leads it where one was named."""
        options: dict[str, Any] = {}
        if unit.node:
            wanted = RESOURCE + unit.node
            if wanted not in self._ray.cluster_resources():
                why = f"no machine of the Ray cluster offers {wanted}"
                self._refused.append(UnitResult(unit, "failed", why))
                return
            options["resources"] = {wanted: _SHARE}
        started = self._task.options(**options).remote(unit)
        self._running[started] = unit, time.monotonic()

    def wait(self) -> UnitResult:
        """Return the next result; one whose worker died, or took too long, has failed."""
        while not self._refused:
            ready, _ = self._ray.wait(list(self._running), num_returns=1, timeout=1.0)
            if ready:
                return self._collect(ready[0])
            for started, (unit, began) in list(self._running.items()):
                if unit.longest_s and time.monotonic() - began >= unit.longest_s:
                    self._ray.cancel(started, force=True)
                    del self._running[started]
                    why = f"it took more than {unit.longest_s:g} s"
                    return UnitResult(unit, "failed", why)
        return self._refused.pop()

    def _collect(self, started: Any) -> UnitResult:
        unit, _ = self._running.pop(started)
        try:
            result: UnitResult = self._ray.get(started)
        except self._ray.exceptions.RayError as error:
            said = str(error).strip().splitlines() or [type(error).__name__]
            return UnitResult(unit, "failed", f"its worker ended: {said[0]}")
        return result

    def close(self) -> None:
        """End the workers, and Ray where it was started for them."""
        for started in self._running:
            self._ray.cancel(started, force=True)
        self._running.clear()
        if self._own:
            self._ray.shutdown()


def _load_library() -> Any:
    try:
        return importlib.import_module("ray")
    except ImportError as error:
        raise UsageError(
            "The pool needs Ray. Install it with 'pip install kimi-memory[ray]'."
        ) from error


@hookimpl(trylast=True)
def open_pool(name: str, wish: PoolWish) -> Pool | None:
    """Have Ray start workers."""
    return RayPool(wish) if name == "ray" else None
