"""An actor: on whose behalf something is written."""

from __future__ import annotations

from dataclasses import dataclass

from kimi_memory.model.turn import Origin


@dataclass(frozen=True, slots=True)
class Actor:
    """Who writes, with what trust, in which session or job."""

    name: str
    """``cli``, ``library``, ``job:daily``, ``claude`` …"""
    origin: Origin = Origin.AGENT
    session: str = ""
    job: str = ""
