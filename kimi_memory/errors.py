"""Errors of kimi_memory.

The tree; the number is the exit code of the command line::

    KimiMemoryError (1)
    ├── UsageError (2)             a wrong argument or setting
    ├── NotAMemoryError (10)       no memory folder here
    ├── NotFoundError (11)         no note, session or job of that id
    ├── AmbiguousIdError (12)      a short id that fits several notes
    ├── FormatError (20)           a file we cannot parse: path, line, remedy
    │   └── WaitingError (20)          a file that waits for a person's word
    ├── UnsafePathError (21)       a path that leaves the folder or is not plain
    ├── TranscriptError (22)       a transcript no reader understands
    ├── StoreError (30)            a write that did not happen
    │   ├── ChangedOnDiskError (31)    somebody edited the file since we read it
    │   ├── LockTimeoutError (32)      somebody else holds the lock
    │   ├── ReadOnlyError (33)         the store refuses writes until checked
    │   │   └── MovedError (35)            the memory lives elsewhere now
    │   ├── DiskError (34)             the operating system refused a write
    │   ├── NotPrimaryError (36)       another node takes the writes of this memory
    │   │   └── FencedError (37)           another node took over meanwhile
    │   └── UnknownOutcomeError (38)   the change log may have taken a write or not
    ├── HistoryError (40)          git refused, or the repository is not ours
    ├── DivergedError (42)         a remote whose history was replaced, or never stands still
    │   └── RefusedRecordError (47)    a record that no node put, or that is not for this one
    ├── BehindError (48)           a node that does not have a record yet
    ├── RemoteError (43)           a remote that is out of reach, or refused
    ├── SignatureError (44)        a signature that is wrong, or a key that cannot sign
    ├── NoPlaceError (45)          no machine of the cluster can take a task
    ├── DeniedError (46)           a policy of a space does not allow this
    ├── GateError (50)             a job stopped by one of its gates
    ├── IndexDamagedError (60)     an index we will not open; it is rebuilt
    ├── PluginError (70)           a plugin that cannot be loaded or failed
    ├── ModelError (80)            a model server that failed or answered badly
    └── ServerError (90)           a memory server that refused, or is not there
"""

from __future__ import annotations

from pathlib import Path

__all__ = [
    "AmbiguousIdError",
    "BehindError",
    "ChangedOnDiskError",
    "DeniedError",
    "DiskError",
    "DivergedError",
    "FencedError",
    "FormatError",
    "GateError",
    "HistoryError",
    "IndexDamagedError",
    "KimiMemoryError",
    "LockTimeoutError",
    "ModelError",
    "MovedError",
    "NoPlaceError",
    "NotAMemoryError",
    "NotFoundError",
    "NotPrimaryError",
    "PluginError",
    "ReadOnlyError",
    "RefusedRecordError",
    "RemoteError",
    "ServerError",
    "SignatureError",
    "StoreError",
    "TranscriptError",
    "UnknownOutcomeError",
    "UnsafePathError",
    "UsageError",
    "WaitingError",
]


class KimiMemoryError(Exception):
    """Anything kimi_memory raises on purpose."""

    # A script can tell what went wrong without reading words; the numbers are a promise, as in the
    # table above.
    exit_code = 1


class UsageError(KimiMemoryError):
    """A wrong argument or setting; the message names it and says what fits."""

    exit_code = 2


class NotAMemoryError(KimiMemoryError):
    """There is no memory folder at the given place."""

    exit_code = 10

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"{path} is not a memory (no memory.toml). "
            "Run 'kimi-memory init' there, or name one with --memory or KIMI_MEMORY."
        )


_LISTED_BY = {
    "block": ("blocks", "context --replay"),
    "branch": ("branches", "branch list"),
    "copy": ("copies", "blame memory.toml:1 --copies"),
    "remote": ("remotes", "remote list"),
    "run": ("runs", "agent list"),
    "change or note": ("changes of the other copy", "log --memory FOLDER"),
    "conflict": ("conflicts", "conflicts"),
    "job": ("jobs", "log"),
    "member": ("members", "space list NAME"),
    "memory of the space": ("memories of the space", "space list NAME"),
    "project": ("projects", "project list"),
    "side": ("sides", "conflicts"),
    "signer": ("signers", "trust list"),
    "skill": ("skills", "skills list"),
    "space": ("spaces", "space list"),
    "suggested link": ("suggested links", "link --suggested"),
    "token": ("tokens", "serve token list"),
}
"""What may be missing: the word for several, and the command that lists them."""


