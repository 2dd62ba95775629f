"""Remotes: the places a memory is synced with, as its owner named them.

They stand in the user's config directory by the id of the memory, never in the memory itself: a
folder from elsewhere must not say where anything is sent.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from pathlib import Path
from urllib.parse import unquote, urlsplit

from kimi_memory.domain.ids import safe_session_id
from kimi_memory.errors import HistoryError, NotFoundError, UsageError
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.store.files.disk import put
from kimi_memory.store.git.command import Git, decode
from kimi_memory.store.git.read import is_plain_name

_SCHEMES = ("https", "ssh", "file")
_HELPER = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*::")
_OF_SSH = re.compile(r"(?:[\w.+-]+@)?(?:[\w.-]+|\[[0-9A-Fa-f:.]+\]):(?P<path>.+)")
_FITS = "Give https://…, ssh://…, user@host:path or a folder"
# It stands in messages and as the name of a folder.
_LONGEST_NAME = 40


@dataclass(frozen=True, slots=True)
class Remote:
    """A place this memory is synced with."""

    name: str
    url: str
    """For git, or a folder's whole path."""
    drop: bool = False
    """Whether it is a folder of bundles that something else carries from copy to copy."""
    role: str = ""
    """What its owner takes it for: primary, replica or cache."""
    since: str = ""
    """When it was added."""
    recipients: tuple[str, ...] = ()
    """The keys of age or SSH that what is sent there is encrypted for; none where it is plain."""
    identity: str = ""
    """The file with the private key that reads what others sent."""


def check_name(name: str) -> str:
    """Return the name of a remote; UsageError where it cannot be one."""
    if not is_plain_name(name, "-_") or len(name) > _LONGEST_NAME:
        raise UsageError(
            f"{name[:_LONGEST_NAME]!r} cannot be a remote's name. Use letters, digits, '-' and "
            f"'_', {_LONGEST_NAME} at most."
        )
    return name


def check_url(url: str) -> str:
    """Return a URL that git may be given; of a folder its whole path.

    Raises:
        UsageError: git would run a program for it, or it is none that we use.
    """
    shown = url[:200]
    if not url or url.startswith("-") or any(ord(sign) < 32 or ord(sign) == 127 for sign in url):
        raise UsageError(f"{shown!r} is no URL. {_FITS}.")
    if _HELPER.match(url):
        raise UsageError(f"{shown!r} names a program that git would run. {_FITS}.")
    if "://" in url:
        return _check_scheme(url)
    # As git has it: with a colon before the first slash it is a place on another machine.
    place = _OF_SSH.fullmatch(url)
    if ":" not in url.partition("/")[0]:
        return str(Path(url).resolve())
    if place is None or url.startswith(("-", "@")) or "@-" in url or place["path"][0] == "-":
        raise UsageError(f"{shown!r} is no URL. {_FITS}.")
    return url


def _check_scheme(url: str) -> str:
    try:
        found = urlsplit(url)
        host, password = found.hostname or "", found.password
    except ValueError:
        raise UsageError(f"{url[:200]!r} is no URL. {_FITS}.") from None
    if found.scheme not in _SCHEMES:
        raise UsageError(f"Remotes are not reached by {found.scheme}. {_FITS}.")
    if password is not None:
        # Messages, process lists and backups of settings would show it.
        raise UsageError(
            f"The URL of {host} holds a password. Leave it out; git's credential helper keeps it."
        )
    named = not host if found.scheme == "file" else host
    if not named or host.startswith("-") or (found.username or "").startswith("-"):
        raise UsageError(f"{url[:200]!r} names no server. {_FITS}.")
    return url


class Remotes:
    """The remotes of one memory.

    Args:
        config: the user's config directory.
        memory: the id of the memory.
    """

    def __init__(self, config: Path, memory: str) -> None:
        self._place = config / "remotes" / f"{safe_session_id(memory or 'none')}.json"

    def read(self) -> list[Remote]:
        """Return them in the order of their names.

        Raises:
            UsageError: the file cannot be read; it is left as it is.
        """
        try:
            rows = json.loads(self._place.read_bytes())["remotes"]
            found = [
                Remote(
                    check_name(str(row["name"])),
                    check_url(str(row["url"])),
                    bool(row["drop"]),
                    str(row.get("role", "")),
                    str(row.get("since", "")),
                    tuple(map(str, row.get("recipients", ()))),
                    str(row.get("identity", "")),
                )
                for row in rows
            ]
        except FileNotFoundError:
            # No remote was ever added.
            return []
        except (OSError, ValueError, KeyError, TypeError, AttributeError, UsageError) as error:
            raise UsageError(
                f"{self._place} cannot be read ({error}). Mend or delete it."
            ) from error
        return sorted(found, key=lambda one: one.name)

    def find(self, name: str) -> Remote:
        """Return the remote of a name; NotFoundError where there is none."""
        found = [one for one in self.read() if one.name == name]
        if not found:
            raise NotFoundError("remote", name)
        return found[0]

    def add(self, remote: Remote) -> None:
        """Add a remote; UsageError where its name or its place is taken."""
        known = self.read()
        for one in known:
            if remote.name == one.name or remote.url == one.url:
                raise UsageError(
                    f"{one.name} is {one.url} already. Remove it first, or choose another."
                )
        self._write([*known, remote])

    def remove(self, name: str) -> Remote:
        """Remove a remote; NotFoundError where there is none."""
        gone = self.find(name)
        self._write([one for one in self.read() if one != gone])
        return gone

    def _write(self, remotes: list[Remote]) -> None:
        rows = {"remotes": [asdict(one) for one in remotes]}
        try:
            put(self._place, json.dumps(rows, ensure_ascii=False, indent=2).encode(), sync=True)
        except HistoryError as error:
            raise UsageError(str(error)) from error


def find_configured(root: Path) -> list[Remote]:
    """Return what the repository of a memory itself names as remotes, where we would use it."""
    place = root / ".git"
    if place.is_symlink() or not place.is_dir():
        return []
    how = ("--local", "--no-includes", "-z", "--get-regexp", r"^remote\..*\.url$")
    rows = Git(root, place).call("config", *how).out.split(b"\0")[:-1]
    found = dict[str, Remote]()
    for row in map(decode, rows):
        key, _, url = row.partition("\n")
        try:
            name = check_name(key.removeprefix("remote.").removesuffix(".url"))
            found.setdefault(name, Remote(name, check_url(url)))
        except UsageError:
            continue  # It may come from somebody else; nothing of it need be said.
    return sorted(found.values(), key=lambda one: one.name)


def find_folder(url: str) -> Path | None:
    """Return the folder that a URL names; None for a server."""
    if url.startswith("file:"):
        return Path(unquote(urlsplit(url).path))
    return Path(url) if url.startswith("/") else None
