"""JSON values: what a session, a record or a tool call may hold."""

from __future__ import annotations

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
