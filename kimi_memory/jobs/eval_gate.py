"""The gate of evals: a job must not make a hit appear that a case forbids."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from kimi_memory.domain.change import Change, Create, Delete, Update
from kimi_memory.domain.note import Status
from kimi_memory.domain.search_types import Chunk, ChunkSizes, Query, Unit
from kimi_memory.errors import FormatError, GateError
from kimi_memory.formats.eval_case import FOLDER, Case, hits_of, is_eval, read_cases
from kimi_memory.formats.frontmatter import decode
from kimi_memory.hooks.host import Host
from kimi_memory.index.files import is_searchable
from kimi_memory.index.units import guard
from kimi_memory.index.words import Words
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.store.store import Store

_HIDDEN = frozenset({str(Status.SUPERSEDED), str(Status.ARCHIVED)})
"""What recall does not show unless it is asked for."""


@dataclass(frozen=True, slots=True)
class Forbidden:
    """Asks the cases of a memory about the pages a job would write.

    The words of each planned page are held against the words of each question, as
    recall would do it; what the page said before the job does not count.
    """

    store: Store
    host: Host
    clock: Callable[[], datetime]
    sizes: ChunkSizes

    def check(self, changes: Sequence[Change], before: Mapping[str, bytes]) -> None:
        """Raise GateError when a planned page answers a question with what is forbidden.

        Args:
            changes: what the job would write.
            before: bytes of the files it would update or delete, by path.
        """
        cases = [case for case in self._load_cases() if case.forbid]
        if not cases:
            return
        # A page that moves said the same before; a session that is archived is no page.
        deleted = (change.path for change in changes if isinstance(change, Delete))
        gone = {path for path in deleted if path.endswith(".md")}
        for change in changes:
            if not isinstance(change, Create | Update) or not change.path.endswith(".md"):
                continue
            # Recall never shows the other pages, so they cannot break a case.
            if is_searchable(change.path):
                old = {path for path in before if path == change.path or path in gone}
                known = [unit for path in old for unit in self._visible_units(path, before[path])]
                fresh = self._visible_units(change.path, change.content)
                self._check_cases(cases, fresh, known)

    def _check_cases(self, cases: Iterable[Case], fresh: list[Unit], known: list[Unit]) -> None:
        words = Words(self.host)
        texts, old = list(map(_id_and_text, fresh)), list(map(_id_and_text, known))
        for case in cases:
            for word in case.forbid:
                # A page that said so before is no fault of this job.
                found = set(hits_of(word, texts)) if not any(hits_of(word, old)) else set()
                if not found:
                    continue
                asked = set(words.of_query(Query(text=case.query), self.clock()))
                for unit in fresh:
                    if unit.id in found and not asked.isdisjoint(words.of_unit(unit)):
                        raise _build_error(case, word, unit)

    def _visible_units(self, path: str, content: bytes) -> list[Unit]:
        units, _ = guard(path, content, self._split_text)
        return [unit for unit in units if unit.status not in _HIDDEN]

    def _split_text(self, text: str) -> list[Chunk]:
        return list(self.host.answer("split_note", text=text, sizes=self.sizes) or ())

    def _load_cases(self) -> Iterator[Case]:
        """Yield the cases that can be read; ``eval`` reports the others."""
        for path in filter(is_eval, self.store.files(FOLDER)):
            try:
                yield from read_cases(decode(self.store.read(path), path), path)
            except FormatError:
                continue


def _id_and_text(unit: Unit) -> tuple[str, str]:
    return unit.id, f"{unit.title}\n{unit.text}"


def _build_error(case: Case, word: str, unit: Unit) -> GateError:
    return GateError(
        "evals",
        f"{unit.path} would answer {case.query!r} with {word!r}, which {case.path} forbids",
        "Look at the plan with --dry-run; correct what it rests on, or the case",
    )
