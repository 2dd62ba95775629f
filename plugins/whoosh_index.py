"""Keyword index on Whoosh: its segments hold the postings, we read them in blocks.

Why it exists: Whoosh keeps postings safe on disk in pure Python, but its matchers
cost two microseconds a posting and its top-k search misses hits. Recall scores for
itself and only needs postings, which come out of a block as whole arrays.
"""

from __future__ import annotations

import mmap
import sys
import warnings
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from heapq import merge
from importlib import import_module
from io import BytesIO
from itertools import chain, groupby, islice
from operator import sub
from pathlib import Path
from pickle import dumps, load, loads
from struct import Struct
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from kimi_memory import hookimpl


class _Unread(ModuleType):
    """Stands for a module that Whoosh imports a function of, which it never calls.

    With ``urllib.request`` come ssl, http and email, a quarter of all that is loaded.
    """

    urlretrieve = None

    def __getattr__(self, name: str) -> Any:
        """Return what another thread wants that imported the module meanwhile."""
        if name.startswith("__"):
            raise AttributeError(name)
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


@contextmanager
def _left_unread(name: str) -> Iterator[None]:
    """Keep a module from being loaded by what is imported inside of the block."""
    if name in sys.modules:
        yield
        return
    package, _, last = name.rpartition(".")
    unread = vars(import_module(package))[last] = sys.modules[name] = _Unread(name)
    try:
        yield
    finally:
        if sys.modules.get(name) is unread:
            del sys.modules[name]


with warnings.catch_warnings(), _left_unread("urllib.request"):
    # Whoosh 2.7.4 has escapes that later Pythons warn about when they compile it.
    warnings.simplefilter("ignore", SyntaxWarning)
    warnings.simplefilter("ignore", DeprecationWarning)
    from whoosh import columns, fields, formats, versionstring
    from whoosh.codec.whoosh3 import W3Codec
    from whoosh.filedb import compound
    from whoosh.filedb.filestore import FileStorage
    from whoosh.filedb.structfile import BufferFile
    from whoosh.index import EmptyIndexError
    from whoosh.reading import TermNotFound

_FIELD, _TERM = Struct("!H"), Struct("!BfIBBfII")
"""The number of a field; what a term's entry says of it before the place of its postings."""
_EXTENT, _LENGTH = Struct("!qi"), Struct("!i")
_MAGIC = b"W3Bl"
PROTOCOL = 2
"""Of pickles, as Whoosh writes them."""

if TYPE_CHECKING:
    from kimi_memory.domain.engine import Floats, Ints, KeywordIndex

FIELD = "words"
KEY = "key"
# Whoosh's default of 128 makes a dozen Python calls for every 128 postings.
BLOCK = 16_384
"""Postings in one block."""
FORMAT = f"w3/{BLOCK}/array"
SHORT = 16
"""From so many postings on, a block is written as arrays."""
RELEASED = 8
"""So many words are looked up before the memory of the mapped files is given back."""
BATCH = 10_000
"""Documents in one commit: larger ones spill to disk and grow slower."""
BULK = 1_000
"""From so many documents on, a commit leaves the merging of segments to later ones."""


@hookimpl(trylast=True)
def open_keywords(folder: Path) -> KeywordIndex:
    """Open or make the index in `folder`."""
    return WhooshIndex(folder)


class _Mapped(BufferFile):  # type: ignore[misc]  # Whoosh has no types
    """A part of a mapped file; Whoosh would copy each into memory whole."""

    def __init__(self, buf: Any, name: str | None = None, onclose: Any = None) -> None:
        self._buf, self._name, self.onclose = memoryview(buf), name, onclose
        self._at = 0
        self.file = self
        self.is_real = self.is_closed = False

    def read(self, size: int = -1) -> bytes:
        end = len(self._buf) if size < 0 else self._at + size
        found = bytes(self._buf[self._at : end])
        self._at += len(found)
        return found

    def readline(self) -> bytes:
        return self.read(bytes(self._buf[self._at :]).find(b"\n") + 1)

    def seek(self, where: int, whence: int = 0) -> None:
        self._at = where + (0, self._at, len(self._buf))[whence]

    def tell(self) -> int:
        return self._at

    def subset(self, position: int, length: int, name: str | None = None) -> Any:
        return _Mapped(self._buf[position : position + length], name or self._name)

    def close(self) -> None:
        self.is_closed = True


compound.BufferFile = _Mapped


