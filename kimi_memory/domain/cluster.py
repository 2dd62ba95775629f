"""Words of a cluster: what a machine is for, and what a folder of a memory is there."""

from __future__ import annotations

from typing import Literal

NodeKind = Literal["reasoning", "execution", "hybrid"]
Role = Literal["primary", "replica", "cache"]
