"""How a memory is opened, the user's own directories, and the parts an opened one is made of.

A part is made when it is first asked for. A name in a settings file that no setting has is found
with the nearest one that exists.
"""

from __future__ import annotations

import contextlib
import difflib
import hashlib
import hmac
import logging
import os
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from kimi_memory.config import MARKER, Settings, UserConfig, parse_settings, read_user
from kimi_memory.domain.health import Finding, Severity
from kimi_memory.domain.ids import lettered, utcnow
from kimi_memory.domain.job import Actor
from kimi_memory.domain.note import Origin
from kimi_memory.domain.user_tables import AGENT_KEYS, ClusterTable, SigningTable
from kimi_memory.errors import HistoryError, KimiMemoryError, UnsafePathError, UsageError
from kimi_memory.formats.jsonl import has_marks, split_marks
from kimi_memory.formats.toml_lines import find_line
from kimi_memory.hooks.host import Host
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.dates.vocabulary import Zone, in_zone
from kimi_memory.store.copy import checkpoint, copy_id, note_copy, other_copies, read_copies
from kimi_memory.store.files.disk import put
from kimi_memory.store.files.locks import claim
from kimi_memory.store.files.paths import DEPLOYED, PRIVATE
from kimi_memory.store.git.head import BATCH, Batch, list_unexamined
from kimi_memory.store.reading import SETTINGS
from kimi_memory.store.store import Store

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from kimi_memory.api.signing import Signing
    from kimi_memory.capture.log import Screen
    from kimi_memory.index.index import Index
    from kimi_memory.past.points import Points
    from kimi_memory.past.reader import PastReader
    from kimi_memory.recall.engine import Recall, Receipts
    from kimi_memory.store.git.history import History
    from kimi_memory.store.git.signing_key import SigningKey
    from kimi_memory.store.shipped_commits import CommitShipping
    from kimi_memory.store.trust.vetting import Vetting

_KEY = 32
"""Bytes of a machine's key."""
_KEPT = f"{PRIVATE}/settings"
"""The settings that counted last, sealed: to ask the journal takes as long as it is."""
_TABLES: dict[str, tuple[str, ...]] = {
    name: getattr(table, "_fields", tuple(table)) for name, table in Settings()._asdict().items()
}
_USER = tuple(name for name in UserConfig._fields if name != "plugin_folder")
_LIKE = 0.6
"""Names less alike than this are not taken for a misspelling."""


class Home(NamedTuple):
    """Where a user keeps what must not lie in a memory folder."""

    config: Path
    """Holds ``config.toml`` and ``plugins/``."""
    state: Path
    """Holds ``key``: 32 random bytes that never leave this machine."""

    @classmethod
    def of_user(cls) -> Home:
        """Return the directories of the user who runs this process."""
        import platformdirs

        return cls(
            platformdirs.user_config_path("kimi_memory", appauthor=False),
            platformdirs.user_state_path("kimi_memory", appauthor=False),
        )

    def settings(self) -> UserConfig:
        """Read the user's settings; defaults where there are none."""
        return read_user(self.config)

    def signing_key(self) -> Path | None:
        """Return the file of the SSH key that the user signs with; None where they do not."""
        key = self.settings().signing.key
        return Path(key).expanduser() if key else None

    def key(self) -> bytes:
        """Return the machine's key, made at first use.

        It signs indexes and the journal, and marks masked secrets. Where the
        directory cannot be written, a key for this process alone is returned:
        indexes are then rebuilt instead of trusted.
        """
        path, fresh = self.state / "key", b""
        # A home that cannot be written or read must not keep anybody from their memory.
        with contextlib.suppress(OSError):
            if not path.exists():
                fresh = os.urandom(_KEY)
                self.state.mkdir(parents=True, exist_ok=True, mode=0o700)
                # Another process made it meanwhile; its key is read below.
                with contextlib.suppress(FileExistsError):
                    _create_key_file(path, fresh)
            stored = path.read_bytes()
            # A file cut short by a full disk is no key: nothing it signs could be trusted.
            if len(stored) == _KEY:
                return stored
        return fresh or os.urandom(_KEY)

    def keeps(self, key: bytes) -> bool:
        """Whether a key is the machine's, and not of this process alone."""
        # What cannot be read cannot be compared, so the key counts as our own alone.
        with contextlib.suppress(OSError):
            return (self.state / "key").read_bytes() == key
        return False


