"""Settings: what a memory folder may choose, and what only its user may.

``memory.toml`` in the folder is data: tiers, thresholds, language, schedule. Code,
hosts, keys and plugins are chosen in ``config.toml`` of the user's own config
directory, because a memory folder may come from somebody else.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeVar

from kimi_memory.domain.job_registry import find_time_fault, scheduled
from kimi_memory.domain.memory_identity import ModelTable, SkillsTable
from kimi_memory.domain.user_tables import ClusterTable, SigningTable
from kimi_memory.errors import FormatError, UsageError
from kimi_memory.formats.toml_lines import find_line
from kimi_memory.nlp.dates.vocabulary import MACHINE, NEVER, Zone, nearest_zone, parse_span

_LOWEST = {
    **{"recall.limit": 1, "capture.max_turn_bytes": 1024},
    **{"temperature.recency_days": 0.01, "temperature.frequency_cap": 1},
}
"""Less would find or keep nothing, or divide by zero; of other numbers 0 is the least."""
_MOST_DAYS, _MOST = 36_500, 10**12
"""A date more than a hundred years back leaves the calendar."""


class CaptureTable(NamedTuple):
    """``[capture]``"""

    auto: bool = True
    """Whether triggers may remember at once what a turn says is important."""
    limit: int = 3
    """At most so many auto-captured memories per exchange."""
    min_chars: int = 10
    """Shorter turns are not auto-captured; a Chinese character counts double."""
    max_chars: int = 500
    """Longer turns are not auto-captured, being pasted text; counted in the same way."""
    max_turn_bytes: int = 65536
    """A longer turn is cut here, with a mark that says how much."""
    agent_statements: Literal["review", "trust"] = "review"
    """What an agent asks to remember: left to review, or counts at once (trust), but rules."""


class IntrospectTable(NamedTuple):
    """``[introspect]``"""

    merge: float = 0.95
    """Cards more alike than this that claim the same are merged."""
    suggest: float = 0.7
    """Cards from this likeness on get a suggested link."""
    accept: float = 0.85
    """Suggested links from this weight on are confirmed by the weekly job."""
    forget_below: float = 0.1
    """Only cards colder than this are forgotten …"""
    forget_days: int = 90
    """… that were neither made, verified nor shown for so many days …"""
    forget_uses: int = 3
    """… and were shown less often than this."""
    keep_importance: float = 0.8
    """Cards from this importance on are never forgotten for being cold, nor are a person's
    orders, preferences, and what they said of themselves."""
    prune_days: int = 90
    """Unimportant events are archived after so many days."""
    prune_importance: float = 0.6
    """Events below this importance count as unimportant."""


class TtlTable(NamedTuple):
    """``[ttl]``: how long each kind is kept, such as ``90d``, ``12h`` or ``2w``"""

    conversation: str = NEVER
    """What was said is found so long; later, only by a question that names the time."""
    knowledge: str = NEVER
    """A card of a concept, pattern, gotcha, decision, fact, rule or thing expires after so long."""
    preference: str = NEVER
    """A card of a preference expires after so long."""
    relationship: str = NEVER
    """A card of a person or thing that links to others expires after so long."""
    context: str = "7d"
    """Task and variables of an open session are shown so long after its last turn."""
    todos: str = NEVER
    """A card of something to do expires after so long."""
    skill_progress: str = "365d"
    """Runs of agents count for their skills so long."""
    purge_on_expiry: bool = False
    """Whether the words of an expired card are destroyed, a day after it was archived."""

    @property
    def spans(self) -> Mapping[str, timedelta | None]:
        """How long each kind is kept, None for ever; a value that is no time raises ValueError."""
        return {
            name: parse_span(text) for name, text in self._asdict().items() if isinstance(text, str)
        }

    def shown_from(self, now: datetime) -> datetime | None:
        """Return the moment before which a session was last heard whose state is not shown."""
        span = parse_span(self.context)
        return now - span if span else None


def find_bounds(key: str, number: float) -> str:
    """Return between what a setting has to lie where a number of it does not; else nothing."""
    least = _LOWEST.get(key, 0)
    most = _MOST_DAYS if key.endswith("_days") else _MOST
    # Of "nan" neither is true.
    return "" if least <= number <= most else f"Give a number from {least} to {most}"


T = TypeVar("T", bound=tuple[Any, ...])
MARKER = "memory.toml"
FORMAT = 1


class MemoryTable(NamedTuple):
    """``[memory]``"""

    id: str = ""
    """Made by init; names this memory in lock and key files."""
    format: int = FORMAT
    """Version of the file format."""
    name: str = ""
    """What people call it; the heading of the identity page."""
    description: str = ""
    """What it is for, in a sentence, where memories are listed."""
    language: Literal["auto", "zh", "en"] = "auto"
    """Language of generated pages; notes keep the language of their evidence."""
    timezone: str = ""
    """Zone of days and shown times, such as ``Asia/Shanghai``; that of the machine if empty."""
    parent: str = ""
    """The memory this one was forked from, and the commit: ``memory-…@…``; made by fork."""
    created_by: str = ""
    """Who made it, as they want to be called; ``init --by``."""
    moved: str = ""
    """Where the memory lives now: this folder takes no writes; made by migrate."""


class DistilTable(NamedTuple):
    """``[distil]``"""

    max_cards: int = 10
    """At most so many cards per session, the most important ones; open to-dos do not count."""
    min_turns: int = 2
    """Shorter sessions are archived without being distilled."""
    min_importance: float = 0.5
    """Less important drafts are dropped."""


class RecallTable(NamedTuple):
    """``[recall]``"""

    limit: int = 6
    """Hits returned when nothing is asked for."""
    min_score: float = 0.0
    """Hits below are dropped."""
    min_relevance: float = 0.65
    """A block for an agent is empty where the memory has to do with the prompt with less
    likelihood, 0 to 1; 0 always shows the nearest lines."""
    snippet_chars: int = 700
    """Longest snippet, in characters."""
    vector_weight: float = 0.3
    """Weight of the vector lane of a small model against the keyword lane; 0 turns it off."""
    fusion: Literal["score", "70/30", "rrf"] = "score"
    """How the lanes are joined: by weighted score, vectors first, or by rank."""
    candidates: int = 3
    """So many candidates a hit are weighed, and never fewer than 50."""
    hops: int = 0
    """How many links are followed from the best hits into every answer, up to 2; with 0 only
    those that the question asks for, such as the cause of a "why"."""
    recency: float = 0.05
    """The part of its score that a card or an event loses with age, up to 0.9; turns lose none."""
    recency_days: float = 90.0
    """At this age it has lost 63 % (1 - 1/e) of that part."""
    turn_days: int = 0
    """Turns of so many last days are found unless the question names a time; 0 for all turns."""
    context_tokens: int = 2000
    """Budget of a context block when none is given."""
    context_hits: int = 0
    """Most lines that a question brings into a block, beside orders; 0 for as many as fit."""
    prompt_days: int = 30
    """So long blocks made for prompts are kept, for ``context --replay``; with 0 none is."""


class ChunksTable(NamedTuple):
    """``[chunks]``: how pages are cut into the pieces that recall finds."""

    max_tokens: int = 512
    """Longest chunk; a block of code may be twice as long."""
    overlap_tokens: int = 50
    """So much of a chunk's end begins the next; unless set, less for chunks below 132 tokens."""
    headings: bool = True
    """Whether each heading begins a chunk."""


