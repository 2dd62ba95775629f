"""Keys of a node: its own, which signs and opens, and those of the others, which it believes.

The node's own key is an Ed25519 key as OpenSSH writes it, in the user's configuration. Those of
other nodes stand beside it in ``cluster_nodes``, a line for each: a name and a public key.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import importlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from kimi_memory.errors import SignatureError, UsageError
from kimi_memory.store.files.disk import put

KEY_FILE, NODES_FILE, MARKS_FILE = "node_ed25519", "cluster_nodes", "cluster_marks.json"
_NONCE = 12
"""Bytes that AES-GCM wants anew for each text."""


class Mark(NamedTuple):
    """What was seen of a log, and is not taken back by anything the log says later."""

    signed: int = 0
    """The first record known to be signed: every later one has to be; 0 for none."""
    key: int = 0
    """Number of the newest key that seals it; 0 for none."""


class NodeKeys:
    """The keys of one node.

    Args:
        config: the user's configuration, with the key and the list of nodes.
        state: the user's state, with what was seen of each log.
        node: how this one is called.
        listed: whether only keys of the list count; else one that is seen first is added to it.
    """

    def __init__(self, config: Path, state: Path, node: str, *, listed: bool = False) -> None:
        self._path, self._list, self._marks = config / KEY_FILE, config / NODES_FILE, state
        self.node, self.listed = node, listed
        self._private: Any = None
        self._trusted: Mapping[str, Sequence[str]] | None = None
        self._known: dict[str, Mark] | None = None

    @property
    def usable(self) -> bool:
        """Whether the library that signs and verifies is there."""
        return _find_library() is not None

    @property
    def signs(self) -> bool:
        """Whether this node has a key."""
        return self._load() is not None

    @property
    def public(self) -> str:
        """This node's public key; empty where it has none."""
        key = self._load()
        return "" if key is None else _render_public(key.public_key())

    def make(self) -> str:
        """Make the key of this node, unless it has one; return the public one, empty for none."""
        if self.usable and not self._path.exists():
            ed25519, forms = _load_part("asymmetric.ed25519"), _load_part("serialization")
            content: bytes = ed25519.Ed25519PrivateKey.generate().private_bytes(
                forms.Encoding.PEM, forms.PrivateFormat.OpenSSH, forms.NoEncryption()
            )
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            # Another process drew it first; its key is the one of this node.
            with suppress(FileExistsError):
                _write_secret(self._path, content)
        if public := self.public:
            self.trust(self.node, public)  # It outlives the other half, if that is lost.
        return public

    def sign(self, content: bytes) -> str:
        """Return the signature of a content."""
        return base64.b64encode(self._load().sign(content)).decode("ascii")

    # Other nodes

    def find_trusted(self, node: str, *, anew: bool = False) -> Sequence[str]:
        """Return the public keys that a node is known by, oldest first."""
        if anew or self._trusted is None or node not in self._trusted:
            self._trusted = _read_nodes(self._list)
        return self._trusted.get(node, ())

    def trust(self, node: str, key: str) -> None:
        """Believe what a key signs in the name of a node; older records may have an older one."""
        if key not in self.find_trusted(node):
            lines = [*_read_lines(self._list), f"{node} {key}"]
            put(self._list, "".join(f"{line}\n" for line in lines).encode())
        self._trusted = None

    # What was seen of a log

    def mark_of(self, memory: str) -> Mark:
        """Return what was seen of the log of a memory."""
        return self._read_marks().get(memory, Mark())

    def note(self, memory: str, *, signed: int = 0, key: int = 0) -> None:
        """Keep that a record is signed, or which key seals the log; the past takes nothing back."""
        was = self.mark_of(memory)
        mark = Mark(was.signed or signed, max(was.key, key))
        if mark != was:
            self._known = None  # Another process may have noted more.
            marks = self._read_marks() | {memory: mark}
            put(self._marks / MARKS_FILE, json.dumps(marks).encode())
            self._known = marks

    def _read_marks(self) -> dict[str, Mark]:
        if self._known is None:
            self._known = {}
            # Without it nothing is known of other nodes yet; they show their keys again.
            with suppress(FileNotFoundError, ValueError, TypeError):
                found = json.loads((self._marks / MARKS_FILE).read_bytes())
                self._known = {memory: Mark(*mark) for memory, mark in found.items()}
        return self._known

    # Keys that seal a log

    def unwrap(self, wrapped: str) -> bytes:
        """Return a key that was encrypted for this node.

        Raises:
            UsageError: it is for others, or damaged.
        """
        age = _load_age()
        try:
            identity = age.ssh.Identity.from_buffer(self._path.read_bytes())
            found: bytes = age.decrypt(base64.b64decode(wrapped), [identity])
        except (OSError, ValueError, age.DecryptError, age.IdentityError) as error:
            raise UsageError(f"The key of a log cannot be opened here: {error}.") from error
        return found

    def _load(self) -> Any:
        if self._private is None and self.usable:
            # This node was never given a key.
            with suppress(FileNotFoundError):
                content = self._path.read_bytes()
                try:
                    self._private = _load_part("serialization").load_ssh_private_key(content, None)
                except (ValueError, TypeError) as error:
                    raise SignatureError(
                        f"{self._path} is no key of OpenSSH: {error}", "Restore or remove it"
                    ) from error
        return self._private


