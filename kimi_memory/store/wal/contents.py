"""What the journal says of the content of every path, learned record by record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kimi_memory.domain.json_value import Json

EXTERNAL = "external"
"""Actor and origin of a change to a file that the store did not write."""


@dataclass(slots=True)
class Contents:
    """The content of each path after the records that were learned."""

    marks: dict[str, str] = field(default_factory=dict)
    """The content mark, empty for what is gone."""
    origins: dict[str, str] = field(default_factory=dict)
    """Where it comes from."""
    _edits: dict[str, dict[str, str]] = field(default_factory=dict)

    def edited(self) -> Mapping[str, str]:
        """Return the paths whose content is an edit from outside, with the mark before."""
        here = ((path, made.get(self.marks[path])) for path, made in self._edits.items())
        return {path: before for path, before in here if before}

    def learn(self, record: Mapping[str, Json]) -> None:
        """Learn what one record says."""
        path, was = str(record.get("path", "")), str(record.get("was", ""))
        if was:
            self.marks[was] = ""
            self.origins.pop(was, None)
        if path:
            before, after = str(record.get("before", "")), str(record.get("after", ""))
            known = self.origins.get(path, "") if record.get("op") == "append" else ""
            # What grew waits if what it grew from did.
            grown = known if known.startswith(f"{EXTERNAL}:") else ""
            self.origins[path] = grown or str(record.get("origin", ""))
            self.marks[path] = after
            if record.get("op") == "edited":
                made = self._edits.setdefault(path, {})
                # Of edits upon edits the first says what was there before.
                made[after] = made.get(before, before)
