"""CrewAI: a storage for its memory, which keeps records as files and finds them by words."""

from __future__ import annotations

import asyncio
import json
import math
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from threading import RLock
from typing import Any
from zlib import crc32

from crewai.memory.types import MemoryRecord, ScopeInfo

from kimi_memory.api.memory import Memory
from kimi_memory.domain.job import Change
from kimi_memory.domain.search_types import Query
from kimi_memory.errors import FormatError, NotFoundError, UsageError
from kimi_memory.nlp.rules.relations import similarity, words_of
from kimi_memory.operations.agent_files import Folder, Page, clean_json, file_name

_OPEN, _CLOSE = "\n\n```json\n", "\n```\n"
# The framework wants vectors; ours only have to tell texts apart.
_WIDTH = 256
# A crew works for days: the texts of its vectors must not fill the memory.
_REMEMBERED = 4096
# Several lines of one record may be hits of their own.
_SPARE = 3
_SAME, _MOST = 0.85, 0.8
"""From the one on, CrewAI asks a model to merge; what is merely found stays below the other."""


class MemoryStorage:
    """A storage for ``Memory(storage=s, embedder=s.embed)``.

    CrewAI hands a storage no question, only its vector. `embed` makes vectors out of words,
    without a model, and knows which text each was made of; so a search is our recall.

    Args:
        memory: an open memory.
        agent: whose records these are; no other agent's can be reached.
    """

    def __init__(self, memory: Memory, agent: str = "crewai") -> None:
        self._folder = Folder(memory, agent, "records")
        self._texts: OrderedDict[tuple[float, ...], str] = OrderedDict()
        self._lock = RLock()

    def embed(self, texts: list[str]) -> list[list[float]]:
        """Return a vector for each text: alike where the words are."""
        vectors = [_embed_text(text) for text in texts]
        with self._lock:
            for vector, text in zip(vectors, texts, strict=True):
                # CrewAI hands back the vector alone; without this no question could be read.
                self._texts[tuple(vector)] = text
            while len(self._texts) > _REMEMBERED:
                self._texts.popitem(last=False)
        return vectors

    def save(self, records: list[MemoryRecord]) -> None:
        """Keep records; one of a known id is replaced."""
        with self._folder.guard:
            self._folder.apply([self._make_change(one) for one in records])

    def update(self, record: MemoryRecord) -> None:
        """Replace a record."""
        self.save([record])

    def search(
        self,
        query_embedding: list[float],
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        *,
        metadata_filter: dict[str, Any] | None = None,
        limit: int = 10,
        min_score: float = 0.0,
    ) -> list[tuple[MemoryRecord, float]]:
        """Return the records that answer the text of a vector, best first."""
        # CrewAI hands over a vector and no words, so each text is noted as it is embedded.
        text = self._texts.get(tuple(query_embedding))
        if text is None:
            raise UsageError("Only vectors of this storage can be searched: embedder=s.embed.")
        known = self._read_records()
        wanted = _build_filter(scope_prefix, categories, metadata_filter)
        # More than was asked for: filters of CrewAI are applied to what is found.
        query = Query(text=text, path=(self._folder.path,), limit=max(1, _SPARE * len(known)))
        found: dict[str, tuple[MemoryRecord, float]] = {}
        for hit in self._folder.memory.recall(query).hits if known else ():
            record = known.get(hit.unit.path)
            if record is not None and record.id not in found and wanted(record):
                found[record.id] = (record, _score_record(text, record.content, hit.score))
        kept = [one for one in found.values() if one[1] >= min_score]
        return sorted(kept, key=lambda one: -one[1])[:limit]

    def delete(
        self,
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        record_ids: list[str] | None = None,
        older_than: datetime | None = None,
        metadata_filter: dict[str, Any] | None = None,
    ) -> int:
        """Remove records and return how many; history keeps them."""
        wanted = _build_filter(scope_prefix, categories, metadata_filter)
        with self._folder.guard:
            gone = [
                one
                for one in self._read_records().values()
                if wanted(one)
                and (not record_ids or one.id in record_ids)
                and (older_than is None or _assume_utc(one.created_at) < _assume_utc(older_than))
            ]
            self._folder.apply([self._folder.gone(_record_file(one.id)) for one in gone])
        return len(gone)

    def get_record(self, record_id: str) -> MemoryRecord | None:
        """Return a record by its id."""
        try:
            return _parse_record(self._folder.read(_record_file(record_id)))
        except NotFoundError:
            # The framework's own stores answer None, too.
            return None

    def list_records(
        self, scope_prefix: str | None = None, limit: int = 200, offset: int = 0
    ) -> list[MemoryRecord]:
        """Return the records of a scope, newest first."""
        found = self._records_within(scope_prefix)
        found.sort(key=lambda one: (_assume_utc(one.created_at), one.id), reverse=True)
        return found[offset : offset + limit]

    def get_scope_info(self, scope: str) -> ScopeInfo:
        """Say what a scope holds."""
        found = self._records_within(scope)
        moments = sorted((one.created_at for one in found), key=_assume_utc)
        return ScopeInfo(
            path=scope,
            record_count=len(found),
            categories=sorted({name for one in found for name in one.categories}),
            oldest_record=moments[0] if moments else None,
            newest_record=moments[-1] if moments else None,
            child_scopes=self.list_scopes(scope),
        )

    def list_scopes(self, parent: str = "/") -> list[str]:
        """Return the scopes right below one."""
        start = parent.rstrip("/") + "/"
        records = self._read_records().values()
        below = [one.scope for one in records if one.scope.startswith(start)]
        names = {scope.removeprefix(start).partition("/")[0] for scope in below}
        return sorted(start + name for name in names if name)

    def list_categories(self, scope_prefix: str | None = None) -> dict[str, int]:
        """Count the records of each category."""
        names = (name for one in self._records_within(scope_prefix) for name in one.categories)
        return dict(sorted(Counter(names).items()))

    def count(self, scope_prefix: str | None = None) -> int:
        """Count the records of a scope."""
        return len(self._records_within(scope_prefix))

    def reset(self, scope_prefix: str | None = None) -> None:
        """Remove all records of a scope."""
        self.delete(scope_prefix)

    async def asave(self, records: list[MemoryRecord]) -> None:
        """Keep records, in a thread."""
        await asyncio.to_thread(self.save, records)

    async def asearch(
        self, query_embedding: list[float], **filters: Any
    ) -> list[tuple[MemoryRecord, float]]:
        """Return the records that answer the text of a vector, in a thread."""
        return await asyncio.to_thread(self.search, query_embedding, **filters)

    async def adelete(self, scope_prefix: str | None = None, **filters: Any) -> int:
        """Remove records, in a thread."""
        return await asyncio.to_thread(self.delete, scope_prefix, **filters)

    def _make_change(self, record: MemoryRecord) -> Change:
        content = self._folder.clean(record.content)
        rest = record.model_dump(mode="json", exclude={"content", "id"})
        about = json.dumps(clean_json(self._folder, rest), ensure_ascii=False, indent=2)
        body = f"{content}{_OPEN}{about}{_CLOSE}"
        try:
            return self._folder.changed(self._folder.read(_record_file(record.id)), body)
        except NotFoundError:
            # It is new: there is no head to keep.
            return self._folder.made(_record_file(record.id), body, {"record": record.id})

    def _read_records(self) -> dict[str, MemoryRecord]:
        """Return the records by path; broken ones are left out."""
        return {page.path: record for page, record in self._folder.read_all(_parse_record)}

    def _records_within(self, scope: str | None) -> list[MemoryRecord]:
        return list(filter(_build_filter(scope, None, None), self._read_records().values()))