def verify(key: str, content: bytes, sig: str) -> bool:
    """Whether a signature is that of a public key."""
    try:
        _load_public(key).verify(base64.b64decode(sig), content)
    except (ValueError, TypeError, binascii.Error, _load_errors().InvalidSignature):
        # Whatever is wrong with it, it proves nothing.
        return False
    return True


def fingerprint(key: str) -> str:
    """Return a public key as ``ssh-keygen -l`` names it.

    Raises:
        UsageError: it is no public key of Ed25519.
    """
    try:
        _load_public(key)
        raw = base64.b64decode(key.split()[1])
    except (ValueError, TypeError, IndexError) as error:
        raise UsageError(f"{key[:60]!r} is no key. Write one as ssh-ed25519 AAAA….") from error
    return "SHA256:" + base64.b64encode(hashlib.sha256(raw).digest()).decode().rstrip("=")


def wrap(content: bytes, keys: Iterable[str]) -> str:
    """Return what only the holders of some public keys can read."""
    age = _load_age()
    recipients = [age.ssh.Recipient.from_str(key) for key in keys]
    return base64.b64encode(age.encrypt(content, recipients)).decode("ascii")


def seal(key: bytes, content: bytes, about: bytes) -> bytes:
    """Encrypt a content; what it is about stays readable, and cannot be exchanged."""
    nonce = os.urandom(_NONCE)
    sealed: bytes = _load_part("ciphers.aead").AESGCM(key).encrypt(nonce, content, about)
    return nonce + sealed


def unseal(key: bytes, content: bytes, about: bytes) -> bytes:
    """Return what was sealed.

    Raises:
        ValueError: it was changed, or sealed with another key.
    """
    try:
        found: bytes = (
            _load_part("ciphers.aead")
            .AESGCM(key)
            .decrypt(content[:_NONCE], content[_NONCE:], about)
        )
    except _load_errors().InvalidTag as error:
        raise ValueError("it was changed, or sealed with another key") from error
    return found


def _read_nodes(path: Path) -> Mapping[str, Sequence[str]]:
    found: dict[str, list[str]] = {}
    for line in _read_lines(path):
        name, _, key = line.partition(" ")
        found.setdefault(name, []).append(" ".join(key.split()[:2]))
    return found


def _read_lines(path: Path) -> list[str]:
    # Nobody is trusted by hand here.
    with suppress(FileNotFoundError):
        lines = (line.strip() for line in path.read_text(encoding="utf-8").splitlines())
        return [line for line in lines if line and not line.startswith("#")]
    return []


def _write_secret(path: Path, content: bytes) -> None:
    """Make a file that its owner alone may read, whole or not at all."""
    part = path.with_name(f".{path.name}.{os.urandom(4).hex()}")
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(part, path)  # Of two processes that make one at once, both then have the first.
    finally:
        part.unlink()


def _render_public(key: Any) -> str:
    forms = _load_part("serialization")
    made: bytes = key.public_bytes(forms.Encoding.OpenSSH, forms.PublicFormat.OpenSSH)
    return made.decode("ascii")


@cache
def _load_public(key: str) -> Any:
    found = _load_part("serialization").load_ssh_public_key(key.encode())
    if not isinstance(found, _load_part("asymmetric.ed25519").Ed25519PublicKey):
        raise TypeError("it is no key of Ed25519")
    return found


@cache
def _find_library() -> Any:
    try:
        return importlib.import_module("cryptography.exceptions")
    except ImportError:
        # A memory of one machine does without the library.
        return None


def _load_errors() -> Any:
    if (found := _find_library()) is None:
        raise UsageError("Signatures need the library cryptography. Install kimi-memory[cluster].")
    return found


@cache
def _load_part(name: str) -> Any:
    _load_errors()
    return importlib.import_module(f"cryptography.hazmat.primitives.{name}")


def _load_age() -> Any:
    try:
        return importlib.import_module("pyrage")
    except ImportError as error:
        raise UsageError("A sealed log needs the library pyrage: kimi-memory[cluster].") from error
