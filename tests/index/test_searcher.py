"""The view ranks like a plain scorer, whatever became of the index; its cache is bounded."""

from __future__ import annotations

import math
import random
import sys
import warnings
from pathlib import Path
from subprocess import Popen

import numpy as np
import pytest
from folders import CHATS, NOW, Folder, fill

from kimi_memory.domain.search_types import Query
from kimi_memory.index import columns, files
from kimi_memory.index.index import Index
from kimi_memory.index.searcher import Searcher
from kimi_memory.index.units import read_units
from kimi_memory.recall.bm25 import K1, B
from kimi_memory.recall.ranking import candidates

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from whoosh import fields, query
    from whoosh.filedb.filestore import RamStorage
    from whoosh.util.numeric import byte_to_length, length_to_byte


WORDS = [f"w{n}" for n in range(30)] + ["部署", "日志", "数据库", "PostgreSQL"]
RARITY = [1 / (n + 1) for n in range(len(WORDS))]


def words_of(folder: Folder, index: Index) -> dict[str, list[str]]:
    """Read every page anew: the words of each unit by its id."""
    found = {}
    for path in folder.root.rglob("*.md"):
        name = path.relative_to(folder.root).as_posix()
        for unit in read_units(name, path.read_bytes(), index.split):
            found[unit.id] = index.words.of_unit(unit)
    return found


def bm25(held: dict[str, list[str]], asked: list[str]) -> dict[str, float]:
    """BM25 of every unit, written down plainly from the textbook."""
    mean = sum(map(len, held.values())) / len(held)
    scores = dict.fromkeys(held, 0.0)
    for word in asked:
        df = sum(word in words for words in held.values())
        idf = math.log(1 + (len(held) - df + 0.5) / (df + 0.5))
        for id, words in held.items():
            count = words.count(word)
            scores[id] += idf * count * (K1 + 1) / (count + K1 * (1 - B + B * len(words) / mean))
    return {id: score for id, score in scores.items() if score > 0}


def whoosh_scores(held: dict[str, list[str]], asked: list[str]) -> dict[str, float]:
    """What stock Whoosh gives each unit, asked for all of them: then it skips none."""
    schema = fields.Schema(id=fields.STORED, words=fields.KEYWORD(scorable=True))
    index = RamStorage().create_index(schema)
    writer = index.writer()
    for id, words in held.items():
        writer.add_document(id=id, words=" ".join(words))
    writer.commit()
    with index.searcher() as searcher:
        terms = query.Or([query.Term("words", word) for word in asked])
        return {hit["id"]: hit.score for hit in searcher.search(terms, limit=None)}


def of_whoosh(searcher: Searcher, asked: list[str]) -> dict[str, float]:
    """The same formula over the postings and lengths of ours."""
    scores, count = np.zeros(len(searcher)), int(searcher.alive.sum())
    mean = searcher.lengths[searcher.alive].sum() / count
    for word in asked:
        rows, counts = searcher.postings(word)
        idf = math.log(count / (len(rows) + 1)) + 1
        # Whoosh keeps lengths in a byte.
        lengths = [byte_to_length(length_to_byte(int(n))) for n in searcher.lengths[rows]]
        norm = 1.2 * (0.25 + 0.75 * np.asarray(lengths) / mean)
        scores[rows] += idf * counts * 2.2 / (counts + norm)
    ids = searcher.column("id")
    return {ids[row]: float(scores[row]) for row in np.flatnonzero(scores)}


def change(folder: Folder, index: Index, chance: random.Random) -> Index:
    """Do one random thing to a memory."""
    pages = sorted(folder.root.glob("notes/*.md"))
    page = chance.choice(pages) if pages else None
    match chance.choice(("add", "add", "add", "edit", "rename", "delete", "flush", "full", "open")):
        case "edit" if page:
            folder.write(page.relative_to(folder.root).as_posix(), text_of(chance))
        case "rename" if page:
            page.rename(page.with_name(f"r{chance.randrange(10**6)}.md"))
        case "delete" if page and len(pages) > 3:
            page.unlink()
        case "flush":
            index.refresh()
        case "full":
            index.refresh(full=chance.random() < 0.5)
        case "open":
            index.close()
            return folder.index()
        case _:
            folder.write(f"notes/n{chance.randrange(10**6)}.md", text_of(chance))
    return index