class HistoryTable(NamedTuple):
    """``[history]``"""

    git: bool = True
    """Whether changes are committed to git."""
    quiet_seconds: float = 5.0
    """A batch is committed after so long without a change …"""
    max_seconds: float = 30.0
    """… and no later than so long after its first change."""


class GatesTable(NamedTuple):
    """``[gates]``"""

    max_loss: float = 0.25
    """Largest part of earlier entries a job may take away."""
    max_page_bytes: int = 65536
    """Largest generated page."""
    max_files: int = 500
    """Most files one job may touch."""
    max_seconds: float = 900.0
    """Longest that a job may take to decide what to do."""
    max_tokens: int = 500_000
    """Most tokens a job may spend on a model."""
    max_tokens_per_day: int = 0
    """Most tokens that all jobs of a day may spend; no bound if 0."""
    max_failures: int = 3
    """A periodic job that failed in so many runs in a row, for any of its days, rests …"""
    breaker_hours: float = 24.0
    """… for so many hours after the last failure."""


class ConsolidationTable(NamedTuple):
    """``[consolidation]``"""

    daily_importance: float = 0.6
    """Events from this importance on are folded into knowledge."""
    stale_days: int = 30
    """A finding or a task's state unverified for so long is marked stale."""
    external_edits: Literal["auto", "trust", "review"] = "auto"
    """Edits of generated pages: taken as a person's (trust), left to review, or (auto) to
    review where a session was open when the page was edited."""


