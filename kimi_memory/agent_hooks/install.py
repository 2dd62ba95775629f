"""Putting hooks into the settings of agent programs, and taking them out byte for byte."""

from __future__ import annotations

import base64
import contextlib
import difflib
import hashlib
import json
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from kimi_memory.agent_hooks import settings
from kimi_memory.agent_hooks.agent_files import OURS, Place, places_of
from kimi_memory.api.options import Home
from kimi_memory.errors import UsageError
from kimi_memory.lazy_dataclass import dataclass

Step = Literal["install", "remove", "status"]


@dataclass(frozen=True, slots=True)
class Settled:
    """What became of a program's settings."""

    host: str
    path: str
    state: str
    """installed, removed, present or absent; with a dry run "would be installed", and so on."""
    diff: str = ""
    advice: str = ""

    @property
    def ok(self) -> bool:
        """Whether the hooks are as they were asked to be."""
        return self.state != "absent"

    def text(self) -> str:
        """Return the report for people."""
        parts = (self.diff, f"{self.path}: {self.state}", self.advice)
        return "\n".join(part for part in parts if part)


def run_step(
    step: Step, host: str, root: Path, *, dry_run: bool = False, slot: bool = False
) -> Settled:
    """Install, remove or look for what gives a program this memory.

    Args:
        step: what to do.
        host: the program.
        root: the memory its hooks are to use.
        dry_run: return the difference and write nothing.
        slot: take the place of the program's own memory, where it has such a place.

    Raises:
        UsageError: the settings are not what the program itself could read.
    """
    places = places_of(host, root, slot=slot)
    where = str(places[-1].path)
    advice = "" if step == "remove" else settings.ADVICE.get(host, "")
    if step == "status":
        state = "present" if all(_is_installed(place) for place in places) else "absent"
        return Settled(host, where, state, advice=advice)
    # All of them are worked out before the first is written: what cannot be read changes nothing.
    steps = [_Change.from_step(step, host, number, place) for number, place in enumerate(places)]
    if not dry_run:
        for one in steps:
            one.write()
    done = "installed" if step == "install" else "removed"
    if dry_run:
        changes = any(one.after != one.before for one in steps)
        done = f"would be {done}; nothing was written" if changes else "nothing to change"
    return Settled(host, where, done, "\n".join(filter(None, map(_render_diff, steps))), advice)


def _is_installed(place: Place) -> bool:
    return place.path.is_file() and place.mark.encode() in place.path.read_bytes()


@dataclass(frozen=True, slots=True)
class _Change:
    """One file before and after."""

    place: Place
    before: bytes | None
    after: bytes | None
    ledger: _Ledger
    installs: bool

    @classmethod
    def from_step(cls, step: Step, host: str, number: int, place: Place) -> _Change:
        before = place.path.read_bytes() if place.path.is_file() else None
        name = f"{host}.{number}.json" if number else f"{host}.json"
        ledger = _Ledger(Home.of_user().state / "hooks" / name)
        if step == "install":
            after: bytes | None = place.install(_decode_text(before, place.path)).encode()
        else:
            after = _content_after_removal(place, before, ledger)
        return cls(place, before, after, ledger, step == "install")

    def write(self) -> None:
        # A file that is right already keeps its time of change, and the ledger its record.
        if self.after == self.before:
            return
        _write_atomically(self.place.path, self.after)
        self.ledger.note(self.before, self.after) if self.installs else self.ledger.forget()
        if self.place.ours and self.after is None:
            _remove_empty_folder(self.place.path.parent)


def _remove_empty_folder(folder: Path) -> None:
    """Remove a folder of ours that is empty, and what Python compiled in it."""
    if folder.name not in OURS:
        return
    for compiled in folder.glob("__pycache__/*.pyc"):
        compiled.unlink()
    for empty in (folder / "__pycache__", folder):
        # A folder that still holds something of the person's own stays.
        with contextlib.suppress(OSError):
            empty.rmdir()


def _content_after_removal(place: Place, before: bytes | None, ledger: _Ledger) -> bytes | None:
    """Return a file without ours: the very bytes of before, if nobody wrote since."""
    found, original = ledger.original(before)
    if found:
        return original
    if before is None or place.mark.encode() not in before:
        return before
    return place.remove(_decode_text(before, place.path)).encode() or None


def _decode_text(content: bytes | None, place: Path) -> str:
    try:
        return (content or b"").decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{place} is not UTF-8 ({error.reason}). Save it as UTF-8.") from error


def _write_atomically(place: Path, content: bytes | None) -> None:
    """Replace a file whole or not at all; keep who may read it."""
    if content is None:
        place.unlink(missing_ok=True)
        return
    target = place.resolve()  # People keep settings as links into a repository of theirs.
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    # Settings may hold keys of the person: nobody else may read the new file either.
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o600
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    part.replace(target)


def _render_diff(change: _Change) -> str:
    sides = (change.before, change.after)
    old, new = ((side or b"").decode("utf-8", "replace").splitlines() for side in sides)
    name = str(change.place.path)
    return "\n".join(difflib.unified_diff(old, new, name, name, lineterm="", n=2))


class _Ledger:
    """The bytes that stood in a program's settings before ours, kept in the user's state."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def note(self, before: bytes | None, after: bytes | None) -> None:
        """Keep what to go back to; a second install goes back to before the first."""
        known = self._read_record()
        # The file is as we left it: what it was before us is already kept.
        if known and known.get("after") == _hash_content(before):
            kept = known.get("before")
        else:
            kept = None if before is None else base64.b64encode(before).decode()
        record = json.dumps({"before": kept, "after": _hash_content(after)}).encode()
        _write_atomically(self._path, record)

    def original(self, now: bytes | None) -> tuple[bool, bytes | None]:
        """Return whether the file is as we left it, and the bytes from before."""
        known = self._read_record()
        if not known or known.get("after") != _hash_content(now):
            return False, None
        kept = known.get("before")
        return True, None if kept is None else base64.b64decode(kept)

    def forget(self) -> None:
        """Remove the record."""
        self._path.unlink(missing_ok=True)

    def _read_record(self) -> Mapping[str, Any] | None:
        try:
            found = json.loads(self._path.read_bytes())
        except (OSError, ValueError):
            # Without a record nothing is taken for ours, so nothing of a person's is removed.
            return None
        return found if isinstance(found, dict) else None


def _hash_content(content: bytes | None) -> str:
    return "" if content is None else hashlib.sha256(content).hexdigest()
