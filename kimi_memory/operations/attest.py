"""Statements of what a memory holds, signed with its owner's key and checked by anybody."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from pathlib import Path

from kimi_memory.api.memory import Memory
from kimi_memory.errors import HistoryError, SignatureError, UsageError
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.merge.trees import Tree
from kimi_memory.store.copy import TRAILER
from kimi_memory.store.files.disk import put
from kimi_memory.store.git.signers import STATEMENT, Signed, sign
from kimi_memory.store.git.signing_key import NAME_KEY
from kimi_memory.store.trust.session_growth import turn_lines

KIND = "kimi-memory/attestation/1"
SUFFIX = ".sig"
"""Beside a statement lies its signature, under this name."""


@dataclass(frozen=True, slots=True)
class Statement:
    """What a memory held at a point of its history."""

    memory: str
    version: int
    head: str
    tree_sha256: str
    """Of the lines that ``sha256sum`` writes of its files, in order of their paths."""
    files: int
    notes: int
    sessions: int
    turns: int
    checkpoint: str
    """The copy that made the commit, and the head of its journal then."""
    at: str
    """When it was stated."""

    def encode(self) -> bytes:
        """Return the bytes that are signed."""
        return json.dumps({"_type": KIND, **asdict(self)}, indent=2).encode() + b"\n"


def attest(memory: Memory, at: str = "HEAD") -> tuple[Statement, bytes]:
    """Return what the memory holds at a point, and the signature of that.

    Raises:
        UsageError: there is no such point, or the user's settings name no key.
        SignatureError: the key cannot be used.
    """
    key = memory.signing.key
    if key is None:
        raise UsageError(f"Nothing to sign with. {NAME_KEY}")
    memory.batch.flush()
    statement = _describe(memory, memory.points.find(at).commit)
    return statement, sign(key.key, statement.encode(), STATEMENT)


def write_statement(path: Path, statement: Statement, signature: bytes) -> None:
    """Write a statement and, beside it, its signature.

    Raises:
        UsageError: one of the files is there already, or cannot be written.
    """
    beside = path.with_name(f"{path.name}{SUFFIX}")
    if path.exists() or beside.exists():
        raise UsageError(f"{path} is there already. Name another file.")
    try:
        put(path, statement.encode())
        put(beside, signature)
    except HistoryError as error:
        raise UsageError(str(error)) from error


def check_statement(memory: Memory, path: Path) -> tuple[Statement, Signed]:
    """Return a statement that is of this memory's history, and who signed it.

    Raises:
        UsageError: it cannot be read, or no keys are known.
        SignatureError: nobody who is known signed it, or this history is another one.
    """
    content, signature = _read(path), _read(path.with_name(f"{path.name}{SUFFIX}"))
    signers = memory.signing.signers
    if not signers.known():
        raise UsageError("No keys are known. Add one with 'kimi-memory trust add NAME KEY.pub'.")
    told = signers.judge(signature, content, purpose=STATEMENT)
    if told.false or not told.principal:
        why = f"{path} was changed since {told.principal} signed it" if told.false else ""
        raise SignatureError(why or f"nobody who is known signed {path}", "Do not rely on it")
    try:
        told_of = json.loads(content)
        claimed = Statement(**{name: told_of[name] for name in Statement.__dataclass_fields__})
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{path} is no statement of a memory: {error}. Make it anew.") from error
    # Made anew from this history: a signature says who spoke, and not that it is so.
    found = _describe(memory, claimed.head, claimed.at)
    if found != claimed:
        raise SignatureError(f"{path} says otherwise than this history", "Compare the two copies")
    return claimed, told


def _describe(memory: Memory, head: str, at: str = "") -> Statement:
    try:
        [tree] = memory.history.merger().read([memory.history.resolve(head)], whole=True).trees
    except HistoryError as error:
        raise SignatureError(f"{head[:10]} is not in this history", "Compare the copies") from error
    # The trailer binds the commit to the journal of the copy that made it.
    trailers = next((one.trailers for one in memory.history.since() if one.hash == head), {})
    sessions = [path for path in tree if "/session_" in path and path.endswith(".jsonl")]
    return Statement(
        memory.settings.memory.id,
        memory.points.find_by_commit(head).version,
        head,
        digest_of_tree(tree),
        len(tree),
        sum(path.endswith(".md") and b"\nid: " in content for path, content in tree.items()),
        len(sessions),
        sum(len(turn_lines(tree[path])) for path in sessions),
        trailers.get(TRAILER, ""),
        at or memory.clock().isoformat(timespec="seconds"),
    )


def digest_of_tree(tree: Tree) -> str:
    """Return the SHA-256 of what ``sha256sum`` writes of all files, in order of their paths."""
    rows = (f"{hashlib.sha256(tree[path]).hexdigest()}  {path}\n" for path in sorted(tree))
    return hashlib.sha256("".join(rows).encode("utf-8", "surrogateescape")).hexdigest()


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from error
