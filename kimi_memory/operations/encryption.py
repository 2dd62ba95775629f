"""Encryption of files for their recipients with age, by the library pyrage."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from kimi_memory.errors import UsageError
from kimi_memory.store.files.outside import write_whole

_MAGIC = b"age-encryption.org/v1\n"
_KEY_BEGINS = "AGE-SECRET-KEY-"


class Encryption(NamedTuple):
    """For whom files are encrypted, and what reads those of others."""

    recipients: Sequence[str] = ()
    """Each ``age1…``, a line of an SSH public key, or a file with such lines."""
    identity: Path | None = None
    """A file of age, or a private SSH key."""


def is_encrypted(path: Path) -> bool:
    """Whether a file begins as one that age encrypted."""
    try:
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False  # Who reads it says why.


def read_recipients(texts: Sequence[str]) -> list[Any]:
    """Return the recipients that a person named.

    Args:
        texts: each ``age1…``, a line of an SSH public key, or a file with such lines.

    Raises:
        UsageError: one is none, or the library is missing.
    """
    pyrage, found = _load_library(), []
    for text in texts:
        for line in read_lines(text):
            kind = pyrage.ssh if line.startswith("ssh-") else pyrage.x25519
            try:
                found.append(kind.Recipient.from_str(line))
            except pyrage.RecipientError as error:
                raise UsageError(
                    f"{line[:80]!r} is no recipient ({error}). Give 'age1…', a line of an SSH "
                    "public key, or a file with such lines."
                ) from error
    return found


def read_lines(text: str) -> Iterator[str]:
    """Yield the lines of a file of recipients, or the text where it names none."""
    place = Path(text)
    with suppress(OSError, UnicodeDecodeError):  # A key is no name of a file.
        text = place.read_text(encoding="utf-8") if place.is_file() else text
    lines = (line.strip() for line in text.splitlines())
    yield from (line for line in lines if line and not line.startswith("#"))


def read_identity(path: Path) -> list[Any]:
    """Return the identities of a file: lines of age, or a private key of SSH.

    Raises:
        UsageError: it is none, cannot be read, or the library is missing.
    """
    pyrage = _load_library()
    try:
        content = path.read_bytes()
        lines = content.decode("utf-8", "replace").split()
        keys = [line for line in lines if line.startswith(_KEY_BEGINS)]
        if keys:
            return [pyrage.x25519.Identity.from_str(key) for key in keys]
        return [pyrage.ssh.Identity.from_buffer(content)]
    except (OSError, pyrage.IdentityError) as error:
        raise UsageError(
            f"{path} is no identity ({error}). Give a file of age, or a private SSH key."
        ) from error


def encrypt_file(path: Path, to: Path, recipients: Sequence[Any]) -> None:
    """Write an encrypted file under its name once it is whole.

    Raises:
        UsageError: it cannot be written.
    """
    pyrage = _load_library()
    with write_whole(to) as part:
        _run(to, lambda: pyrage.encrypt_file(str(path), str(part), recipients), part)


def decrypt_file(path: Path, to: Path, identity: Path | None) -> None:
    """Write what an encrypted file holds into another one.

    Raises:
        UsageError: no identity was given, it is for others, or it is damaged.
    """
    if identity is None:
        raise UsageError(f"{path} is encrypted. Give --identity FILE with the key it is for.")
    pyrage, keys = _load_library(), read_identity(identity)
    _run(path, lambda: pyrage.decrypt_file(str(path), str(to), keys), to)


def encrypt_bytes(content: bytes, recipients: Sequence[Any]) -> bytes:
    """Return what only some recipients can read."""
    found: bytes = _load_library().encrypt(content, recipients)
    return found


def decrypt_bytes(content: bytes, identity: Path, place: Path) -> bytes:
    """Return what was encrypted for an identity.

    Args:
        content: what was encrypted.
        identity: a file of age, or a private SSH key.
        place: where it stands, for the message.

    Raises:
        UsageError: it is for others, or damaged.
    """
    pyrage, keys = _load_library(), read_identity(identity)
    try:
        found: bytes = pyrage.decrypt(content, keys)
    except pyrage.DecryptError as error:
        raise UsageError(f"{place}: {error}. It is for another key, or damaged.") from error
    return found


def _run(path: Path, work: Callable[[], object], made: Path) -> None:
    pyrage = _load_library()
    try:
        work()
    except (OSError, pyrage.DecryptError, pyrage.EncryptError) as error:
        made.unlink(missing_ok=True)
        raise UsageError(
            f"{path}: {error}. It is for another key, damaged, or the disk refused it; nothing "
            "was taken or written."
        ) from error


def _load_library() -> Any:
    try:
        return importlib.import_module("pyrage")
    except ImportError as error:
        raise UsageError("Encryption needs the library pyrage: kimi-memory[encrypt].") from error
