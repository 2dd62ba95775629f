"""Words of units and of queries, as the keyword index holds them."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from kimi_memory.domain.search_types import ChunkSizes, Query, Unit
from kimi_memory.hooks.host import Host
from kimi_memory.nlp.basic.patterns import PATTERNS, regex
from kimi_memory.nlp.dates.date_terms import date_words, day_words
from kimi_memory.nlp.dates.vocabulary import Zone, in_zone, mark_of
from kimi_memory.nlp.rules.synonyms import (
    Table,
    dump_tables,
    lists_mark,
    load_tables,
    tables,
)

# A title is a few words for a whole page, and longer pages drown them.
TITLE_WEIGHT = 2
"""How often more a word of a title or heading counts than one of the text."""
ASKS = "a:asks"
"""Word of the turns that end with a question."""

# "Where did Anna move? [photo of a house]": pictures are described in brackets behind the text.
_NOTE = regex(r"(?<!\s)\s*+\[[^\[\]]{0,400}\]\s*+$")
_PROBED = datetime(2026, 3, 4, tzinfo=UTC)
# Whatever splitters treat differently: an apostrophe, a version, both scripts of Chinese, an
# accent.
_PROBE = (
    "The deploy script's retries failed on 2026-03-01; Alice chose PostgreSQL 16.2 over MySQL. "
    "上周五我们决定换成 PostgreSQL，因为并发写入太慢；資料庫已經遷移，遊戲復原。 "
    "user_id=42 e-mail café"
)

# By fingerprint: a process that opens many memories makes them once.
_MADE: dict[str, tuple[Table, ...]] = {}


class Words:
    """Splits texts the way this memory's plugins do.

    Args:
        host: the plugins.
        zone: the zone of the days on which something was said.
        sizes: of the chunks that words are taken from.
    """

    def __init__(self, host: Host, zone: Zone = UTC, sizes: ChunkSizes | None = None) -> None:
        self._host, self._zone = host, zone
        self._sizes = "" if sizes in (None, ChunkSizes()) else str(sizes)
        self.kept: Path | None = None
        """The file of an index of these very words that has their synonyms; see `keep_synonyms`."""

    @cached_property
    def synonyms(self) -> tuple[Table, ...]:
        """Words that others may stand for; the same for every view, as long as the plugins are."""
        try:
            content = self.kept.read_bytes() if self.kept else b""
        except OSError:
            content = b""  # Older indexes have none, and the next build removes a folder.
        return load_tables(content) or self._make_synonyms()

    def _make_synonyms(self) -> tuple[Table, ...]:
        mark = self.fingerprint
        if mark not in _MADE:
            # A small memory has no index to keep them: they lie beside the compiled patterns,
            # which need as little of a memory as they do.
            key = (f"synonyms of {mark}", lists_mark(), 0)
            content = PATTERNS.compute_once(key, lambda: dump_tables(tables(self.split)))
            _MADE[mark] = load_tables(content)
        return _MADE[mark]

    def keep_synonyms(self, path: Path) -> None:
        """Write the synonyms to a file, unless it holds them: to make them takes 1,400 splits."""
        content = dump_tables(self.synonyms)
        if not path.is_file() or path.read_bytes() != content:
            path.unlink(missing_ok=True)  # It may be a link into the index before this one.
            path.write_bytes(content)

    @property
    def fingerprint(self) -> str:
        """A hash that changes when the same text would yield other words, or other chunks."""
        found = [*self.split(_PROBE), *date_words(_PROBE, _PROBED), str(TITLE_WEIGHT), ASKS]
        # The day of a turn depends on it: 23:30 in Berlin is another day in Shanghai.
        found += [mark] if (mark := mark_of(self._zone)) else []
        found += [self._sizes] if self._sizes else []
        return hashlib.sha256("\0".join(found).encode()).hexdigest()[:16]

    def split(self, text: str) -> list[str]:
        """Return the words of a text, with repeats."""
        return list(self._host.answer("split_words", text=text) or ())

    def of_unit(self, unit: Unit) -> list[str]:
        """Return the words of a unit: text, speaker, dates, and its title with more weight."""
        words = self.split(unit.text)
        if unit.speaker:
            words += self.split(unit.speaker)
        if unit.title:
            words += self.split(unit.title) * TITLE_WEIGHT
        known = set(words)
        # Once each: a day that stands in the text already must not count twice.
        words += [word for word in _find_date_words(unit, self._zone) if word not in known]
        return [*words, ASKS] if unit.kind == "turn" and _is_question(unit.text) else words

    def of_query(self, query: Query, now: datetime) -> list[str]:
        """Return the words a question asks for, each once, in their order."""
        words = self.split(query.text)
        for further in self._host.gather("expand_query", query=query, now=now):
            words += further
        return list(dict.fromkeys(words))


def _is_question(text: str) -> bool:
    """Whether a text ends with a question; a remark in brackets after it does not count."""
    return _NOTE.sub("", text).rstrip("\"'”’」』)）~ \n").endswith(("?", "？"))


def _find_date_words(unit: Unit, zone: Zone) -> list[str]:
    """Return the day a turn was said on, and the days it speaks of."""
    at = None if unit.at is None else in_zone(unit.at, zone)
    said = date_words(unit.text, at)
    if unit.kind != "turn" or at is None:
        return said
    return list(dict.fromkeys([*day_words(at), *said]))