class _Pool:
    """Postings by word while documents are added; Whoosh's own makes a tuple of each."""

    def __init__(self) -> None:
        self._held: dict[str, tuple[array[int], array[float]]] = {}

    def add(self, word: str, row: int, count: float) -> None:
        """Add a posting; rows must ascend."""
        held = self._held.get(word)
        if held is None:
            held = self._held[word] = array("I"), array("f")
        held[0].append(row)
        held[1].append(count)

    def write(self, fields: Any, schema: Any, merged: Iterable[Any]) -> None:
        """Write every term, in order; rows of merged segments follow those that were added.

        The bytes are those Whoosh would write, but for long blocks, which hold arrays that
        it reads like its own. Its way there makes a dozen calls for a term.
        """
        for _, word, row, count, _ in merged:
            self.add(word.decode(), row, count)
        if not self._held:
            return
        fields.start_field(FIELD, schema[FIELD])
        posts, terms, field = fields._postfile, fields._tindex, _FIELD.pack(fields._fieldid)
        for word in sorted(self._held):
            ids, weights = self._held.pop(word)
            start, content = posts.tell(), _posting_bytes(ids, weights)
            posts.write(content)
            facts = (False, sum(weights), len(ids), 0, 0, max(weights), ids[0], ids[-1])
            place = _EXTENT.pack(start, len(content))
            terms.add(field + word.encode(), _TERM.pack(*facts) + place)
        fields.finish_field()


def _posting_bytes(ids: array[int], weights: array[float]) -> bytes:
    """Return the postings of a term in blocks: length, facts about the block, the block."""
    parts = [_MAGIC]
    for at in range(0, len(ids), BLOCK):
        held, counts = ids[at : at + BLOCK], weights[at : at + BLOCK]
        facts = dumps((len(held), held[-1], max(counts), 0, 0, 0), PROTOCOL)
        block = dumps((_pack_deltas(held), _pack_counts(counts), None), PROTOCOL)
        size = len(facts) + len(block)
        # The last block has a negative length.
        parts += [_LENGTH.pack(size if at + BLOCK < len(ids) else -size), facts, block]
    return b"".join(parts)


def _pack_deltas(ids: array[int]) -> Any:
    if len(ids) < SHORT:
        return tuple(map(sub, ids, chain((0,), ids)))
    deltas = np.diff(np.frombuffer(ids, dtype=np.uint32), prepend=np.uint32(0))
    return _Packed("I", deltas.tobytes())


def _pack_counts(weights: array[float]) -> Any:
    first = weights[0]
    if weights.count(first) == len(weights):
        return None if first == 1.0 else first
    return _Packed("f", weights.tobytes()) if len(weights) >= SHORT else tuple(weights)


class _Packed:
    """An array that every pickle protocol writes as its bytes."""

    def __init__(self, kind: str, content: bytes) -> None:
        self._kind, self._bytes = kind, content

    def __reduce__(self) -> tuple[type[array[Any]], tuple[str, bytes]]:
        return array, (self._kind, self._bytes)


class WhooshIndex:
    """One index folder, read as it was when opened or last written."""

    def __init__(self, folder: Path) -> None:
        storage = FileStorage(str(folder))
        self._index = (
            storage.open_index()
            if storage.index_exists()
            else storage.create_index(self._make_schema())
        )
        self._reader: Any = None
        self._told = 0

    @property
    def name(self) -> str:
        """Engine, version and format."""
        return f"whoosh {versionstring()} {FORMAT}"

    def keys(self) -> Ints:
        """Return the key of each row; -1 where the unit was removed."""
        found = [_segment_keys(leaf) for leaf, _ in self._leaf_readers()]
        return np.concatenate([*found, np.empty(0, dtype=np.int64)])

    def postings(self, word: str) -> tuple[Ints, Floats]:
        """Return the rows that hold `word`, ascending, and how often each does."""
        rows, counts = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.float64)]
        for leaf, offset in self._leaf_readers():
            for ids, weights in _yield_blocks(leaf, word):
                rows.append(ids + offset)
                counts.append(weights)
        self._release_periodically()
        return np.concatenate(rows), np.concatenate(counts)

    def _release_periodically(self) -> None:
        """Give back the memory of the files now and then: a caller keeps what it was given."""
        self._told += 1
        if self._told > RELEASED:
            self._told = 0
            for leaf, _ in self._leaf_readers():
                _release_memory(leaf)

    def words(self, begin: str = "") -> Iterator[str]:
        """Yield the words that begin so, ascending; the term tables are sorted and mapped."""
        leaves = (leaf.expand_prefix(FIELD, begin.encode()) for leaf, _ in self._leaf_readers())
        return (word.decode() for word, _ in groupby(merge(*leaves)))

    def write(self, add: Iterable[tuple[int, Sequence[str]]], remove: Iterable[int]) -> None:
        """Remove units by key, then add units as (key, words)."""
        wanted = np.fromiter(remove, dtype=np.int64)
        gone = [int(row) for row in np.flatnonzero(np.isin(self.keys(), wanted))]
        rest = iter(add)
        batch = list(islice(rest, BATCH))
        while gone or batch:
            self._commit_batch(batch, gone)
            gone, batch = [], list(islice(rest, BATCH))

    def close(self) -> None:
        """Release files; the index is not used afterwards."""
        if self._reader is not None:
            self._reader.close()
            self._reader = None
        self._index.close()

    def _make_schema(self) -> Any:
        words = fields.KEYWORD(scorable=False)
        words.format = formats.Existence()
        return fields.Schema(
            **{FIELD: words, KEY: fields.COLUMN(columns.NumericColumn("i", default=-1))}
        )

    def _leaf_readers(self) -> list[tuple[Any, int]]:
        if self._reader is None:
            try:
                self._reader = self._index.reader()
            except EmptyIndexError as error:  # Another process has put a new one in its place.
                raise FileNotFoundError(str(error)) from error
        return list(self._reader.leaf_readers())

    def _commit_batch(
        self, add: Sequence[tuple[int, Sequence[str]]], remove: Sequence[int]
    ) -> None:
        # Uncompressed: the file is mapped, and inflating a block costs more than reading it.
        codec = W3Codec(blocklimit=BLOCK, compression=0)
        writer = self._index.writer(codec=codec, compound=True, limitmb=256)
        pool, fields = _Pool(), writer.fieldwriter
        fields.add_postings = lambda schema, _, merged: pool.write(fields, schema, merged)
        with ExitStack() as otherwise:
            # An abandoned writer keeps the lock of the folder.
            otherwise.callback(writer.cancel)
            for row in remove:
                writer.delete_document(row)
            for key, words in add:
                _add_document(writer, pool, key, words)
            writer.commit(merge=len(add) < BULK)
            otherwise.pop_all()
        if self._reader is not None:
            self._reader.close()
            self._reader = None


