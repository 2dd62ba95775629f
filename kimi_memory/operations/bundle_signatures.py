"""Signatures beside bundles: who wrote a file, which anybody can check with OpenSSH.

What is signed is the line that ``sha256sum`` prints of the file, as nobody wants to feed
gigabytes to ssh-keygen. What a signature of a bundle says of its commits is nothing: each of
them counts as far as it is signed itself.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from kimi_memory.errors import HistoryError, SignatureError, UsageError
from kimi_memory.store.files.disk import put
from kimi_memory.store.git.signers import STATEMENT, Signers, is_sound, sign
from kimi_memory.store.git.signing_key import NAME_KEY, SigningKey

SUFFIX = ".sig"
# A signature has some hundred bytes; the file beside a bundle may be anything.
_LONGEST = 1 << 16


def find_signing_key(key: SigningKey | None, path: Path) -> Path:
    """Return the key that will sign a file.

    Raises:
        UsageError: the user chose none, or there is a signature already.
    """
    if key is None:
        raise UsageError(f"Nothing to sign with. {NAME_KEY}")
    if signature_of(path).exists():
        raise UsageError(f"{signature_of(path)} is there already. Name another file.")
    return key.key


def sign_file(key: Path, path: Path) -> None:
    """Write the signature of a file beside it.

    Raises:
        SignatureError: the key cannot be used.
        UsageError: it cannot be written.
    """
    try:
        put(signature_of(path), sign(key, _read_sum(path), STATEMENT))
    except HistoryError as error:
        raise UsageError(str(error)) from error


def find_file_signer(signers: Signers, path: Path) -> str | None:
    """Return who signed a file, empty for nobody known; None where no signature lies beside it.

    Raises:
        SignatureError: the signature is not of this file as it is.
    """
    try:
        with signature_of(path).open("rb") as file:
            signature = file.read(_LONGEST)
    except OSError:
        # Unsigned bundles are taken in, too, and count for less.
        return None
    payload = _read_sum(path)
    if not is_sound(signature, payload, STATEMENT):
        why = f"{signature_of(path)} is no signature of {path} as it is now"
        raise SignatureError(why, "Have the file sent again; nothing of it was taken")
    return signers.judge(signature, payload, purpose=STATEMENT).principal


def signature_of(path: Path) -> Path:
    """Return where the signature of a file lies."""
    return path.with_name(f"{path.name}{SUFFIX}")


def _read_sum(path: Path) -> bytes:
    """Return what ``sha256sum`` prints of a file that is fed to it."""
    with path.open("rb") as file:
        return f"{hashlib.file_digest(file, 'sha256').hexdigest()}  -\n".encode()
