"""Usage: what recall showed, folded from receipts into counts per day."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import date

from kimi_memory.model.change import Append, Change, Delete, Update, digest
from kimi_memory.model.record import seal, unseal
from kimi_memory.model.session import Json
from kimi_memory.store.store import Store

RECALLS = "short-term/recalls.jsonl"
USAGE = "mid-term/usage.jsonl"


class Usage:
    """Counts receipts; folding moves a day's receipts into one line."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def of(self, day: date) -> Mapping[str, int]:
        """Return how often each unit was shown on a day, by id."""
        return Counter(id for at, ids, _ in self._receipts() if at == day for id in ids)

    def fold(self, day: date) -> list[Change]:
        """Return the changes that move a day's receipts into the usage file."""
        shown = self.of(day)
        if not shown:
            return []
        content = self._store.read(RECALLS)
        kept = b"".join(line for at, _, line in self._receipts() if at != day)
        counts: dict[str, Json] = {id: shown[id] for id in sorted(shown)}
        line = seal({"day": day.isoformat(), "shown": counts})
        base = digest(content)
        rest: Change = Update(RECALLS, base, kept) if kept else Delete(RECALLS, base)
        return [Append(USAGE, (line,)), rest]

    def _receipts(self) -> list[tuple[date, list[str], bytes]]:
        if not self._store.exists(RECALLS):
            return []
        found = []
        for line in self._store.read(RECALLS).splitlines(keepends=True):
            try:
                record = unseal(line)
                ids = record.get("hits")
                day = date.fromisoformat(str(record.get("at"))[:10])
            except ValueError:
                continue
            found.append((day, [str(id) for id in ids] if isinstance(ids, list) else [], line))
        return found