class TemperatureTable(NamedTuple):
    """``[temperature]``"""

    hot: float = 0.7
    """A card is hot from this temperature on."""
    warm: float = 0.3
    """A card is warm from this temperature on."""
    hot_days: int = 7
    """A card made or shown within so many days is hot at any temperature."""
    hot_uses: int = 10
    """A card shown more often than this is hot at any temperature."""
    cold_days: int = 30
    """A card stays warm until it was neither made nor shown for so many days."""
    hot_limit: int = 5000
    """Most hot cards; the coolest of more are warm."""
    warm_limit: int = 20000
    """Most warm cards; the coolest of more are cold."""
    recency_days: float = 30.0
    """A card of this age has lost all but 37 % (1/e) of its recency."""
    frequency_cap: int = 20
    """So many uses count as often; more add nothing."""


_TIMES = MappingProxyType({job.name: job.time for job in scheduled()})


class Settings(NamedTuple):
    """All of ``memory.toml``; every value has a default."""

    memory: MemoryTable = MemoryTable()
    capture: CaptureTable = CaptureTable()
    distil: DistilTable = DistilTable()
    recall: RecallTable = RecallTable()
    chunks: ChunksTable = ChunksTable()
    history: HistoryTable = HistoryTable()
    gates: GatesTable = GatesTable()
    consolidation: ConsolidationTable = ConsolidationTable()
    temperature: TemperatureTable = TemperatureTable()
    introspect: IntrospectTable = IntrospectTable()
    model: ModelTable = ModelTable()
    skills: SkillsTable = SkillsTable()
    ttl: TtlTable = TtlTable()
    schedule: Mapping[str, str] = _TIMES
    """``[schedule]``: when each scheduled job runs."""

    @property
    def bounded_recall(self) -> RecallTable:
        """``[recall]`` with turns found no longer than ``[ttl]`` keeps conversations."""
        span = parse_span(self.ttl.conversation)
        days = [n for n in (self.recall.turn_days, span and max(1, span.days)) if n]
        return self.recall._replace(turn_days=min(days, default=0))

    @property
    def zone(self) -> Zone:
        """The zone of days and shown times."""
        return _zone_of(self.memory.timezone)


def _zone_of(name: str) -> Zone:
    if not name:
        return MACHINE
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        return ZoneInfo(name)  # which keeps those it has read
    except (ZoneInfoNotFoundError, OSError, ValueError) as error:
        raise ValueError(f"{name!r} is no time zone") from error


