"""Signatures of SSH keys, made and checked by OpenSSH itself.

Git's own way to check one would run the program that the settings of a repository name.
Format: https://github.com/openssh/openssh-portable/blob/master/PROTOCOL.sshsig
"""

from __future__ import annotations

import base64
import binascii
import subprocess
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from kimi_memory.errors import SignatureError
from kimi_memory.store.git.command import clean_environment

GIT = "git"
"""What a commit is signed for; a signature for something else is none of a commit."""
STATEMENT = "kimi-memory"
"""What a statement of a memory is signed for."""
_PROGRAM = "ssh-keygen"
# The agent may ask the person for a passphrase.
_SECONDS = 30.0
_BEGIN, _END = b"-----BEGIN SSH SIGNATURE-----", b"-----END SSH SIGNATURE-----"
_HEADER = b"gpgsig "
_MAGIC = b"SSHSIG"
# Longer than any kind of key that OpenSSH knows.
_LONGEST_KEY = 16_384


def sign(key: Path, payload: bytes, purpose: str) -> bytes:
    """Return the signature of some bytes.

    Args:
        key: the file of a key; of a public one, an SSH agent holds the private one.
        payload: the bytes.
        purpose: what they are signed for.

    Raises:
        SignatureError: the key cannot be used without somebody at a keyboard, or is not there.
    """
    code, out, err = _run("-Y", "sign", "-n", purpose, "-f", str(key), feed=payload)
    if code != 0 or not out.startswith(_BEGIN):
        words = [line.strip() for line in err.splitlines() if line.strip()]
        raise SignatureError(
            f"{key} cannot sign: {(words or ['it gave no reason'])[-1].rstrip('.')}",
            "Name a key that needs no password, or add it to your SSH agent",
        )
    return out


def read_key(path: Path) -> str:
    """Return the public key that belongs to a key file, as a line of an authorized_keys file.

    Raises:
        SignatureError: it is no key, or one that needs a password to be read.
    """
    beside = path if path.suffix == ".pub" else path.with_name(f"{path.name}.pub")
    try:
        words = beside.read_text(encoding="utf-8").split()
    except (OSError, UnicodeDecodeError):
        code, out, _ = _run("-y", "-P", "", "-f", str(path))
        words = out.decode("utf-8", "replace").split() if code == 0 else []
    if len(words) < 2 or not is_key(words[0], words[1]):
        raise SignatureError(f"{path} is no SSH key", "Name a file that ssh-keygen made")
    return f"{words[0]} {words[1]}"


def is_key(kind: str, body: str) -> bool:
    """Whether two words of a line are an SSH public key."""
    try:
        raw = base64.b64decode(body, validate=True)
    except (ValueError, binascii.Error):
        # Such a line may be a comment, or an option before the key.
        return False
    return 0 < len(raw) < _LONGEST_KEY and _split_string(raw)[0] == kind.encode()


def key_of(signature: bytes) -> str:
    """Return the public key that a signature says it is of, in base64; empty for none."""
    lines = signature.strip().splitlines()
    if len(lines) < 3 or lines[0] != _BEGIN or lines[-1] != _END:
        return ""
    try:
        raw = base64.b64decode(b"".join(lines[1:-1]), validate=True)
    except (ValueError, binascii.Error):
        return ""
    # The magic, four bytes of a version, then the key as a string.
    found, _ = _split_string(raw[len(_MAGIC) + 4 :])
    return base64.b64encode(found).decode("ascii") if raw.startswith(_MAGIC) else ""


def find_principals(signature: bytes, known: Path, at: datetime) -> list[str]:
    """Return who a file of known signers says the key of a signature belongs to at a moment."""
    with tempfile.NamedTemporaryFile(prefix="kimi-memory-") as file:
        file.write(signature)
        file.flush()
        how = ("-Y", "find-principals", "-f", str(known), "-s", file.name, _verify_time(at))
        code, out, _ = _run(*how)
    return out.decode("utf-8", "replace").splitlines() if code == 0 else []


def is_signed_by(
    principal: str, signature: bytes, payload: bytes, known: Path, *, purpose: str, at: datetime
) -> bool:
    """Whether a signature of some bytes is good, and of a key of a principal."""
    with tempfile.NamedTemporaryFile(prefix="kimi-memory-") as file:
        file.write(signature)
        file.flush()
        who = ("-f", str(known), "-I", principal, "-n", purpose, "-s", file.name)
        return _run("-Y", "verify", *who, _verify_time(at), feed=payload)[0] == 0


def is_sound(signature: bytes, payload: bytes, purpose: str) -> bool:
    """Whether a signature is one of these bytes, with any key."""
    with tempfile.NamedTemporaryFile(prefix="kimi-memory-") as file:
        file.write(signature)
        file.flush()
        how = ("-Y", "check-novalidate", "-n", purpose, "-s", file.name)
        return _run(*how, feed=payload)[0] == 0


def split_commit(raw: bytes) -> tuple[bytes, bytes]:
    """Return a commit as it was signed, and its signature; empty where it has none of SSH."""
    head, blank, message = raw.partition(b"\n\n")
    rest, signature, inside = list[bytes](), list[bytes](), False
    for line in head.split(b"\n"):
        inside = line.startswith(_HEADER) or (inside and line.startswith(b" "))
        if inside:
            signature.append(line.removeprefix(_HEADER) if not signature else line[1:])
        else:
            rest.append(line)
    found = b"\n".join(signature)
    return b"\n".join(rest) + blank + message, found if found.startswith(_BEGIN) else b""


def put_signature(raw: bytes, signature: bytes) -> bytes:
    """Return a commit with a signature in its head."""
    head, blank, message = raw.partition(b"\n\n")
    shown = signature.strip().replace(b"\n", b"\n ")
    return head + b"\n" + _HEADER + shown + blank + message


def _verify_time(at: datetime) -> str:
    return f"-Overify-time={at.astimezone(UTC):%Y%m%d%H%M%SZ}"


def _split_string(raw: bytes) -> tuple[bytes, bytes]:
    end = 4 + int.from_bytes(raw[:4], "big")
    return raw[4:end], raw[end:]


def _run(*arguments: str, feed: bytes = b"") -> tuple[int, bytes, str]:
    """Run ssh-keygen where nobody can be asked for a password."""
    try:
        done = subprocess.run(
            [_PROGRAM, *arguments],
            input=feed,
            env=clean_environment(SSH_ASKPASS_REQUIRE="never"),
            capture_output=True,
            check=False,
            timeout=_SECONDS,
            # Without a terminal it cannot ask.
            start_new_session=True,
        )
    except FileNotFoundError as error:
        raise SignatureError("ssh-keygen is not there", "Install OpenSSH 8.9 or newer") from error
    except subprocess.TimeoutExpired as error:
        why = f"ssh-keygen did not end within {error.timeout:g} seconds"
        raise SignatureError(why, "Use a key that waits for nobody's touch") from error
    return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace")