def _add_document(writer: Any, pool: _Pool, key: int, words: Sequence[str]) -> None:
    """Add a document, its postings straight into our pool."""
    add, row = pool.add, writer.docnum
    for word, count in Counter(words).items():
        add(word, row, count)
    writer.add_document(**{KEY: key})


def _segment_keys(leaf: Any) -> Ints:
    """Return the keys of a segment; the column's bytes are big-endian 32-bit numbers."""
    count = leaf.doc_count_all()
    if not count:
        return np.empty(0, dtype=np.int64)
    column = leaf.column_reader(KEY, translate=False)
    if hasattr(column, "_dbfile"):
        raw = column._dbfile.get(column._basepos, column._count * 4)
        keys = np.full(count, -1, dtype=np.int64)
        keys[: column._count] = np.frombuffer(raw, dtype=">i4")
    else:
        keys = np.asarray([column[row] for row in range(count)], dtype=np.int64)
    if leaf.has_deletions():
        keys[[row for row in range(count) if leaf.is_deleted(row)]] = -1
    return keys


def _release_memory(leaf: Any) -> None:
    """Give back the memory of what was read of a segment's file, where it is mapped."""
    terms = getattr(leaf, "_terms", None)
    content = getattr(getattr(terms, "_postfile", None), "_buf", None)
    mapped = content.obj if isinstance(content, memoryview) else None
    if isinstance(mapped, mmap.mmap):
        mapped.madvise(mmap.MADV_DONTNEED)


def _yield_blocks(leaf: Any, word: str) -> Iterator[tuple[Ints, Floats]]:
    terms = getattr(leaf, "_terms", None)
    if terms is None:
        try:
            yield _read_postings(leaf.postings(FIELD, word))
        except TermNotFound:
            return
    else:
        yield from _read_raw_blocks(terms, word)


def _read_raw_blocks(terms: Any, word: str) -> Iterator[tuple[Ints, Floats]]:
    """Read whole blocks: two pickles each, of facts about it, and of deltas and weights.

    Whoosh's own matcher makes the same of them with a dozen calls a block.
    """
    try:
        place, size = terms._tindex.range_for_key(terms._keycoder(FIELD, word.encode()))
    except KeyError:
        return
    info = terms._tindex.dbfile.get(place, size)
    if info[0]:  # so few that they stand in the term table
        ids, weights, _ = loads(info[_TERM.size :])  # noqa: S301  signed by the manifest
        yield np.asarray(ids, dtype=np.int64), np.asarray(weights, dtype=np.float64)
        return
    content = BytesIO(terms._postfile.get(*_EXTENT.unpack_from(info, _TERM.size)))
    content.seek(len(_MAGIC))
    length = 1
    while length > 0:  # the last block has a negative one
        (length,) = _LENGTH.unpack(content.read(_LENGTH.size))
        load(content)  # noqa: S301  as above
        deltas, weights, _ = load(content)  # noqa: S301  as above
        ids = np.cumsum(np.asarray(deltas, dtype=np.int64))
        if weights is None or isinstance(weights, float):
            yield ids, np.full(len(ids), 1.0 if weights is None else weights)
        else:
            yield ids, np.asarray(weights, dtype=np.float64)


def _read_postings(matcher: Any) -> tuple[Ints, Floats]:
    """Read through the public interface: short postings that stand in the term table."""
    rows, counts = [], []
    while matcher.is_active():
        rows.append(matcher.id())
        counts.append(matcher.weight())
        matcher.next()
    return np.asarray(rows, dtype=np.int64), np.asarray(counts, dtype=np.float64)