def _create_key_file(path: Path, content: bytes) -> None:
    """Make the key file whole or not at all: two first uses must agree on one key."""
    part = path.with_name(f"key.{os.urandom(8).hex()}")
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
    try:
        # A link fails where there is a key already: that one then holds for both processes.
        os.link(part, path)
    finally:
        part.unlink()


_LIBRARY = Actor("library", Origin.HUMAN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """How a memory is opened; the defaults are the user's own."""

    home: Home | None = None
    """Where settings and keys of the user lie."""
    clock: Callable[[], datetime] = utcnow
    actor: Actor = _LIBRARY
    host: Host | None = None
    """Plugins; by default the bundled, installed and one-file ones."""
    background: bool = True
    """Whether a thread commits to git while the memory stays open."""


def read_settings(root: Path) -> Settings:
    """Read ``memory.toml`` of a folder; FormatError or UsageError say what is wrong."""
    path = root / MARKER
    try:
        content = path.read_bytes()
        if not has_marks(MARKER, content):
            return parse_settings(content.decode(), str(path))
        # While git waits for a person, our side holds; it may be a stranger's in a rebase, so it
        # does not say what counts.
        found = parse_settings(split_marks(MARKER, content).ours.decode(), str(path))
        return found._replace(consolidation=found.consolidation._replace(external_edits="review"))
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}). Make it readable.") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 ({error.reason}). Save it as UTF-8.") from error


def find_confirmed(store: Store) -> tuple[bytes, str]:
    """Return the settings in force, and why those of the file wait; empty if they do not.

    Nothing is returned where no version is known that counted.
    """
    kept = _read_kept(store)
    try:
        content = store.read(SETTINGS)
    except UnsafePathError:
        # It may lead to a file that a stranger's commit brought.
        return kept, "it is a link or no plain file"
    vetting = store.vetting if content != kept else None
    if vetting is None:
        return content, ""
    found = vetting.standing(SETTINGS, content)
    if found.cap is not None:
        return kept or vetting.version(SETTINGS, found.vetted) or b"", found.why
    with contextlib.suppress(HistoryError):  # Without it, the journal is asked again.
        put(store.root / _KEPT, store.journal.sign(content) + b"\n" + content)
    return content, ""


def _read_kept(store: Store) -> bytes:
    try:
        mark, _, content = store.read(_KEPT).partition(b"\n")
    except KimiMemoryError:
        return b""
    # A version that came with the folder of a stranger counts for nothing.
    return content if hmac.compare_digest(mark, store.journal.sign(content)) else b""


def open_store(root: Path, home: Home, key: bytes, clock: Callable[[], datetime]) -> Store:
    """Open the files of a memory; what a stranger left in its private folder is set aside."""
    # A key of this process alone would set aside what the machine's own key signed.
    if home.keeps(key):
        claim(root, key)
    return Store.open(root, key=key, clock=clock)


def user_host(home: Home) -> Host:
    """Return the plugins a user has: bundled, installed, one-file ones."""
    user = home.settings()
    return Host(user.plugins, folder=user.plugin_folder, disabled=user.disabled)


def unknown_settings(root: Path, home: Home, host: Host) -> list[Finding]:
    """Name what stands in ``memory.toml`` and in the user's ``config.toml`` without effect.

    Args:
        root: the memory folder.
        home: the user's own directories.
        host: the plugins that were made with the user's settings.
    """
    return [*_in_memory(root / MARKER), *_in_user(home.config / "config.toml", host)]