def _record_file(id: str) -> str:
    return f"{file_name(id)}.md"


def _parse_record(page: Page) -> MemoryRecord:
    """Return the record that a file holds.

    Raises:
        FormatError: it holds none.
    """
    # The last one: the content may hold blocks of code itself.
    content, _, rest = page.body.rpartition(_OPEN)
    try:
        about = json.loads(rest[: rest.rindex(_CLOSE)])
        return MemoryRecord(id=str(page.values["record"]), content=content, **about)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise FormatError(page.path, 1, f"this is no record ({error})") from error


def _build_filter(
    scope: str | None, categories: list[str] | None, metadata: Mapping[str, Any] | None
) -> Callable[[MemoryRecord], bool]:
    start = (scope or "").rstrip("/")

    def passes(one: MemoryRecord) -> bool:
        within = one.scope.rstrip("/") == start or one.scope.startswith(f"{start}/")
        named = not categories or bool(set(categories) & set(one.categories))
        about = (metadata or {}).items()
        return within and named and all(one.metadata.get(name) == value for name, value in about)

    return passes


def _score_record(text: str, content: str, found: float) -> float:
    alike = similarity(text, content)
    # A good answer to a question is not yet the same statement, and must not be merged with it.
    return alike if alike >= _SAME else min(found, _MOST)


def _embed_text(text: str) -> list[float]:
    # `hash` would give other numbers in every process.
    counts = Counter(crc32(word.encode()) % _WIDTH for word in words_of(text))
    length = math.sqrt(sum(count * count for count in counts.values())) or 1.0
    vector = [counts[at] / length for at in range(_WIDTH)]
    # A last place that is the text's own, so that no two texts share a vector.
    return [*vector, crc32(text.encode()) / 2**32 / _WIDTH]


def _assume_utc(at: datetime) -> datetime:
    """Return a moment with its zone; the framework's own have none and mean UTC."""
    return at if at.tzinfo else at.replace(tzinfo=UTC)