class UserConfig(NamedTuple):
    """``config.toml`` in the user's config directory."""

    plugins: Mapping[str, Mapping[str, Any]] = MappingProxyType({})
    """``[plugins.<name>]``: settings a plugin is made with."""
    disabled: tuple[str, ...] = ()
    """``disabled = ["name"]``: plugins that are not loaded."""
    plugin_folder: Path | None = None
    """Where one-file plugins lie: ``plugins/`` beside ``config.toml``."""
    server: Literal["auto", "never"] = "auto"
    """``server``: auto lets a hook start a server that keeps the memory open; never does not."""
    sync: Literal["never", "sessions"] = "never"
    """``sync``: sessions syncs, behind each session's beginning and end, with all remotes."""
    signing: SigningTable = SigningTable()
    """``[signing]``: `key`, an SSH key that signs our commits; `when`: each `commit`, or `sync`."""
    agents: Mapping[str, Mapping[str, Any]] = MappingProxyType({})
    """``[agents.<name>]``: the program of an agent, its `command` and how it is run."""
    cluster: ClusterTable = ClusterTable()
    """``[cluster]``: `url` of the log; `registry`, if that lies elsewhere; `node`, our name;
    `address`, of our HTTP server; `folder`, for copies that others ask for; `ttl` until another may
    lead; `wait_seconds`, of a write; `keep_days`, `snapshot_records` of a log."""


_LEAST = 32
"""Tokens of the smallest chunk that still says something."""
_TYPES: dict[str, tuple[type, ...]] = {
    "bool": (bool,), "int": (int,), "float": (float, int), "str": (str,), "tuple[str, ...]": (list,)
}  # fmt: skip


class _File(NamedTuple):
    path: str
    text: str

    def error(self, key: str, why: str, remedy: str) -> FormatError:
        """Return the error of a key, with the line it stands in."""
        table, _, name = key.rpartition(".")
        return FormatError(self.path, find_line(self.text, name, below=table), why, remedy)


