"""Signatures by SSH keys, and known signers: how far what a key signed is trusted.

The keys that a person knows stand in the user's config directory, in OpenSSH's own format;
levels stand in ``trust.toml``.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import subprocess
import tempfile
import tomllib
from datetime import UTC, date, datetime
from pathlib import Path
from typing import NamedTuple

from kimi_memory.domain.note import Origin
from kimi_memory.errors import HistoryError, NotFoundError, SignatureError, UsageError
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.store.files.disk import put
from kimi_memory.store.git.command import clean_environment

KEYS = "allowed_signers"
LEVELS = "trust.toml"
# It stands in messages and in commits.
_LONGEST_NAME = 100

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


_ASKED = re.compile(r"^Enter passphrase[^:]*: ")


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
        # What it asks for at a keyboard stands on the line of its reason.
        words = [_ASKED.sub("", line).strip() for line in err.splitlines() if line.strip()]
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