def _in_memory(path: Path) -> Iterator[Finding]:
    text, document = _read_settings(path)
    for name, value in document.items():
        if name not in _TABLES:
            # A right name above the first table is the slip that is made most often in TOML.
            elsewhere = [f"[{table}] {name}" for table, keys in _TABLES.items() if name in keys]
            near = elsewhere or [f"[{one}]" for one in _find_nearest(name, _TABLES)]
            yield _build_finding(path, find_line(text, name), _format_name(name, value), near)
        elif isinstance(value, Mapping):
            for key in value:
                if key not in _TABLES[name]:
                    at = find_line(text, key, below=name)
                    yield _build_finding(path, at, f"[{name}] {key}", _near_key(name, key))


def _near_key(table: str, key: str) -> list[str]:
    if near := _find_nearest(key, _TABLES[table]):
        return near
    return [f"[{other}] {key}" for other, keys in _TABLES.items() if key in keys]


def _in_user(path: Path, host: Host) -> Iterator[Finding]:
    text, document = _read_settings(path)
    for name, value in document.items():
        if name not in _USER:
            near = [f"[plugins.{name}]"] if name in host.names else _find_nearest(name, _USER)
            yield _build_finding(path, find_line(text, name), _format_name(name, value), near)
    yield from _in_user_tables(path, text, document)
    for name in document.get("disabled", ()):
        if name not in host.names:
            near = _find_nearest(name, host.names)
            yield _build_finding(path, find_line(text, "disabled"), f"disabled plugin {name}", near)
    for plugin, key, fitting in host.unknown_settings():
        table = f"plugins.{plugin}"
        near = _find_nearest(key or plugin, fitting)
        if not key:
            near = [f"[plugins.{one}]" for one in near]
        at = find_line(text, key, below=table) if key else find_line(text, table)
        yield _build_finding(path, at, f"[{table}] {key}".strip(), near)


def _in_user_tables(path: Path, text: str, document: Mapping[str, Any]) -> Iterator[Finding]:
    known = {"signing": SigningTable._fields, "cluster": ClusterTable._fields}
    agents = document.get("agents", {})
    tables = {name: document.get(name, {}) for name in known}
    tables |= {f"agents.{name}": table for name, table in agents.items()}
    for table, values in tables.items():
        fitting = known.get(table, AGENT_KEYS)
        for key in sorted({*values}.difference(fitting)):
            near = _find_nearest(key, fitting)
            yield _build_finding(path, find_line(text, key, below=table), f"[{table}] {key}", near)


def _build_finding(path: Path, line: int, name: str, near: Sequence[str]) -> Finding:
    remedy = f"Did you mean {near[0]}?" if near else "See docs/settings.md for those there are."
    message = f"{path.name}:{line}: {name} is no setting of this version, so it has no effect"
    return Finding("settings", Severity.WARNING, message, remedy, str(path))


def _find_nearest(name: str, known: Sequence[str] | Mapping[str, object]) -> list[str]:
    return difflib.get_close_matches(name, list(known), n=1, cutoff=_LIKE)


def _format_name(name: str, value: object) -> str:
    return f"[{name}]" if isinstance(value, Mapping) else name


