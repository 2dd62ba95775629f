"""Keyword index on Whoosh: its segments hold the postings, we read them in blocks.

Why it exists: Whoosh keeps postings safe on disk in pure Python, but its matchers
cost two microseconds a posting and its top-k search misses hits. Recall scores for
itself and only needs postings, which come out of a block as whole arrays.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kimi_memory import hookimpl

if TYPE_CHECKING:
    from kimi_memory.model.engine import Floats, Ints, KeywordIndex

FIELD = "words"
KEY = "key"
FORMAT = "w3/1024/0"
BATCH = 10_000
"""Documents in one commit: larger ones spill to disk and grow slower."""
BULK = 1_000
"""From so many documents on, a commit leaves the merging of segments to later ones."""


@hookimpl(trylast=True)
def open_keywords(folder: Path) -> KeywordIndex:
    """Open or make the index in `folder`."""
    return WhooshIndex(folder)


def _whoosh() -> Any:
    # Whoosh 2.7.4 has escapes that later Pythons warn about when they compile it.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        warnings.simplefilter("ignore", DeprecationWarning)
        import whoosh
        import whoosh.codec.whoosh3
        import whoosh.columns
        import whoosh.fields
        import whoosh.filedb.filestore
        import whoosh.formats
        import whoosh.index
    return whoosh


class WhooshIndex:
    """One index folder, read as it was when opened or last written."""

    def __init__(self, folder: Path) -> None:
        self._whoosh = _whoosh()
        # A mapped segment would be copied whole into memory when it is opened.
        storage = self._whoosh.filedb.filestore.FileStorage(str(folder), supports_mmap=False)
        self._index = (
            storage.open_index() if storage.index_exists() else storage.create_index(self._schema())
        )
        self._reader: Any = None

    @property
    def name(self) -> str:
        """Engine, version and format."""
        return f"whoosh {self._whoosh.versionstring()} {FORMAT}"

    def keys(self) -> Ints:
        """Return the key of each row; -1 where the unit was removed."""
        import numpy as np

        found = [_keys(leaf) for leaf, _ in self._leaves()]
        return np.concatenate([*found, np.empty(0, dtype=np.int64)])

    def postings(self, word: str) -> tuple[Ints, Floats]:
        """Return the rows that hold `word`, ascending, and how often each does."""
        import numpy as np

        rows, counts = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.float64)]
        for leaf, offset in self._leaves():
            for ids, weights in _blocks(leaf, word):
                rows.append(ids + offset)
                counts.append(weights)
        return np.concatenate(rows), np.concatenate(counts)

    def write(self, add: Iterable[tuple[int, Sequence[str]]], remove: Iterable[int]) -> None:
        """Remove units by key, then add units as (key, words)."""
        gone, rest = self._rows(remove), iter(add)
        batch = list(islice(rest, BATCH))
        while gone or batch:
            self._commit(batch, gone)
            gone, batch = [], list(islice(rest, BATCH))

    def close(self) -> None:
        """Release files; the index is not used afterwards."""
        if self._reader is not None:
            self._reader.close()
            self._reader = None
        self._index.close()

    def _schema(self) -> Any:
        fields, columns = self._whoosh.fields, self._whoosh.columns
        words = fields.KEYWORD(scorable=False)
        words.format = self._whoosh.formats.Existence()
        return fields.Schema(
            **{FIELD: words, KEY: fields.COLUMN(columns.NumericColumn("i", default=-1))}
        )

    def _leaves(self) -> list[tuple[Any, int]]:
        if self._reader is None:
            self._reader = self._index.reader()
        return list(self._reader.leaf_readers())

    def _rows(self, keys: Iterable[int]) -> list[int]:
        import numpy as np

        wanted = np.fromiter(keys, dtype=np.int64)
        return [int(row) for row in np.flatnonzero(np.isin(self.keys(), wanted))]

    def _commit(self, add: Sequence[tuple[int, Sequence[str]]], remove: Sequence[int]) -> None:
        codec = self._whoosh.codec.whoosh3.W3Codec(blocklimit=1024, compression=0)
        writer = self._index.writer(codec=codec, compound=True)
        write = writer.fieldwriter.add_postings
        # Without a length column Whoosh looks for its file once per posting.
        writer.fieldwriter.add_postings = lambda schema, _, items: write(schema, None, items)
        try:
            for row in remove:
                writer.delete_document(row)
            for key, words in add:
                _add(writer, key, words)
            writer.commit(merge=len(add) < BULK)
        except BaseException:
            # An abandoned writer keeps the lock of the folder.
            writer.cancel()
            raise
        if self._reader is not None:
            self._reader.close()
            self._reader = None


def _add(writer: Any, key: int, words: Sequence[str]) -> None:
    """Add a document, its postings straight into the pool that sorts them.

    The field's own way makes an object of every word and costs a third more.
    """
    add, row = writer.pool.add, writer.docnum
    for word, count in Counter(words).items():
        add((FIELD, word.encode(), row, float(count), b""))
    writer.add_document(**{KEY: key})


def _keys(leaf: Any) -> Ints:
    """Return the keys of a segment; the column's bytes are big-endian 32-bit numbers."""
    import numpy as np

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


def _blocks(leaf: Any, word: str) -> Iterator[tuple[Ints, Floats]]:
    from whoosh.reading import TermNotFound

    terms = getattr(leaf, "_terms", None)
    try:
        if terms is None:
            matcher = leaf.postings(FIELD, word)
        else:
            # The public way wraps deletions around each matcher, which skips blocks.
            matcher = terms.matcher(FIELD, word.encode(), leaf.schema[FIELD].format)
    except TermNotFound:
        return
    if hasattr(matcher, "_read_data"):
        yield from _raw(matcher)
    else:
        yield _walk(matcher)


def _raw(matcher: Any) -> Iterator[tuple[Ints, Floats]]:
    """Read whole blocks: a pickled tuple of id deltas, weights and values."""
    import numpy as np

    while not matcher._atend:
        matcher._read_data()
        deltas, weights = matcher._data[0], matcher._data[1]
        ids = np.cumsum(np.asarray(deltas, dtype=np.int64))
        if isinstance(weights, tuple):
            yield ids, np.asarray(weights, dtype=np.float64)
        else:
            yield ids, np.full(len(ids), 1.0 if weights is None else weights)
        matcher._next_block()


def _walk(matcher: Any) -> tuple[Ints, Floats]:
    """Read through the public interface: short postings that stand in the term table."""
    import numpy as np

    rows, counts = [], []
    while matcher.is_active():
        rows.append(matcher.id())
        counts.append(matcher.weight())
        matcher.next()
    return np.asarray(rows, dtype=np.int64), np.asarray(counts, dtype=np.float64)