class NotFoundError(KimiMemoryError):
    """No note, session or job has that id."""

    exit_code = 11

    def __init__(self, what: str, id: str) -> None:
        several, command = _LISTED_BY.get(what, ("contents of the memory", "list"))
        remedy = f"List the {several} with 'kimi-memory {command}'"
        if what == "session":
            remedy = "'kimi-memory session list' has the open ones; the others lie in episodic/"
        super().__init__(f"No {what} {id!r}. {remedy}.")


class AmbiguousIdError(KimiMemoryError):
    """A shortened id fits more than one note."""

    exit_code = 12

    def __init__(self, id: str, found: list[str], remedy: str = "Type more of it") -> None:
        # Five are enough to choose from; hundreds would fill the screen.
        shown = ", ".join(found[:5])
        super().__init__(f"{id!r} fits {len(found)} notes ({shown}). {remedy}.")


class FormatError(KimiMemoryError):
    """A file we cannot parse; it is reported, never rewritten."""

    exit_code = 20

    def __init__(self, path: str, line: int, why: str, remedy: str = "Correct the line") -> None:
        self.path, self.line, self.why, self.remedy = path, line, why, remedy
        super().__init__(f"{path}:{line}: {why}. {remedy}.")


class WaitingError(FormatError):
    """A file that waits for a person's word; it is neither used nor rewritten."""

    def __init__(self, path: str, why: str) -> None:
        remedy = "See what to do about it with 'kimi-memory review' and 'kimi-memory doctor'"
        super().__init__(path, 1, f"{why}, so it is not used", remedy)


class UnsafePathError(KimiMemoryError):
    """A path that leaves the memory folder or is not a plain file of it."""

    exit_code = 21

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"{path!r} is not a safe place in a memory: {why}. Use a plain name.")


class TranscriptError(KimiMemoryError):
    """A transcript that no reader understands, or that is broken at a line."""

    exit_code = 22

    def __init__(self, path: str, line: int, why: str) -> None:
        super().__init__(f"{path}:{line}: {why}. Nothing of this session was stored.")


class StoreError(KimiMemoryError):
    """A write that did not happen; the old content is intact."""

    exit_code = 30


class ChangedOnDiskError(StoreError):
    """Somebody edited the file since we read it."""

    exit_code = 31

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__(f"{path} changed on disk. Read it again, then retry.")


class LockTimeoutError(StoreError):
    """Somebody else held the lock for longer than we were allowed to wait."""

    exit_code = 32

    def __init__(self, name: str, holder: str, waited: float) -> None:
        super().__init__(
            f"Lock {name!r} is held by {holder}; waited {waited:.1f} s. "
            "Retry, or end that process: its lock dies with it."
        )


class ReadOnlyError(StoreError):
    """The store takes no writes, after a disk error or on read-only storage."""

    exit_code = 33

    def __init__(self, why: str) -> None:
        super().__init__(f"The memory is read-only: {why}. Run 'kimi-memory doctor', then retry.")


class MovedError(ReadOnlyError):
    """The memory was moved: this folder takes no writes."""

    exit_code = 35

    def __init__(self, place: str) -> None:
        KimiMemoryError.__init__(
            self,
            f"This memory moved to {place}. Use it there, or take it back with "
            "'kimi-memory migrate --back'.",
        )


class DiskError(StoreError):
    """The operating system refused a write; nothing was acknowledged."""

    exit_code = 34

    def __init__(self, path: str, cause: OSError, remedy: str) -> None:
        self.cause = cause
        super().__init__(f"{path}: {cause.strerror or cause}. Nothing was changed. {remedy}.")


class NotPrimaryError(StoreError):
    """Another node takes the writes of this memory, or none can at the moment."""

    exit_code = 36

    def __init__(
        self, memory: str, primary: str = "", why: str = "", *, silent: bool = False
    ) -> None:
        self.primary, self.silent = primary, silent
        if primary:
            said = f"{primary} takes the writes of this memory ({memory}). Write there"
            said += ", or move them with 'kimi-memory deploy promote'."
        else:
            said = f"This node cannot take writes of this memory ({memory}) now"
            said += f": {why}. Retry." if why else ". Retry, or see 'kimi-memory cluster status'."
        super().__init__(f"{said} Nothing was written.")


