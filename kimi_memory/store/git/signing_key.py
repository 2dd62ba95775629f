"""The key that signs commits, and what each of them says of the files that wait."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from kimi_memory.errors import SignatureError
from kimi_memory.store.git.command import Git, one_line
from kimi_memory.store.git.head import blob_of
from kimi_memory.store.git.loose import name_commit, write_commit
from kimi_memory.store.git.signers import GIT, put_signature, sign
from kimi_memory.store.git.tree import Difference

WAITS = "Unconfirmed"
"""The trailer that names a file which waited; one line a file."""
NONE = "none"
"""What stands there where no file waited."""
_MOST = 200
"""A memory in which more files wait vouches for nothing."""
log = logging.getLogger("kimi_memory.store.git.signing_key")


NAME_KEY = "Name yours with 'kimi-memory config set signing.key FILE'."
"""What to do where there is none."""


class SigningKey(NamedTuple):
    """What signs the commits of a memory."""

    key: Path
    waiting: Callable[[], Sequence[str]]
    """Returns the files that wait for a person's word now."""
    root: Path
    strict: bool = False
    """Whether a commit that cannot be signed is not made."""

    def describe(self, message: bytes, differences: Iterable[Difference]) -> bytes:
        """Return a commit's message with the trailers that say what waits.

        Args:
            message: the whole of it.
            differences: what the commit changes.
        """
        paths = dict.fromkeys(self.waiting())
        # What somebody wrote after it was taken into the commit may have waited, or not.
        paths |= dict.fromkeys(one.path for one in differences if self._is_otherwise(one))
        if len(paths) > _MOST or any(one_line(path) != path for path in paths):
            return message
        lines = [f"{WAITS}: {path}" for path in sorted(paths)] or [f"{WAITS}: {NONE}"]
        # The last paragraph of a message is that of the trailers.
        gap = b"" if b"\n\n" in message.strip() else b"\n"
        return message + gap + "".join(f"{line}\n" for line in lines).encode()

    def _is_otherwise(self, difference: Difference) -> bool:
        if difference.new is None:
            return False
        try:
            content = (self.root / difference.path).read_bytes()
        except OSError:
            # What we cannot read we cannot vouch for.
            return True
        return blob_of(content) != difference.new.blob

    def sign(self, git: Git, commit: str, raw: bytes = b"") -> str:
        """Return a commit with its signature; without one where the key cannot be used.

        Args:
            git: the repository.
            commit: its name.
            raw: what it says, where that is known.

        Raises:
            SignatureError: it cannot, and must.
        """
        # To ask git what it just wrote takes as long as to sign it.
        known = raw if name_commit(raw) == commit else git.run("cat-file", "commit", commit)
        try:
            return write_commit(git, put_signature(known, sign(self.key, known, GIT)))
        except SignatureError as error:
            if self.strict:
                raise
            # What is written must be committed, whatever becomes of a key.
            log.warning("a commit is not signed: %s", error)
            return commit