def text_of(chance: random.Random) -> str:
    body = " ".join(chance.choices(WORDS, RARITY, k=chance.randint(2, 25)))
    return f"{body}\n" if chance.random() < 0.7 else f"# {chance.choice(WORDS)}\n\n{body}\n"


def test_keyword_ranking_equals_an_exhaustive_scorer_over_random_histories(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Small blocks of the best, so that skipping them is tried too.
    monkeypatch.setattr(columns, "BLOCK", 2)
    # On a busy machine a scan takes long, and changes would be looked for more seldom.
    monkeypatch.setattr(files, "CHEAP_SECONDS", 1e9)
    asked = 0
    for seed in range(14):
        (tmp_path / str(seed)).mkdir()
        chance, folder = random.Random(seed), Folder(tmp_path / str(seed))
        index = folder.index()
        for _ in range(12):
            folder.write(f"notes/n{chance.randrange(10**6)}.md", text_of(chance))
        for _ in range(12):
            index = change(folder, index, chance)
            held = words_of(folder, index)
            for number in range(3):
                said = chance.sample(WORDS, chance.randint(1, 8))
                words = check(index, held, said)
                if number == 0 and words:
                    wanted = pytest.approx(whoosh_scores(held, words), rel=1e-4)
                    assert of_whoosh(index.searcher(), words) == wanted
                asked += 1
        folder.store.close()
    assert asked >= 500


def check(index: Index, held: dict[str, list[str]], said: list[str]) -> list[str]:
    searcher = index.searcher()
    words = index.words.of_query(Query(text=" ".join(said)), NOW)
    expected = bm25(held, words)
    ranked = candidates(searcher, Query(text=" ".join(said)), words, None, room=10)
    found = {
        searcher.column("id")[row]: ranked.parts[n]["turn"] for n, row in enumerate(ranked.rows)
    }
    best = max(expected.values(), default=1.0)
    order = sorted(expected, key=lambda id: (-round(expected[id], 9), id))
    assert found == pytest.approx({id: expected[id] / best for id in found})
    floor = expected[order[min(len(order), 10) - 1]] if order else 0.0
    assert {id for id in order if expected[id] > floor * (1 + 1e-9)} <= found.keys()
    assert len(found) >= min(10, len(order))
    return words


def test_a_reader_answers_right_while_another_process_writes(tmp_path: Path) -> None:
    """Two processes: one flushes and rebuilds, the other asks on."""
    folder = Folder(tmp_path)
    for n in range(30):
        folder.write(f"notes/{n}.md", f"heron{n} stands in the river\n")
    index = folder.index()
    index.refresh()
    with Popen([sys.executable, "-c", WRITER, str(tmp_path)]) as writer:
        rounds = 0
        while writer.poll() is None or rounds < 3:
            for n in range(0, 30, 7):
                rows, counts = index.searcher().postings(f"heron{n}")
                ids = index.searcher().column("id")
                assert [ids[row] for row in rows] == [f"notes/{n}.md#L1"]
                assert counts.tolist() == [1.0]
            rounds += 1
    assert writer.returncode == 0
    assert len(index.searcher().postings("egret")[0]) == 8
    assert index.verify() == []


WRITER = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from pathlib import Path
from folders import Folder
folder = Folder(Path(sys.argv[1]))
index = folder.index()
for n in range(8):
    folder.write(f"notes/new{{n}}.md", "an egret flies\\n")
    index.refresh(full=n % 3 == 0)
index.close()
"""


def test_the_rows_of_a_file_are_found_by_its_path(folder: Folder) -> None:
    fill(folder)
    index = folder.index()
    index.refresh()
    path = "short-term/session_a.jsonl"
    folder.session("a", [*CHATS["a"], ("Bob", "The mascot is a capybara.")])
    folder.session("new", CHATS["b"])
    view = index.searcher()
    for one in (path, "short-term/session_new.jsonl", "USER.md"):
        expected = [row for row in view.living() if view.path(row) == one]
        assert view.rows_of(one).tolist() == expected
    assert len(view.rows_of(path)) == len(CHATS["a"]) + 1