def parse_settings(text: str, path: str = MARKER) -> Settings:
    """Read ``memory.toml``.

    Unknown tables and keys are kept out of the way (a newer version may know them).

    Raises:
        FormatError: not TOML, a value of the wrong type, or a newer format.
    """
    document, file = _parse_toml(text, path), _File(path, text)
    tables = ((name, type(one)) for name, one in Settings()._asdict().items() if name != "schedule")
    settings = Settings(
        **{name: _parse_table(kind, document, file, name) for name, kind in tables},
        schedule=_parse_schedule(document, file),
    )
    try:
        _zone_of(settings.memory.timezone)
    except ValueError as error:
        remedy = f"Write {nearest_zone(settings.memory.timezone)!r}, or leave memory.timezone out"
        raise file.error("memory.timezone", str(error), remedy) from error
    # Only what was given: the defaults are right, and every command reads the settings.
    for key in sorted({*document.get("ttl", {})} & {*TtlTable._fields} - {"purge_on_expiry"}):
        try:
            parse_span(getattr(settings.ttl, key))
        except ValueError as error:
            raise file.error(
                f"ttl.{key}", str(error), "Write never, or days such as 90d"
            ) from error
    # An overlap of half a chunk and more would repeat chunks instead of going on.
    most, by = settings.chunks.max_tokens, settings.chunks.overlap_tokens
    if by > (fits := most // 2 - _LEAST // 2) >= 0 and "overlap_tokens" not in document["chunks"]:
        settings = settings._replace(chunks=settings.chunks._replace(overlap_tokens=fits))
    elif not 0 <= by <= fits:
        key = "chunks.overlap_tokens" if fits >= 0 else "chunks.max_tokens"
        remedy = f"Give an overlap of {fits} at most" if fits >= 0 else f"Give {_LEAST} at least"
        raise file.error(key, f"chunks of {most} tokens cannot overlap by {by}", remedy)
    # To read a newer format as ours could lose what only the newer one knows.
    if settings.memory.format > FORMAT:
        why = f"format {settings.memory.format} is newer than this program knows ({FORMAT})"
        raise file.error("memory.format", why, "Upgrade kimi_memory")
    return settings


def parse_user(text: str, folder: Path) -> UserConfig:
    """Read the user's ``config.toml``, which lies in `folder`.

    Raises:
        FormatError: not TOML, or a value of the wrong type.
    """
    file = _File(str(folder / "config.toml"), text)
    document = _parse_toml(text, file.path)
    for key, one in (("plugins", "plugin"), ("agents", "agent")):
        found = document.get(key, {})
        if not isinstance(found, dict) or not all(isinstance(v, dict) for v in found.values()):
            raise file.error(key, f"[{key}] holds a table per {one}", f"Write [{key}.<name>]")
    plugins = document.get("plugins", {})
    disabled = document.get("disabled", [])
    if not isinstance(disabled, list) or not all(isinstance(v, str) for v in disabled):
        raise file.error("disabled", "disabled is a list of plugin names", "Write it as a list")
    chosen: dict[str, Any] = {k: document[k] for k in ("server", "sync") if k in document}
    for key, value in chosen.items():
        _check_value(UserConfig.__annotations__[key].__forward_arg__, value, key, file)
    chosen["signing"] = _parse_table(SigningTable, document, file, "signing")
    chosen["agents"] = document.get("agents", {})
    chosen["cluster"] = _parse_table(ClusterTable, document, file, "cluster")
    return UserConfig(plugins, tuple(disabled), folder / "plugins", **chosen)


def read_user(folder: Path) -> UserConfig:
    """Return the user's settings from their config directory; defaults where there are none."""
    try:
        text = (folder / "config.toml").read_text(encoding="utf-8")
    except FileNotFoundError:
        # Most people never write one.
        return UserConfig(plugin_folder=folder / "plugins")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{folder / 'config.toml'} cannot be read: {error}. Mend it.") from error
    return parse_user(text, folder)


def _parse_toml(text: str, path: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        # tomllib lets numbers of thousands of digits and deep nesting fail in their own way.
        found = [int(part) for part in re.findall(r"\bline (\d{1,9})\b", str(error))]
        raise FormatError(path, found[0] if found else 1, f"not TOML: {error}") from error


def _parse_table(kind: type[T], document: dict[str, Any], file: _File, name: str) -> T:
    values = document.get(name, {})
    if not isinstance(values, dict):
        raise file.error(name, f"{name} is not a table", f"Write it as [{name}]")
    chosen = {key: value for key, value in values.items() if key in kind.__annotations__}
    for key, value in chosen.items():
        _check_value(kind.__annotations__[key].__forward_arg__, value, f"{name}.{key}", file)
    return kind(**{k: tuple(v) if isinstance(v, list) else v for k, v in chosen.items()})


def _parse_schedule(document: dict[str, Any], file: _File) -> Mapping[str, str]:
    values = document.get("schedule", {})
    if not isinstance(values, dict):
        raise file.error("schedule", "schedule is not a table", "Write it as [schedule]")
    for key, value in values.items():
        _check_value("str", value, f"schedule.{key}", file)
        if form := find_time_fault(key, value):
            raise file.error(f"schedule.{key}", f"{value!r} is no time", f"Write it like {form!r}")
    return {**_TIMES, **values}


def _check_value(type_name: str, value: object, key: str, file: _File) -> None:
    if type_name.startswith("Literal"):
        allowed = [part.strip("\"' ") for part in type_name[8:-1].split(",")]
        if value not in allowed:
            raise file.error(key, f"{key} is {value!r}", f"Choose one of {', '.join(allowed)}")
        return
    wanted = _TYPES[type_name]
    # In Python true is the number 1; in a settings file it is a mistake.
    odd = isinstance(value, list) and not all(isinstance(one, str) for one in value)
    if not isinstance(value, wanted) or (isinstance(value, bool) and bool not in wanted) or odd:
        fits = "a list of texts" if list in wanted else f"a value of type {type_name}"
        raise file.error(key, f"{key} is {value!r}", f"Give {fits}")
    if isinstance(value, int | float) and (fits := find_bounds(key, value)):
        raise file.error(key, f"{key} is {value!r}", fits)