def _read_settings(path: Path) -> tuple[str, dict[str, Any]]:
    """Return a settings file; nothing where there is none, others say what is wrong with it."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        return text, tomllib.loads(text)
    except (OSError, ValueError, RecursionError):
        return "", {}


class Parts:
    """The parts of one memory folder: files, plugins, history, indexes."""

    notes: Sequence[str] = ()
    """What creating it has to tell, and gates that held an auto-captured card; one line each."""
    shipping: CommitShipping | None = None
    """What ships commits of a deployed memory."""
    settings_wait: str = ""
    """Why ``memory.toml`` waits for a person's word; the settings before it count till then."""

    def __init__(self, root: Path, opening: Opening) -> None:
        home = opening.home or Home.of_user()
        self.root, self.clock, self.actor = root, opening.clock, opening.actor
        self.home, self._key = home, home.key()
        self.settings = read_settings(root)
        self.host = opening.host or user_host(home)
        self.store = open_store(root, home, self._key, self.clock)
        if (root / DEPLOYED).exists():
            # What ships changes to other nodes is not loaded for a memory of this machine alone.
            import_module("kimi_memory.api.relaying").attach_relay(self)
        self.store.vet(self._make_vetting)
        self._hold_back_settings()
        if self.settings.memory.moved:
            self.store.set_moved(self.settings.memory.moved)
        self.background = opening.background
        self.host.notice("memory_opened", root=root)

    def _hold_back_settings(self) -> None:
        """Go on with the settings that counted before, where those of the file wait."""
        if has_marks(MARKER, (self.root / MARKER).read_bytes()):
            return  # Of these, only our side was read.
        # Judged as if nothing were set: who may write the file could switch its judging off.
        found, self.settings = self.settings, Settings(memory=self.settings.memory)
        content, self.settings_wait = find_confirmed(self.store)
        if not self.settings_wait:
            self.settings = found
        elif content:
            self.settings = parse_settings(content.decode(), str(self.root / MARKER))
        self.__dict__.pop("history", None)
        self.store.vet(self._make_vetting)

    @property
    def zone(self) -> Zone:
        """The time zone of days and shown times."""
        return self.settings.zone

    def now(self) -> datetime:
        """Return the present moment on the clocks of that zone."""
        return in_zone(self.clock(), self.zone)

    @cached_property
    def history(self) -> History:
        """The commits of the folder."""
        from kimi_memory.store.git.history import History

        return History(
            self.root,
            lock=lambda: self.store.lock("git"),
            clock=self.clock,
            enabled=self.settings.history.git,
            signing=self._signing_key,
            shipping=self.shipping,
        )

    @cached_property
    def signing(self) -> Signing:
        """The keys of the user: the one that signs here, and those that they know."""
        from kimi_memory.api.signing import Signing

        home = self.home
        return Signing(home.signing_key(), home.config, self.store, lambda: self.history)

    def _signing_key(self) -> SigningKey | None:
        """Return what signs each commit; None where the user chose no key, or another moment."""
        table = self.home.settings().signing
        return self.signing.key if table.key and table.when == "commit" else None

    def sign_last(self) -> None:
        """Sign the last version before it leaves this copy, where the user wants that.

        Raises:
            SignatureError: the key cannot be used.
        """
        table = self.home.settings().signing
        if table.key and table.when == "sync" and not self.store.read_only:
            self.signing.sign_last(self.copy_id)

    @property
    def points(self) -> Points:
        """What finds points in the history: dates, commits, versions, names, jobs."""
        return self.past.points

    @cached_property
    def past(self) -> PastReader:
        """What reads notes as they were, and tells which commit changed them."""
        from kimi_memory.past.reader import make_reader

        folders = partial(read_copies, self.home.state, self.settings.memory.id)
        return make_reader(self.store, self.history, folders, self.now, self._key)

    def _make_vetting(self) -> Vetting:
        from kimi_memory.store.trust.vetting import Vetting

        edits = self.settings.consolidation.external_edits
        return Vetting(self.store, edits, lambda: self.history, self.signing.signers)

    @cached_property
    def batch(self) -> Batch:
        """What was written since the last commit."""
        return Batch(
            self.root,
            lambda subject, trailers, looks: self.history.commit(
                subject, trailers=trailers, looks=looks
            ),
            self.settings.history,
            clock=self.clock,
            trailers=lambda: checkpoint(self.store) if self.copy_id else {},
            lock=self._lock_batches,
        )

    def _lock_batches(self) -> AbstractContextManager[None]:
        # Commits of a log use git in their turn: who waits for the turn must not hold git.
        return self.store.lock("git" if self.store.relay is None else BATCH)

    @cached_property
    def copy_id(self) -> str:
        """Which of all copies of the memory this folder is; empty where nothing can be written."""
        found = copy_id(self.store)
        note_copy(self.home.state, self.settings.memory.id, self.root, found)
        return found

    def other_copies(self) -> list[str]:
        """Return the other folders on this machine that hold this memory."""
        return other_copies(self.home.state, self.settings.memory.id, self.root)

    @cached_property
    def screen(self) -> Screen:
        """What takes secrets and injected blocks out of texts."""
        from kimi_memory.capture.log import Screen

        return Screen(self.host, self._key, self.settings.capture.max_turn_bytes)

    @cached_property
    def index(self) -> Index:
        """The indexes, opened when first asked for."""
        from kimi_memory.index.index import Index

        return Index(
            self.store,
            self.host,
            key=self._key,
            clock=self.clock,
            zone=self.zone,
            sizes=self.settings.chunks,
        )

    @property
    def engine(self) -> Recall:
        """What answers questions; asked by itself, it leaves no receipts."""
        return self._answering[0]

    @property
    def _recall_receipts(self) -> Receipts:
        return self._answering[1]

    @cached_property
    def _answering(self) -> tuple[Recall, Receipts]:
        from kimi_memory.recall.engine import PAUSE_SECONDS, Recall, Receipts

        pause = PAUSE_SECONDS if self.background else 0.0
        receipts = Receipts(self.store, self.clock, pause, self.settings.recall.prompt_days)
        return Recall(self.index, self.host, self.settings.bounded_recall, self.now), receipts

    def has_merges(self) -> bool:
        """Whether something was pulled or merged here that nobody examined yet."""
        folder, store = self.root / ".git", self.store
        if not self.settings.history.git or store.read_only or not folder.exists():
            return False
        # A worktree keeps its log elsewhere: the repair asks git where.
        return not folder.is_dir() or bool(
            list_unexamined(self.root, folder, store.journal.born() / 1e9)
        )

    def written(self) -> None:
        """Note that files were written, so that a commit of them follows."""
        self.batch.note()
        if self.background:
            self.batch.start()

    def refuse_if_deployed(self, what: str, remedy: str) -> None:
        """Refuse what would change this copy of a deployed memory behind its log.

        Raises:
            UsageError: the memory is deployed.
        """
        if self.store.relay is not None:
            why = f"This memory is shared over a change log, which {what} does not reach"
            raise UsageError(f"{why}. {remedy}.")

    def check_leads(self) -> None:
        """Refuse to go on in a deployed memory where another node takes the writes.

        Raises:
            NotPrimaryError: another does, or the log does not answer.
        """
        if self.store.relay is not None:
            self.store.relay.lead()

    def is_secret(self, text: str) -> bool:
        """Whether a text holds what may not be stored."""
        return bool(self.screen.spans(text))

    def mask_secrets(self, text: str) -> str:
        """Return a text without secrets and injected blocks."""
        return self.screen.pass_text(text).text

    def _derive_nonce(self, *about: str) -> str:
        """Return the mark of a block: another for each content, so that none can hold its own.

        The same content in one session has the same block, so that prompt caches keep it.
        """
        # By day: a mark that leaked into a page is worth nothing tomorrow.
        told = "\0".join((str(self.root), f"{self.now():%Y-%m-%d}", *about))
        mark = hmac.new(self._key, told.encode("utf-8", "replace"), hashlib.sha256).hexdigest()
        return lettered(mark[:16])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.close()

    def close(self) -> None:
        """Commit what is pending (in a long-lived process) and let go of the folder."""
        if "_answering" in self.__dict__:
            self._recall_receipts.close()
        # A short process leaves its batch to the next one: a commit takes longer than its work.
        if self.background or "batch" in self.__dict__:
            self.batch.close()
        if self.background and self.batch.pending():
            try:
                self.batch.flush()
            except KimiMemoryError as error:
                # The batch stays pending.
                logging.getLogger("kimi_memory").warning("history is behind: %s", error)
        if self.store.relay is not None:
            self.store.relay.close()
        # The store last: the others still need its folder.
        if "index" in self.__dict__:
            self.index.close()
        if "history" in self.__dict__:
            self.history.close()
        self.store.close()
