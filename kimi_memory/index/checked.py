"""What was checked before: index files whose every byte held, and how they looked then.

To hash the index of 100,000 notes takes longer than to answer from it, so a process does not
repeat what one did today, as long as neither size, change time nor inode of a file changed: that
time cannot be set back. Signed by this machine like the manifest, and good for a day:
what a disk forgets without being written is found then.
"""

from __future__ import annotations

import hmac
import json
import os
import secrets
import time
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from kimi_memory.store.files.stat import UNKNOWN, Stat, settled_stat, signature

NAME = "CHECKED"
GOOD_NS = 24 * 3600 * 1_000_000_000


class Checked:
    """The files of one generation that were checked.

    Args:
        path: where it is written down.
        key: the machine's own secret.
        folder: name of the generation.
    """

    def __init__(self, path: Path, key: bytes, folder: str) -> None:
        self._path, self._key, self._folder = path, key, folder
        self._now = time.time_ns()
        self._at = self._now
        self._held = self._load_checks()
        self._news = False

    def holds(self, name: str, found: os.stat_result, digest: str) -> bool:
        """Whether a file that looks like this was found to have a digest."""
        return self._held.get(name) == (signature(found), digest)

    def note(self, name: str, found: os.stat_result, digest: str) -> None:
        """Remember that a file that looked like this had a digest afterwards."""
        # A file that changed a moment ago may change again within the same tick of the clock.
        look = settled_stat(signature(found), self._now)
        if look != UNKNOWN:
            self._held[name], self._news = (look, digest), True

    def save(self) -> None:
        """Write down what was found now; where that fails, it is found again."""
        if not self._news:
            return
        rows = [(name, *look, digest) for name, (look, digest) in self._held.items()]
        body = json.dumps([self._folder, self._at, rows], separators=(",", ":")).encode()
        beside = self._path.with_name(f"{NAME}.{secrets.token_hex(4)}")
        with suppress(OSError):
            beside.write_bytes(self._compute_mac(body) + b"\n" + body)
            # Whole or not at all: another process may read it just now.
            beside.replace(self._path)
            return
        with suppress(OSError):
            beside.unlink()

    def _load_checks(self) -> dict[str, tuple[Stat, str]]:
        try:
            mac, _, body = self._path.read_bytes().partition(b"\n")
        except OSError:
            return {}
        if not hmac.compare_digest(mac, self._compute_mac(body)):
            return {}
        folder, at, rows = json.loads(body)
        # Not from the future either: a clock that was set back would trust it for years.
        if folder != self._folder or not 0 <= self._now - at < GOOD_NS:
            return {}
        self._at = at
        return {name: ((size, at, inode), digest) for name, size, at, inode, digest in rows}

    def _compute_mac(self, body: bytes) -> bytes:
        # With a name in front, so that no other text signed with this key can stand here.
        return hmac.new(self._key, b"checked 2\n" + body, sha256).hexdigest().encode()
