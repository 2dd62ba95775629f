"""Vectors that a model made before, kept by model and text: re-embedding costs no second call.

A file per model under ``.kimi/cache/embeddings``: a head, then records of one length, each
of a key, a vector in half precision and a signature by this machine's key. What is not
signed, cut short or of another length counts as absent; the model is then asked again.
Texts are known by their hash only, and the whole folder may vanish at any moment.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import numpy as np

FEW = 4096
"""So many keys are held apart before they are put in order with the rest."""
SHARE = 8
"""Of many keys, one in so many may be held apart."""
FOLDER = "cache/embeddings"
MAX_BYTES = 256 * 1024 * 1024
"""Bound of all files; the oldest half of a model's records goes first."""
# A file of another form counts as none, and is written anew.
_MAGIC = b"kimi-memory-vectors-1\n"
_KEY, _SIGN = 16, 8
# Large enough that reading is not the bottleneck, small beside the vectors themselves.
_CHUNK = 4 * 1024 * 1024


class Places:
    """Numbers by key: a sorted array, and a dictionary of those that came since.

    Keys are known by their first eight bytes, so who reads a record sees to it that it is
    the one asked for: of two keys that begin alike, only the later is found.
    """

    def __init__(self) -> None:
        self._keys = np.empty(0, dtype=np.uint64)
        self._at = np.empty(0, dtype=np.uint32)
        self._fresh: dict[int, int] = {}

    def add(self, keys: Iterable[bytes], first: int = 0) -> None:
        """Number keys on from a number; one that is known takes the new number."""
        for at, key in enumerate(keys, first):
            self._fresh[_short_key(key)] = at
            if len(self._fresh) > max(FEW, len(self._keys) // SHARE):
                self._merge_fresh_keys()

    def get(self, key: bytes) -> int | None:
        """Return the number of a key, None where it has none."""
        short = _short_key(key)
        found = self._fresh.get(short)
        if found is not None or not len(self._keys):
            return found
        at = int(np.searchsorted(self._keys, np.uint64(short), side="right")) - 1
        return int(self._at[at]) if at >= 0 and int(self._keys[at]) == short else None

    def _merge_fresh_keys(self) -> None:
        """Put what came since in order with the rest, and what it replaces out."""
        count = len(self._fresh)
        fresh = np.fromiter(self._fresh.keys(), dtype=np.uint64, count=count)
        at = np.fromiter(self._fresh.values(), dtype=np.uint32, count=count)
        old = ~np.isin(self._keys, fresh)
        keys = np.concatenate([self._keys[old], fresh])
        # Once for many: keys are sorted anew when an eighth came, not with each.
        order = np.argsort(keys)
        self._keys, self._at = keys[order], np.concatenate([self._at[old], at])[order]
        self._fresh = {}


def _short_key(key: bytes) -> int:
    return int.from_bytes(key[:8], "big")


class Cache:
    """The vectors kept for one memory.

    Args:
        folder: where the files lie; made when something is kept.
        secret: the machine's own key.
        limit: most bytes of all files.
    """

    def __init__(self, folder: Path, secret: bytes, limit: int = MAX_BYTES) -> None:
        self._folder, self._limit = folder, limit
        # A key of its own: what is signed here must not pass for something signed elsewhere.
        self._secret = hashlib.sha256(b"embeddings" + secret).digest()

    def open(self, model: str, dimensions: int) -> Kept:
        """Return what is kept of one model; other models' files go when room is short."""
        name = hashlib.sha256(f"{model}\0{dimensions}".encode()).hexdigest()[:32]
        path = self._folder / f"{name}.vec"
        self._evict_other_models(path)
        return Kept(path, dimensions, self._secret, self._limit)

    def drop(self) -> None:
        """Remove everything."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _evict_other_models(self, mine: Path) -> None:
        """Remove other models' files, the longest unused first, while all are too large."""
        sizes = dict(_file_sizes(self._folder))
        others = sorted((path for path in sizes if path != mine), key=lambda p: sizes[p][1])
        total = sum(size for size, _ in sizes.values())
        for path in others:
            if total <= self._limit:
                return
            total -= sizes[path][0]
            path.unlink(missing_ok=True)


def _file_sizes(folder: Path) -> Iterator[tuple[Path, tuple[int, int]]]:
    try:
        for path in folder.glob("*.vec"):
            found = path.lstat()
            yield path, (found.st_size, found.st_mtime_ns)
    except OSError:
        # Another process cleans up at the same moment; what is left is said next time.
        return


class Kept:
    """The vectors kept of one model; nobody else writes them meanwhile.

    Every failure of the disk means that nothing is kept, never an error.
    """

    def __init__(self, path: Path, dimensions: int, secret: bytes, limit: int) -> None:
        self._path, self._secret = path, secret
        self._room = max(1, limit // (_KEY + 2 * dimensions + _SIGN))
        self._size = _KEY + 2 * dimensions + _SIGN
        self._places = Places()
        # Without the file, vectors are computed anew: slower, and never wrong.
        with suppress(OSError):
            self._places.add(self._read_keys())

    def get(self, texts: Sequence[str]) -> dict[str, list[float]]:
        """Return the vectors of those texts that are kept, by text."""
        found: dict[str, list[float]] = {}
        # A cache that cannot be read answers nothing, and the model is asked.
        with suppress(OSError), _open_for_reading(self._path) as file:
            for text in texts:
                record = self._read_record(file.fileno(), _text_key(text))
                if record is not None:
                    half = np.frombuffer(record, dtype="<f2")
                    found[text] = half.astype(np.float64).tolist()
        return found

    def put(self, vectors: Mapping[str, Sequence[float]]) -> None:
        """Keep vectors by text."""
        records = [self._make_record(text, row) for text, row in vectors.items()]
        # On a full disk the question is still answered; only the next one costs as much.
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._append_records(records)

    def _append_records(self, records: Sequence[bytes]) -> None:
        whole = self._count_records()
        if whole < 0 or whole + len(records) > self._room:
            self._rewrite_file(max(0, whole), records)
            self._places = Places()
            self._places.add(self._read_keys())
        else:
            with os.fdopen(os.open(self._path, os.O_RDWR | os.O_NOFOLLOW), "r+b") as file:
                # A record that a crash cut short would shift all after it.
                file.truncate(len(_MAGIC) + whole * self._size)
                file.seek(0, os.SEEK_END)
                file.write(b"".join(records))
            # To read all keys again for each few that are added would take hours in the end.
            self._places.add((record[:_KEY] for record in records), whole)

    def _rewrite_file(self, whole: int, records: Sequence[bytes]) -> None:
        """Write the file anew with the younger half of what it held."""
        # Half of it, so that the next rewrite is far away.
        keep = min(whole, self._room // 2)
        part = self._path.with_name(f"{self._path.name}.{secrets.token_hex(4)}")
        with part.open("xb") as file:
            file.write(_MAGIC)
            if keep:
                with _open_for_reading(self._path) as old:
                    old.seek(len(_MAGIC) + (whole - keep) * self._size)
                    shutil.copyfileobj(old, file)
            file.writelines(records[-self._room :])
        # Not in place: a crash halfway would lose what took the model hours.
        part.replace(self._path)

    def _count_records(self) -> int:
        """Return how many whole records there are, -1 where there is no file of ours."""
        try:
            with _open_for_reading(self._path) as file:
                if file.read(len(_MAGIC)) != _MAGIC:
                    return -1
                return (os.fstat(file.fileno()).st_size - len(_MAGIC)) // self._size
        except OSError:
            # Below any number of records: who asks begins the file anew.
            return -1

    def _read_keys(self) -> Iterable[bytes]:
        if self._count_records() < 0:
            return
        step = max(1, _CHUNK // self._size) * self._size
        with _open_for_reading(self._path) as file:
            file.seek(len(_MAGIC))
            while part := file.read(step):
                whole = len(part) - len(part) % self._size
                yield from (part[at : at + _KEY] for at in range(0, whole, self._size))

    def _read_record(self, handle: int, key: bytes) -> bytes | None:
        at = self._places.get(key)
        if at is None:
            return None
        record = os.pread(handle, self._size, len(_MAGIC) + at * self._size)
        body, sign = record[:-_SIGN], record[-_SIGN:]
        # The key as well: places are found by its first bytes only.
        good = len(record) == self._size and body[:_KEY] == key and sign == self._sign_record(body)
        return body[_KEY:] if good else None

    def _make_record(self, text: str, row: Sequence[float]) -> bytes:
        # Half precision: half the room, and cosines change only behind the third digit.
        body = _text_key(text) + np.asarray(row, dtype="<f2").tobytes()
        return body + self._sign_record(body)

    def _sign_record(self, body: bytes) -> bytes:
        return hashlib.blake2b(body, key=self._secret, digest_size=_SIGN).digest()


def _text_key(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()[:_KEY]


def _open_for_reading(path: Path) -> BinaryIO:
    # A link laid here by somebody else must not lead to another file.
    return os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb")
