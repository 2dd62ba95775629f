"""What an execution node keeps on disk: the highest epochs it saw, calls, results, its audit.

All of it is durable before a call is answered: a node that is killed and comes back refuses what
it refused before, and answers a repeated call with what it answered then.
"""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import json
import os
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from kimi_memory.domain.ids import stamp

_KEPT_SECONDS = 86400
BEGUN = {"begun": True}
"""What stands for a call that was begun and did not end."""


class ExecState:
    """The state of an execution node, shared by its processes.

    Args:
        folder: where it lies.
        key: signs the audit records.
    """

    def __init__(self, folder: Path, key: bytes) -> None:
        self._folder, self._key = folder, key
        for name in ("results", "audit", "work"):
            (folder / name).mkdir(parents=True, exist_ok=True, mode=0o700)

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Keep other processes of this node out."""
        handle = os.open(self._folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    def raise_epoch(self, memory: str, epoch: int) -> int:
        """Keep the highest epoch of a memory; return it. The lock is held."""
        known: dict[str, int] = self._load("epochs.json")
        if epoch > known.get(memory, 0):
            known[memory] = epoch
            self._save("epochs.json", known)
        return known.get(memory, 0)

    def count_call(self, grant: str) -> int:
        """Count one more call of a grant; return how many there were. The lock is held."""
        counts: dict[str, int] = self._load("calls.json")
        counts[grant] = counts.get(grant, 0) + 1
        self._save("calls.json", counts)
        return counts[grant]

    def find_result(self, run: str, call: str) -> Mapping[str, Any] | None:
        """Return the answer to a call, `BEGUN` where there is none yet, None for a new one."""
        path = self._folder / self._name(run, call)
        if path.exists() and time.time() - path.stat().st_mtime > _KEPT_SECONDS:
            path.unlink()
        found: dict[str, Any] = self._load(self._name(run, call))
        return found or None

    def keep_result(self, run: str, call: str, answer: Mapping[str, Any]) -> None:
        """Keep the answer to a call, or that it was begun."""
        self._save(self._name(run, call), answer)

    def find_work(self, run: str) -> Path:
        """Return the folder of a run on this node, made at its first call."""
        path = self._folder / "work" / hashlib.sha256(run.encode()).hexdigest()[:32]
        if not path.exists():
            work = tempfile.mkdtemp(prefix="kimi-run-")
            self._save(f"work/{path.name}", {"path": work})
        return Path(self._load(f"work/{path.name}")["path"])

    def audit(self, at: datetime, record: Mapping[str, Any]) -> None:
        """Add a record to the chain of the day. The lock is held."""
        path = self._folder / "audit" / f"{at:%Y-%m-%d}.jsonl"
        last = path.read_bytes().splitlines()[-1:] if path.exists() else []
        prev = json.loads(last[0])["mac"] if last else ""
        seq = json.loads(last[0])["seq"] + 1 if last else 1
        body = {"seq": seq, "at": stamp(at), **record, "prev": prev}
        line = json.dumps({**body, "mac": self._mac(body)}, ensure_ascii=False) + "\n"
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(handle, line.encode())
            os.fsync(handle)
        finally:
            os.close(handle)

    def check_audit(self) -> list[str]:
        """Return what is wrong with the audit: an edit, a reorder, a cut within a day."""
        problems = []
        for path in sorted((self._folder / "audit").glob("*.jsonl")):
            prev = ""
            for n, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                try:
                    record = json.loads(line)
                    mac = record.pop("mac")
                    right = (record["seq"], record["prev"], mac) == (n, prev, self._mac(record))
                except (ValueError, KeyError, TypeError, AttributeError):
                    right, mac = False, ""
                if not right:
                    problems.append(f"{path.name}:{n}: was changed, moved, or follows a gap")
                prev = mac
        return problems

    def _mac(self, body: Mapping[str, Any]) -> str:
        text = json.dumps(body, ensure_ascii=False, sort_keys=True).encode()
        return hmac.new(self._key, b"kimi-memory audit\0" + text, hashlib.sha256).hexdigest()

    def _name(self, run: str, call: str) -> str:
        mark = hashlib.sha256("\0".join((run, call)).encode()).hexdigest()
        return f"results/{mark[:32]}"

    def _load(self, name: str) -> dict[str, Any]:
        path = self._folder / name
        text = path.read_text(encoding="utf-8") if path.exists() else "{}"
        found: dict[str, Any] = json.loads(text)
        return found

    def _save(self, name: str, value: Mapping[str, Any]) -> None:
        part = self._folder / f"{name}.{os.getpid()}"
        with part.open("w", encoding="utf-8") as file:
            json.dump(value, file, ensure_ascii=False)
            file.flush()
            os.fsync(file.fileno())
        part.replace(self._folder / name)
