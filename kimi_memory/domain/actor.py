"""An actor: on whose behalf something is written."""

from __future__ import annotations

from typing import NamedTuple

from kimi_memory.domain.origin import Origin


class Actor(NamedTuple):
    """Who writes, with what trust, in which session or job."""

    name: str
    """``cli``, ``library``, ``job:daily``, ``claude`` …"""
    origin: Origin = Origin.AGENT
    session: str = ""
    job: str = ""
