"""Encryption of the bundles in a drop folder, with the keys that its remote names."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from kimi_memory.api.memory import Memory
from kimi_memory.errors import UsageError
from kimi_memory.operations.bundles import open_bundle
from kimi_memory.operations.encryption import encrypt_file, is_encrypted, read_recipients
from kimi_memory.operations.remotes import open_remotes
from kimi_memory.store.git.bundle import Bundle
from kimi_memory.store.git.drops import PLAIN, Envelope
from kimi_memory.store.git.remotes import Remote


def find_envelope(memory: Memory, folder: Path) -> Envelope:
    """Return how bundles of a drop folder are encrypted, as the remote that it is says."""
    remote = _find_remote(memory, folder)
    if remote is None or not remote.recipients:
        return replace(PLAIN, open=partial(_open_bundle, None))
    recipients = remote.recipients
    return Envelope(
        hashlib.sha256("\n".join(sorted(recipients)).encode()).hexdigest()[:16],
        lambda path, to: encrypt_file(path, to, read_recipients(recipients)),
        partial(_open_bundle, Path(remote.identity) if remote.identity else None),
    )


def _find_remote(memory: Memory, folder: Path) -> Remote | None:
    # Through a link it is the same folder: nothing may be sent there in plain.
    known, place = open_remotes(memory).read(), folder.resolve()
    return next((one for one in known if one.drop and Path(one.url).resolve() == place), None)


@contextmanager
def _open_bundle(identity: Path | None, path: Path) -> Iterator[Bundle]:
    if identity is None and is_encrypted(path):
        raise UsageError(
            f"{path} is encrypted. Remove the remote, and add it with --encrypt and --identity."
        )
    with open_bundle(path, identity) as bundle:
        yield bundle


def check_dropped(memory: Memory, folder: Path, path: Path) -> bool:
    """Read each byte of a bundle in a drop folder; False where there is no key for it here.

    Raises:
        UsageError: it is damaged.
    """
    remote = _find_remote(memory, folder)
    if is_encrypted(path) and not (remote and remote.identity):
        return False
    with find_envelope(memory, folder).open(path):
        return True
