"""Known signers: SSH keys that a person knows, and how far what they signed is trusted.

They stand in the user's config directory: keys in OpenSSH's own format, levels in ``trust.toml``.
"""

from __future__ import annotations

import json
import tomllib
from datetime import UTC, date, datetime
from pathlib import Path
from typing import NamedTuple

from kimi_memory.domain.note import Origin
from kimi_memory.errors import HistoryError, NotFoundError, UsageError
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.store.files.cache_files import put
from kimi_memory.store.git.signatures import (
    GIT,
    STATEMENT,
    find_principals,
    is_key,
    is_signed_by,
    key_of,
)

KEYS = "allowed_signers"
LEVELS = "trust.toml"
# It stands in messages and in commits.
_LONGEST_NAME = 100


class Signed(NamedTuple):
    """Who signed something, and what that is worth."""

    principal: str = ""
    """Empty for nobody who is known."""
    level: Origin = Origin.REMOTE
    """What a signature of theirs makes of what they wrote."""
    false: bool = False
    """Whether it names a known key, but is not a signature of it over these bytes."""


@dataclass(frozen=True, slots=True)
class Signer:
    """A key that a person knows."""

    principal: str
    level: Origin
    key: str
    """As a line of an authorized_keys file has it."""
    until: str = ""
    """The day from which on it counts no more; empty for none."""


class Signers:
    """The keys that a person knows.

    Args:
        config: the user's config directory.
    """

    def __init__(self, config: Path) -> None:
        self._keys, self._levels = config / KEYS, config / LEVELS
        self._found: dict[str, list[str]] = {}

    def known(self) -> bool:
        """Whether there are any."""
        return self._keys.is_file()

    def read(self) -> list[Signer]:
        """Return them in the order of the file.

        Raises:
            UsageError: one of the files cannot be read.
        """
        levels = self._read_levels()
        found = []
        for line in self._read_lines():
            words = _split_words(line)
            places = [at for at, word in enumerate(words) if is_key(word, _word(words, at + 1))]
            if line.startswith("#") or not places:
                continue
            key = " ".join(words[places[0] : places[0] + 2])
            options = dict(one.split("=", 1) for one in _split_options(words[1]) if "=" in one)
            until = options.get("valid-before", "").strip('"')
            level = levels.get(words[0], Origin.REMOTE)
            found.append(Signer(words[0], level, key, until))
        return found

    def add(self, principal: str, key: str, level: Origin, until: date | None = None) -> Signer:
        """Add a key, or give one that is known another level.

        Raises:
            UsageError: the name or the key cannot be used.
        """
        words = key.split()
        if len(words) < 2 or not is_key(words[0], words[1]):
            raise UsageError("That is no SSH public key. Give a .pub file of ssh-keygen.")
        fits = principal and len(principal) <= _LONGEST_NAME and principal.isprintable()
        if not fits or set(principal) & set(' ,"#*?!') or not principal[0].isalnum():
            raise UsageError(f"{principal[:40]!r} cannot be a signer's name. Use li@desk or so.")
        plain = f"{words[0]} {words[1]}"
        others = [one for one in self.read() if one.key == plain and one.principal != principal]
        if others:
            raise UsageError(f"That is the key of {others[0].principal} already. Remove it first.")
        day = f"{until:%Y%m%d}" if until else ""
        limit = f',valid-before="{day}"' if until else ""
        line = f'{principal} namespaces="{GIT},{STATEMENT}"{limit} {plain}'
        kept = [one for one in self._read_lines() if words[1] not in one.split()]
        # The level first: without one, a key counts for nothing.
        self._write_levels({**self._read_levels(), principal: level})
        self._write(self._keys, "".join(f"{one}\n" for one in [*kept, line]))
        return Signer(principal, level, plain, day)

    def remove(self, principal: str) -> list[Signer]:
        """Remove all keys of a signer; NotFoundError where there are none."""
        gone = [one for one in self.read() if one.principal == principal]
        if not gone:
            raise NotFoundError("signer", principal)
        kept = [line for line in self._read_lines() if _split_words(line)[:1] != [principal]]
        self._write(self._keys, "".join(f"{one}\n" for one in kept))
        levels = self._read_levels()
        levels.pop(principal, None)
        self._write_levels(levels)
        return gone

    def judge(
        self, signature: bytes, payload: bytes, *, purpose: str = GIT, at: datetime | None = None
    ) -> Signed:
        """Return who signed some bytes.

        Args:
            signature: as OpenSSH writes it; empty for none.
            payload: the bytes.
            purpose: what they were signed for.
            at: the moment at which the key had to be known; now if not given, as who stole an
                old key can give a commit any date.
        """
        key = key_of(signature)
        moment = at or datetime.now(UTC)
        if not key or not self._may_know(key):
            return Signed()
        found = find_principals(signature, self._keys, moment)
        if not found:
            return Signed()
        principal, keys = found[0], self._keys
        if not is_signed_by(principal, signature, payload, keys, purpose=purpose, at=moment):
            return Signed(principal, false=True)
        return Signed(principal, self._read_levels().get(principal, Origin.REMOTE))

    def _may_know(self, key: str) -> bool:
        # A process for each commit of strangers would cost more than the merge.
        lines = self._read_lines()
        return any(key in line or "cert-authority" in line for line in lines)

    def _read_lines(self) -> list[str]:
        try:
            return self._keys.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            # The user knows no keys yet.
            return []
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{self._keys} cannot be read: {error}. Mend it.") from error

    def _read_levels(self) -> dict[str, Origin]:
        try:
            rows = tomllib.loads(self._levels.read_text(encoding="utf-8")).get("signers", {})
            return {str(name): Origin(level) for name, level in rows.items()}
        except FileNotFoundError:
            # Every key then has the level that keys have by default.
            return {}
        except (OSError, ValueError, AttributeError) as error:
            raise UsageError(f"{self._levels} cannot be read: {error}. Mend it.") from error

    def _write_levels(self, levels: dict[str, Origin]) -> None:
        rows = [
            f"{json.dumps(name, ensure_ascii=False)} = {json.dumps(str(one))}"
            for name, one in levels.items()
        ]
        self._write(self._levels, "\n".join(["[signers]", *rows, ""]))

    def _write(self, path: Path, text: str) -> None:
        try:
            put(path, text.encode(), sync=True)
        except HistoryError as error:
            raise UsageError(str(error)) from error


def _word(words: list[str], at: int) -> str:
    return words[at] if at < len(words) else ""


def _split_words(line: str) -> list[str]:
    """Return the words of a line; blanks in quotes do not end one."""
    found, quoted = [""], False
    for sign in line.strip():
        quoted ^= sign == '"'
        if sign in " \t" and not quoted:
            found.append("")
        else:
            found[-1] += sign
    return [word for word in found if word]


def _split_options(word: str) -> list[str]:
    return [part for part in word.replace('",', '"\n').split("\n") if part]