class FencedError(NotPrimaryError):
    """Another node took over while this one was writing; nothing was written here."""

    exit_code = 37


class UnknownOutcomeError(StoreError):
    """The change log did not answer: it may have taken a write or not."""

    exit_code = 38

    def __init__(self, log: str, txn: str) -> None:
        self.txn = txn
        super().__init__(
            f"{log} does not answer, so it is unknown whether {txn} was written. "
            "Look for it once the log answers, or repeat it with the same reference."
        )


class HistoryError(KimiMemoryError):
    """git refused a command, or the repository is not one we may write to."""

    exit_code = 40


class DivergedError(KimiMemoryError):
    """A remote whose history was replaced, or that others keep changing; nothing was taken."""

    exit_code = 42

    def __init__(self, remote: str, why: str, remedy: str) -> None:
        self.remote, self.why, self.remedy = remote, why, remedy
        super().__init__(f"{remote}: {why}. {remedy}.")


class RefusedRecordError(DivergedError):
    """A record that no node put into a log, or not for this one; the folder stays as it is."""

    exit_code = 47


class BehindError(KimiMemoryError):
    """A node that does not have the record yet that a reader asks for."""

    exit_code = 48

    def __init__(self, seq: int, wanted: int) -> None:
        self.seq, self.wanted = seq, wanted
        lacks = f"{wanted} was asked for" if seq < wanted else "and does not see the end of the log"
        said = f"This node is behind: it has record {seq}, {lacks}"
        super().__init__(f"{said}. Ask again in a moment, or another node.")


class RemoteError(KimiMemoryError):
    """A remote that is out of reach, or that refused; everything is still here."""

    exit_code = 43

    def __init__(self, remote: str, why: str, remedy: str) -> None:
        self.remote, self.why, self.remedy = remote, why, remedy
        super().__init__(f"{remote}: {why.rstrip('.')}. {remedy}.")


class SignatureError(KimiMemoryError):
    """A signature that is wrong, or a key that cannot sign."""

    exit_code = 44

    def __init__(self, why: str, remedy: str) -> None:
        self.why, self.remedy = why, remedy
        super().__init__(f"{why.rstrip('.')}. {remedy}.")


class NoPlaceError(KimiMemoryError):
    """No machine of a cluster can take a task; every one that was asked is named."""

    exit_code = 45

    def __init__(self, why: str, refused: list[str]) -> None:
        self.refused = refused
        said = "; ".join(refused) or "there is no machine"
        remedy = "Ask for less, or have a machine offer it with 'kimi-memory place --offer'"
        super().__init__(f"There is no place for this task ({why}). {said}. {remedy}.")


class DeniedError(KimiMemoryError):
    """A policy of a space does not let a member do this; nothing was read or written."""

    exit_code = 46

    def __init__(self, space: str, why: str) -> None:
        super().__init__(
            f"{why}. An owner of the space {space} can change that with 'kimi-memory space grant'."
        )


class GateError(KimiMemoryError):
    """A job was stopped by one of its gates; memory is as it was."""

    exit_code = 50

    def __init__(self, gate: str, why: str, remedy: str) -> None:
        self.gate, self.why, self.remedy = gate, why, remedy
        super().__init__(f"Gate {gate!r} stopped the job: {why}. {remedy}.")


class IndexDamagedError(KimiMemoryError):
    """An index that is damaged, foreign or stale; it is rebuilt, never opened."""

    exit_code = 60


class PluginError(KimiMemoryError):
    """A plugin that could not be loaded, or whose hook failed."""

    exit_code = 70


class ModelError(KimiMemoryError):
    """A model server that failed, was too slow, or answered badly."""

    exit_code = 80

    def __init__(self, why: str, *, passing: bool = False, status: int = 0) -> None:
        self.passing, self.status = passing, status
        super().__init__(why)


class ServerError(KimiMemoryError):
    """A memory server that refused a request, or did not answer."""

    exit_code = 90

    def __init__(self, why: str, *, status: int = 0, code: str = "server") -> None:
        self.status, self.code = status, code
        super().__init__(why)
