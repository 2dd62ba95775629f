"""Putting hooks into the settings of agent programs, and taking them out byte for byte."""

from __future__ import annotations

import base64
import difflib
import hashlib
import json
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from kimi_memory.errors import UsageError
from kimi_memory.home import Home
from kimi_memory.surfaces.hook import settings

Step = Literal["install", "remove", "status"]


@dataclass(frozen=True, slots=True)
class Settled:
    """What became of a program's settings."""

    host: str
    path: str
    state: str
    """installed, removed, present, absent, or changed by somebody else."""
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


def settle(step: Step, host: str, root: Path, *, dry_run: bool = False) -> Settled:
    """Install, remove or look for the hooks of one program.

    Args:
        step: what to do.
        host: the program.
        root: the memory its hooks are to use.
        dry_run: return the difference and write nothing.

    Raises:
        UsageError: the settings are not what the program itself could read.
    """
    place = settings.place_of(host)
    before = place.read_bytes() if place.is_file() else None
    if step == "status":
        state = "present" if before and settings.MARK.encode() in before else "absent"
        return Settled(host, str(place), state, advice=settings.ADVICE.get(host, ""))
    ledger = _Ledger(Home.of_user().state / "hooks" / f"{host}.json")
    if step == "install":
        after: bytes | None = settings.install(host, _text(before, place), root, place).encode()
    else:
        after = _removed(host, before, ledger, place)
    if not dry_run and after != before:
        _write(place, after)
        ledger.note(before, after) if step == "install" else ledger.forget()
    done = "installed" if step == "install" else "removed"
    advice = settings.ADVICE.get(host, "") if step == "install" else ""
    return Settled(host, str(place), done, _diff(before, after, place), advice)


def _removed(host: str, before: bytes | None, ledger: _Ledger, place: Path) -> bytes | None:
    """Return the settings without ours: the very bytes of before, if nobody wrote since."""
    found, original = ledger.original(before)
    if found:
        return original
    if before is None or settings.MARK.encode() not in before:
        return before
    return settings.remove(host, _text(before, place), place).encode()


def _text(content: bytes | None, place: Path) -> str:
    try:
        return (content or b"").decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{place} is not UTF-8 ({error.reason}). Save it as UTF-8.") from error


def _write(place: Path, content: bytes | None) -> None:
    """Replace a file whole or not at all; keep who may read it."""
    if content is None:
        place.unlink(missing_ok=True)
        return
    target = place.resolve()  # People keep settings as links into a repository of theirs.
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o600
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    part.replace(target)


def _diff(before: bytes | None, after: bytes | None, place: Path) -> str:
    old, new = ((side or b"").decode("utf-8", "replace").splitlines() for side in (before, after))
    return "\n".join(difflib.unified_diff(old, new, str(place), str(place), lineterm="", n=2))


class _Ledger:
    """The bytes that stood in a program's settings before ours, kept in the user's state."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def note(self, before: bytes | None, after: bytes | None) -> None:
        """Keep what to go back to; a second install goes back to before the first."""
        known = self._read()
        if known and known.get("after") == _sum(before):
            kept = known.get("before")
        else:
            kept = None if before is None else base64.b64encode(before).decode()
        record = json.dumps({"before": kept, "after": _sum(after)}).encode()
        _write(self._path, record)

    def original(self, now: bytes | None) -> tuple[bool, bytes | None]:
        """Return whether the file is as we left it, and the bytes from before."""
        known = self._read()
        if not known or known.get("after") != _sum(now):
            return False, None
        kept = known.get("before")
        return True, None if kept is None else base64.b64decode(kept)

    def forget(self) -> None:
        """Remove the record."""
        self._path.unlink(missing_ok=True)

    def _read(self) -> Mapping[str, Any] | None:
        try:
            found = json.loads(self._path.read_bytes())
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) else None


def _sum(content: bytes | None) -> str:
    return "" if content is None else hashlib.sha256(content).hexdigest()
