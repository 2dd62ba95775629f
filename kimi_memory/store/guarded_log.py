"""A change log whose engine need not be believed: what is put is signed, and sealed where wanted.

It stands before an engine and is one to all others. A record gets the signature of the node that
puts it; one that is read without a valid one is refused, once the log has any. A sealed log holds
of a record who put it where, and the rest encrypted; so are the contents beside it.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress

from kimi_memory.domain.change_log import ChangeLog, Lease, Row, Rows
from kimi_memory.errors import NotPrimaryError, RefusedRecordError, UsageError
from kimi_memory.formats.log_record import canonical
from kimi_memory.store.log_keys import KEYS, LogKeys
from kimi_memory.store.node_keys import NodeKeys, seal, unseal, verify

_SIG = re.compile(rb',"sig":"([A-Za-z0-9+/=]{88})"\}\Z')
_HEADER = ("v", "memory", "seq", "epoch", "node", "kind")
"""What of a sealed record stays readable."""
_OWN = ("proposals", "purges-reached", "audits", "asks", "replies")
"""Tables in which the second part of a key is the node that signs the row."""
_TABLES = (*_OWN, "answers", "purges", KEYS)
"""Tables whose rows are signed."""
INSTALL = "Install kimi-memory[cluster]"
COMPARE = "Compare keys, then run 'kimi-memory node trust'"


class GuardedLog:
    """The change logs of an engine, with signatures and encryption.

    Args:
        log: the engine.
        keys: of this node.
        registry: another engine, which has the small tables; all but the keys that seal.
    """

    def __init__(self, log: ChangeLog, keys: NodeKeys, registry: Rows | None = None) -> None:
        self.name, self.engine, self.keys = log.name, log, keys
        self._registry: Rows = registry or log
        self.sealing = LogKeys(self, keys)
        """The keys that seal the logs."""

    # Records

    def put(self, memory: str, first: int, epoch: int, records: Sequence[bytes]) -> None:
        """Put records, signed where this node has a key."""
        self.engine.put(memory, first, epoch, [self._close(memory, body) for body in records])
        if self.keys.signs:
            self.keys.note(memory, signed=first)

    def read(self, memory: str, after: int, limit: int = 500) -> Sequence[tuple[int, bytes]]:
        """Return records as they were before they were signed and sealed.

        Raises:
            RefusedRecordError: the first of them is not what a node of the cluster put.
        """
        found: list[tuple[int, bytes]] = []
        for seq, body in self.engine.read(memory, after, limit):
            try:
                found.append((seq, self._open(memory, seq, bytes(body))))
            except RefusedRecordError:
                if not found:
                    raise
                break
        return found

    def _close(self, memory: str, body: bytes) -> bytes:
        sealing = self.sealing.current(memory)
        if sealing is not None:
            number, key = sealing
            record = json.loads(body)
            head = {name: record[name] for name in _HEADER} | {"key": number}
            sealed = base64.b64encode(seal(key, body, canonical(head))).decode("ascii")
            body = canonical(head | {"sealed": sealed})
        return self._sign(b"record", body)

    def _open(self, memory: str, seq: int, stored: bytes) -> bytes:
        body, sig = _split(stored)
        try:
            head = json.loads(body)
            node = str(head["node"])
        except (ValueError, TypeError, KeyError) as error:
            raise _refuse(seq, f"it is no record of a change log: {error}") from error
        if sig:
            self._check(b"record", body, sig, node, seq)
            self.keys.note(memory, signed=seq)
        elif self.keys.listed or 0 < self.keys.mark_of(memory).signed < seq:
            raise _refuse(seq, f"it has no signature of {node}", COMPARE)
        if "sealed" not in head:
            return body
        key = self.sealing.find(memory, int(head["key"]))
        sealed = head.pop("sealed")
        try:
            plain = unseal(key, base64.b64decode(sealed), canonical(head))
            inside = json.loads(plain)
            if any(inside[name] != head[name] for name in _HEADER):
                raise ValueError("it says another thing inside than outside")
        except (ValueError, TypeError, KeyError) as error:
            raise _refuse(seq, str(error)) from error
        return plain

    def _sign(self, kind: bytes, body: bytes) -> bytes:
        if not self.keys.signs:
            return body
        sig = self.keys.sign(_signed_text(kind, body))
        return body[:-1] + f',"sig":"{sig}"}}'.encode()

    def _check(self, kind: bytes, body: bytes, sig: str, node: str, seq: int) -> None:
        if not self.keys.usable:
            raise _refuse(seq, "it is signed, and the library cryptography is not there", INSTALL)
        known, signed = self.find_keys(node), _signed_text(kind, body)
        if not known:
            raise _refuse(seq, f"the key of {node}, which signed it, is not known here", COMPARE)
        if any(verify(key, signed, sig) for key in reversed(known)):
            return
        # Somebody may have said meanwhile that another key counts.
        more = self.keys.find_trusted(node, anew=True)
        if not any(verify(key, signed, sig) for key in more if key not in known):
            raise _refuse(seq, f"its signature is not that of {node}", COMPARE)

    def find_keys(self, node: str) -> Sequence[str]:
        """Return the keys of a node; where none is known yet, the one that it says it has."""
        known = self.keys.find_trusted(node)
        if known or self.keys.listed:
            return known
        for row in self._registry.rows("nodes"):
            # A row that another program wrote teaches us no key.
            with suppress(ValueError, TypeError, AttributeError):
                if row.key == node and (shown := str(json.loads(row.body).get("key") or "")):
                    self.keys.trust(node, shown)
        return self.keys.find_trusted(node)

    # Contents beside a log

    def put_blob(self, memory: str, sha: str, content: bytes) -> None:
        """Keep a content, sealed as the log is."""
        if sealing := self.sealing.current(memory):
            key = sealing[1]
            self.engine.put_blob(memory, _hide(key, sha), seal(key, content, sha.encode()))
        else:
            self.engine.put_blob(memory, sha, content)

    def get_blob(self, memory: str, sha: str) -> bytes:
        """Return a content; KeyError where there is none, or not the one that was kept."""
        for key in self.sealing.all(memory):
            # It may be sealed with an older key: the next one is tried.
            with suppress(KeyError):
                sealed = self.engine.get_blob(memory, _hide(key, sha))
                try:
                    return unseal(key, sealed, sha.encode())
                except ValueError as error:
                    raise KeyError(sha) from error
        content = bytes(self.engine.get_blob(memory, sha))
        if hashlib.sha256(content).hexdigest() != sha:
            raise KeyError(sha)
        return content

    def trim(self, memory: str, below: int, kept: Collection[str]) -> int:
        """Destroy records and contents; those to keep are named as they are without a seal."""
        hidden = [_hide(key, sha) for key in self.sealing.all(memory) for sha in kept]
        return self.engine.trim(memory, below, [*kept, *hidden])

    # Rows

    def put_row(self, table: str, key: str, body: bytes, *, calls: bool = False) -> None:
        """Write a row; those that decide about contents are signed, and sealed as the log is."""
        if table in _TABLES and self.keys.signs:
            memory, shown = key.partition("/")[0], {"by": self.keys.node, "row": body.decode()}
            if table != KEYS and (sealing := self.sealing.current(memory)):
                number, sealer = sealing
                sealed = seal(sealer, body, f"{table}/{key}".encode())
                shown = {
                    "by": self.keys.node,
                    "key": str(number),
                    "sealed": base64.b64encode(sealed).decode("ascii"),
                }
            body = self._sign(f"{table}/{key}".encode(), canonical(shown))
        self._find_engine(table).put_row(table, key, body, calls=calls)

    def _find_engine(self, table: str) -> Rows:
        # A log whose keys are lost can be read no more, and a registry is written anew.
        return self.engine if table == KEYS else self._registry

    def rows(self, table: str) -> Sequence[Row]:
        """Return rows; of those that are signed, the ones that a node of the cluster wrote."""
        found = self._find_engine(table).rows(table)
        if table not in _TABLES:
            return found
        opened = ((row, self._open_row(table, row)) for row in found)
        return [row._replace(body=body) for row, body in opened if body is not None]

    def _open_row(self, table: str, row: Row) -> bytes | None:
        body, sig = _split(bytes(row.body))
        memory = row.key.partition("/")[0]
        if not sig:
            return None if self.keys.listed or self.keys.mark_of(memory).signed else body
        try:
            shown: Mapping[str, str] = json.loads(body)
            by = shown["by"]
            if table in _OWN and row.key.split("/")[1] != by:
                return None
            self._check(f"{table}/{row.key}".encode(), body, sig, by, 0)
            if "sealed" not in shown:
                return shown["row"].encode()
            key = self.sealing.find(memory, int(shown["key"]))
            about = f"{table}/{row.key}".encode()
            return unseal(key, base64.b64decode(shown["sealed"]), about)
        except (ValueError, TypeError, KeyError, IndexError, RefusedRecordError):
            return None  # A row that no node wrote is none.

    def wait_row(self, table: str, key: str, seconds: float) -> None:
        """Wait until a row is written, or so long."""
        self._find_engine(table).wait_row(table, key, seconds)

    def drop_row(self, table: str, key: str) -> None:
        """Remove a row, if it is there."""
        self._find_engine(table).drop_row(table, key)

    # What the engine alone decides

    def wait(self, memory: str, after: int, seconds: float) -> bool:
        """Wait until there is a record after a number; False if none came."""
        return self.engine.wait(memory, after, seconds)

    def lease(self, memory: str, node: str, ttl: float) -> int:
        """Begin a leadership where there is none.

        Raises:
            NotPrimaryError: the records are signed, and this node has no key: others would refuse
                what it puts.
        """
        if self.keys.mark_of(memory).signed and not self.keys.signs:
            why = "its records are signed, and this node has no key: run 'kimi-memory node join'"
            raise NotPrimaryError(memory, why=why)
        return self.engine.lease(memory, node, ttl)

    def renew(self, memory: str, node: str, epoch: int, ttl: float) -> bool:
        """Keep leading; False where the epoch is not the present one."""
        return self.engine.renew(memory, node, epoch, ttl)

    def release(self, memory: str, node: str, epoch: int) -> None:
        """End a leadership at once, so that another can begin."""
        self.engine.release(memory, node, epoch)

    def state(self, memory: str) -> Lease:
        """Return who leads."""
        return self.engine.state(memory)

    def close(self) -> None:
        """Let go of the engine."""
        self.engine.close()
        if self._registry is not self.engine:
            self._registry.close()


def find_guard(log: ChangeLog) -> GuardedLog:
    """Return a log as one that signs and seals.

    Raises:
        UsageError: it is a bare engine.
    """
    if not isinstance(log, GuardedLog):
        raise UsageError(f"{log.name} is no log of a cluster that was opened by its settings.")
    return log


def _split(stored: bytes) -> tuple[bytes, str]:
    """Return what was signed, and the signature; none for an empty one."""
    found = _SIG.search(stored)
    if found is None:
        return stored, ""
    return stored[: found.start()] + b"}", found[1].decode("ascii")


def _signed_text(kind: bytes, body: bytes) -> bytes:
    # A signature of one thing must not count for another.
    return b"kimi_memory " + kind + b"\n" + body


def _hide(key: bytes, sha: str) -> str:
    """Return the name of a sealed content: its own hash would tell who guesses what it is."""
    return hmac.new(key, sha.encode(), hashlib.sha256).hexdigest()


def _refuse(seq: int, why: str, remedy: str = COMPARE) -> RefusedRecordError:
    return RefusedRecordError(f"record {seq}" if seq else "a row", why, remedy)
