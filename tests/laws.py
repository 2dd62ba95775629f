"""All that writes into a memory: every kind of job with something to do, in both languages."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kimi_memory.plugins.compaction.compact_chat import compact, flush
from kimi_memory.plugins.obsidian import write_views
from kimi_memory.plugins.skills import propose

from kimi_memory import Memory, Opening
from kimi_memory.domain.compaction import Limits
from kimi_memory.domain.note import Card, Link, LinkRel, Quote, Source
from kimi_memory.domain.operation_types import Wanted
from kimi_memory.domain.search_types import Query
from kimi_memory.jobs.correct import Correct
from kimi_memory.jobs.pick import Choice as Taken
from kimi_memory.jobs.pick import Pick
from kimi_memory.jobs.rename import Rename
from kimi_memory.jobs.resolve_conflict import Choice, Resolve, conflicts
from kimi_memory.jobs.rollback import Rollback, Target
from kimi_memory.jobs.settle import Brought, Settle
from kimi_memory.operations.adopt_memory import plan_adoption
from kimi_memory.operations.forget import Doomed, forget, purge
from kimi_memory.operations.import_memories import import_store
from kimi_memory.operations.introspect import introspect
from kimi_memory.operations.links import Wanted as Tie
from kimi_memory.operations.links import link, unlink
from kimi_memory.operations.pick import pick
from kimi_memory.operations.projects import finish_project, projects
from kimi_memory.operations.review_queue import Answer, answer, review
from kimi_memory.operations.rollback import roll_back
from kimi_memory.recall.browse import ListQuery
from kimi_memory.store.notes.notes import Filed, Shelf
from tests.conftest import Clock
from tests.jobs.notes import card, put

PACKAGE = Path(__file__).parents[1] / "kimi_memory"

WORDS = {
    "en": {
        "decide": "We decided to use PostgreSQL for the orders database, because it scales.",
        "rule": "Rule: we never deploy on Fridays.",
        "lesson": "Lesson: the last deploy failed because there was no backup.",
        "wish": "I prefer dark mode in the editor.",
        "one": "The deploy port is 8080.",
        "two": "The deploy port is 8081.",
        "same": "The office of the northern branch has eleven desks",
        "again": "the office of the northern branch has eleven desks.",
        "near": "The office of the northern branch has eleven old chairs",
        "idle": "A kettle stood on the third shelf",
        "edit": "My dentist is Doctor Abernathy in Oslo.",
        "edited": "My dentist is Doctor Berg in Turku.",
        "fresh": "The spare key lies in the red box.",
        "memo": "The printer on the second floor answers to the name of Bertha.",
        "ask": "Please deploy the shop",
        "steps": "```sh\nmake test\ngit tag v{n}\nmake upload\n```",
        "line": "Please look at line {n} of the log.",
        "ok": "Fine.",
    },
    "zh": {
        "decide": "订单数据库我们决定用 PostgreSQL，因为扩展性好。",
        "rule": "规矩：周五不要发版。",
        "lesson": "教训：上次部署失败是因为没有备份，下次部署之前一定先备份。",
        "wish": "我喜欢深色主题。",
        "one": "部署端口是 8080。",
        "two": "部署端口是 8081。",
        "same": "北方分部的办公室一共有十一张桌子",
        "again": "北方分部的办公室一共有十一张桌子。",
        "near": "北方分部的办公室一共有十一把旧椅子",
        "idle": "第三层架子上放着一个水壶",
        "edit": "我的牙医是奥斯陆的李医生。",
        "edited": "我的牙医是图尔库的王医生。",
        "fresh": "备用钥匙放在红色的盒子里。",
        "memo": "二楼的打印机名叫贝尔塔。",
        "ask": "怎么发版？",
        "steps": "先跑完整测试，再打标签，最后推送到服务器。",
        "line": "看看第 {n} 行日志。",
        "ok": "好的。",
    },
}
Words = dict[str, str]


@dataclass(frozen=True)
class World:
    """A memory in one language, and the clock it goes by."""

    memory: Memory
    clock: Clock
    words: Words

    def talk(self, id: str, *names: str, area: str = "") -> None:
        """Have a session said and ended, and leave it undistilled."""
        session = self.memory.session(id, project="atlas", user="Lin", area=area)
        for name in names:
            session.turn("user", self.words[name])
            session.turn("assistant", self.words["ok"])
        self.memory.mark_ended(session.id)


Act = Callable[[World], object]


@dataclass(frozen=True)
class Row:
    """One way in which memory is changed."""

    kind: str
    """What it calls itself in its commit."""
    prepare: Act
    """Give it something to do."""
    act: Act
    """Do it."""
    dry: Act | None = None
    """Do it without doing it; None where nothing is decided that a person could look at."""
    undoes: bool = True
    """Whether it can be taken back."""
    captures: bool = False
    """Whether it stores turns first, which no undo takes away."""


def _distil(world: World) -> None:
    world.talk("s", "decide", "rule", "lesson", "wish")


def _daily(world: World) -> None:
    world.talk("s", "decide", "rule", "lesson")
    world.memory.distil("s")
    world.memory.recall(world.words["decide"])


def _project(world: World) -> None:
    _daily(world)
    world.memory.consolidate("daily")


def _weekly(world: World) -> None:
    _daily(world)
    _two_cards(world, "")


def _own_weekly(world: World) -> None:
    _own_daily(world)
    _two_cards(world, "user:Lin")


def _two_cards(world: World, scope: str) -> None:
    """Keep what daily makes, and two cards that weekly merges."""
    world.memory.consolidate("daily")
    tied = Link("card-b", LinkRel.SIMILAR_TO, 0.9, "suggested: 0.90 alike")
    put(
        world.memory,
        card("a", world.words["same"], links=(tied,), scope=scope),
        card("b", world.words["near"], scope=scope),
    )


def _own_daily(world: World) -> None:
    world.talk("s", "decide", "rule", "lesson", area="user")
    world.talk("t", "decide", "wish")
    for id in ("s", "t"):
        world.memory.distil(id)
    world.memory.recall(world.words["decide"])


def _introspect(world: World) -> None:
    one, two = Quote("s1", 1, world.words["same"]), Quote("s2", 3, world.words["again"])
    put(
        world.memory,
        card("a", world.words["same"], age=5, quotes=(one,), sources=(Source.from_quote(one),)),
        card("b", world.words["again"], age=2, quotes=(two,), sources=(Source.from_quote(two),)),
        card("c", world.words["near"], links=(Link("card-b", LinkRel.DEPENDS_ON, 0.8),)),
        card("d", world.words["idle"], age=200, temperature=0.01, importance=0.1),
    )


def _import(world: World) -> None:
    folder = world.memory.root.parent / "cards"
    folder.mkdir(exist_ok=True)
    for name in ("memo", "fresh"):
        text = f"---\ntitle: {name}\ncreated: 2026-01-05\n---\n{world.words[name]}\n"
        (folder / f"{name}.md").write_text(text, encoding="utf-8")


def _imported(world: World, *, dry_run: bool) -> object:
    return import_store(world.memory, world.memory.root.parent / "cards", dry_run=dry_run)


def _messages(world: World) -> list[dict[str, object]]:
    said = [world.words["decide"], *(world.words["line"].format(n=n) for n in range(60))]
    return [
        {"role": role, "content": text}
        for text in said
        for role, text in (("user", text), ("assistant", world.words["ok"] + text[:9]))
    ]


def _known(world: World) -> None:
    world.memory.remember(world.words["one"], key="deploy.port")
    world.memory.remember(world.words["edit"], key="health.dentist")
    world.talk("day", "decide")
    world.memory.distil("day")
    world.memory.consolidate("daily")


def _disputed(world: World) -> None:
    _known(world)
    world.memory.remember(world.words["two"], key="deploy.port")


def _corrected(world: World, *, dry_run: bool) -> object:
    held = ListQuery(filters=Query(text="", kind=("card",), status=("active",)), sort="key")
    found = world.memory.browse(held).units
    id = found[0].id if found else "card-none"
    return world.memory.run(Correct(world.memory, id, "It is otherwise."), dry_run=dry_run)


def _resolved(world: World, *, dry_run: bool) -> object:
    found = conflicts(world.memory)
    side = found[0].sides[1].id if found else ""
    return world.memory.run(
        Resolve(world.memory, "deploy.port", Choice(keep=side)), dry_run=dry_run
    )


def _apart(world: World) -> None:
    """File two cards of one key, as two copies write them."""
    for name in ("one", "two"):
        put(world.memory, card(name, world.words[name], key="deploy.port", category=name))


def _settled(world: World, *, dry_run: bool) -> object:
    paths = frozenset(entry.path for entry in Shelf(world.memory.store).entries().values())
    merge = Settle(world.memory, Brought("a b 1", world.clock(), paths))
    return world.memory.run(merge, dry_run=dry_run)


def _parted(world: World) -> None:
    """Make another copy beside the memory, which learned more."""
    world.memory.remember(world.words["one"], key="deploy.port")
    world.memory.batch.flush()
    there = world.memory.root.parent / "other"
    subprocess.run(["git", "clone", "-q", world.memory.root, there], check=True)
    opening = Opening(home=world.memory.home, clock=world.clock, background=False)
    with Memory.open(there, opening) as other:
        other.remember(world.words["fresh"], key="key.spare")
        other.batch.flush()
    theirs = world.memory.history.merger().fetch(there)
    world.memory.history.set_name("theirs", theirs)


def _befriended(world: World) -> None:
    """Make another memory beside this one."""
    there = world.memory.root.parent / "friend"
    opening = Opening(home=world.memory.home, clock=world.clock, background=False)
    with Memory.create(there, opening=opening) as friend:
        friend.remember(world.words["fresh"], key="key.spare")
        friend.batch.flush()


def _adopted_dry(world: World) -> object:
    there = world.memory.root.parent / "friend"
    job, _ = plan_adoption(world.memory, *world.memory.history.merger().see(there), "friend")
    return world.memory.run(job, dry_run=True)


def _picked(world: World, *, dry_run: bool = False) -> object:
    theirs = world.memory.history.names()["theirs"]
    if not dry_run:
        return pick(world.memory, "key.spare", theirs)
    return world.memory.run(Pick(world.memory, Taken(theirs, ("key.spare",))), dry_run=True)


def _changed_mind(world: World) -> None:
    memory = world.memory
    memory.remember(world.words["one"], key="deploy.port")
    memory.batch.flush()
    memory.history.set_name("first", memory.history.head())
    memory.remember(world.words["two"], key="deploy.port")
    memory.remember(world.words["fresh"], key="key.spare")


def _returned(world: World, *, dry_run: bool = False) -> object:
    first = world.memory.points.find("first")
    if not dry_run:
        return roll_back(world.memory, "first", sure=True)
    target = Target(first.commit, f"v{first.version}")
    return world.memory.run(Rollback(world.memory, target, sure=True), dry_run=True)


def _edited(world: World) -> None:
    _known(world)
    page = world.memory.root / "MEMORY.md"
    text = page.read_text(encoding="utf-8")
    changed = text.replace(world.words["edit"], world.words["edited"])
    assert changed != text
    page.write_text(f"{changed}- key.spare: {world.words['fresh']}\n", encoding="utf-8")


def _waiting(world: World) -> None:
    _edited(world)
    world.memory.take_edits()


def _answered(world: World, accept: bool, *, dry_run: bool = False) -> object:
    return answer(world.memory, _waits(world), Answer(accept=accept, why="law"), dry_run=dry_run)


def _waits(world: World) -> str:
    """Return the id of what waits, also once it waits no more."""
    found = [one.id for one in review(world.memory)]
    mark = world.memory.root.parent / "waits"
    if found:
        mark.write_text(found[0], encoding="utf-8")
    return mark.read_text(encoding="utf-8")


def _rewritten(world: World) -> None:
    _known(world)
    [found] = [f for f in Shelf(world.memory.store).notes("card") if _says(f, world.words["edit"])]
    head, rule, body = found.text.rpartition("\n---\n")
    changed = body.replace(world.words["edit"], world.words["edited"], 1)
    (world.memory.root / found.path).write_text(head + rule + changed, encoding="utf-8")


def _says(filed: Filed, words: str) -> bool:
    return isinstance(filed.note, Card) and filed.note.value == words


def _suggested(world: World) -> None:
    tied = Link("card-b", LinkRel.SIMILAR_TO, 0.75, "suggested: 0.75 alike")
    put(
        world.memory,
        card("a", world.words["same"], links=(tied,)),
        card("b", world.words["near"]),
    )


def _tied(world: World) -> None:
    put(world.memory, card("a", world.words["same"]), card("b", world.words["idle"]))


def _untied(world: World) -> None:
    _tied(world)
    link(world.memory, Tie(source="card-a", target="card-b"))


def _worked(world: World) -> None:
    for n in range(3):
        with world.memory.session(f"w{n}") as session:
            session.turn("user", world.words["ask"])
            session.turn("assistant", world.words["steps"].format(n=n))


TABLE: dict[str, Row] = {
    "distil": Row(
        "distil",
        _distil,
        lambda w: w.memory.distil("s"),
        lambda w: w.memory.distil("s", dry_run=True),
    ),
    "daily": Row(
        "daily",
        _daily,
        lambda w: w.memory.consolidate("daily"),
        lambda w: w.memory.consolidate("daily", dry_run=True),
    ),
    "weekly": Row(
        "weekly",
        _weekly,
        lambda w: w.memory.consolidate("weekly"),
        lambda w: w.memory.consolidate("weekly", dry_run=True),
    ),
    "rename": Row(
        "rename",
        _known,
        lambda w: w.memory.run(Rename(w.memory, "deploy.port", "release.port")),
        lambda w: w.memory.run(Rename(w.memory, "deploy.port", "release.port"), dry_run=True),
    ),
    "obsidian": Row(
        "obsidian",
        _known,
        lambda w: write_views(w.memory),
        lambda w: write_views(w.memory, dry_run=True),
    ),
    "project": Row(
        "project",
        _project,
        lambda w: finish_project(w.memory, projects(w.memory)[0].name),
        lambda w: finish_project(w.memory, projects(w.memory)[0].name, dry_run=True),
    ),
    "daily of what is private": Row(
        "daily",
        _own_daily,
        lambda w: w.memory.consolidate("daily"),
        lambda w: w.memory.consolidate("daily", dry_run=True),
    ),
    "weekly of what is private": Row(
        "weekly",
        _own_weekly,
        lambda w: w.memory.consolidate("weekly"),
        lambda w: w.memory.consolidate("weekly", dry_run=True),
    ),
    "introspect": Row(
        "introspect",
        _introspect,
        lambda w: introspect(w.memory),
        lambda w: introspect(w.memory, dry_run=True),
    ),
    "import": Row(
        "import",
        _import,
        lambda w: _imported(w, dry_run=False),
        lambda w: _imported(w, dry_run=True),
    ),
    "forget a key": Row(
        "forget",
        _known,
        lambda w: forget(w.memory, Wanted(key="health.dentist")),
        lambda w: forget(w.memory, Wanted(key="health.dentist"), dry_run=True),
    ),
    "forget words": Row(
        "forget",
        _known,
        lambda w: forget(w.memory, Wanted(query=w.words["edit"])),
        lambda w: forget(w.memory, Wanted(query=w.words["edit"]), dry_run=True),
    ),
    "forget a session": Row(
        "forget",
        _known,
        lambda w: forget(w.memory, Wanted(session="day")),
        lambda w: forget(w.memory, Wanted(session="day"), dry_run=True),
    ),
    "pages": Row(
        "pages",
        _edited,
        lambda w: w.memory.take_edits(),
        lambda w: w.memory.take_edits(dry_run=True),
    ),
    "pages takes a card's own file": Row(
        "pages",
        _rewritten,
        lambda w: w.memory.take_edits(),
        lambda w: w.memory.take_edits(dry_run=True),
    ),
    "review accepts a link": Row(
        "review",
        _suggested,
        lambda w: _answered(w, True),
        lambda w: _answered(w, True, dry_run=True),
    ),
    "review rejects a link": Row(
        "review",
        _suggested,
        lambda w: _answered(w, False),
        lambda w: _answered(w, False, dry_run=True),
    ),
    "review accepts": Row(
        "review",
        _waiting,
        lambda w: _answered(w, True),
        lambda w: _answered(w, True, dry_run=True),
    ),
    "review rejects": Row(
        "review",
        _waiting,
        lambda w: _answered(w, False),
        lambda w: _answered(w, False, dry_run=True),
    ),
    "pick": Row("pick", _parted, _picked, lambda w: _picked(w, dry_run=True)),
    "adopt": Row(
        "adopt",
        _befriended,
        lambda w: w.memory.adopt(w.memory.root.parent / "friend"),
        _adopted_dry,
    ),
    "rollback": Row("rollback", _changed_mind, _returned, lambda w: _returned(w, dry_run=True)),
    "merge": Row(
        "merge",
        _apart,
        lambda w: _settled(w, dry_run=False),
        lambda w: _settled(w, dry_run=True),
    ),
    "resolve": Row(
        "resolve",
        _disputed,
        lambda w: _resolved(w, dry_run=False),
        lambda w: _resolved(w, dry_run=True),
    ),
    "correct": Row(
        "correct",
        _known,
        lambda w: _corrected(w, dry_run=False),
        lambda w: _corrected(w, dry_run=True),
    ),
    "link": Row(
        "link",
        _tied,
        lambda w: link(w.memory, Tie(source="card-a", target="card-b")),
        lambda w: link(w.memory, Tie(source="card-a", target="card-b"), dry_run=True),
    ),
    "unlink": Row(
        "link",
        _untied,
        lambda w: unlink(w.memory, Tie(source="card-a", target="card-b")),
        lambda w: unlink(w.memory, Tie(source="card-a", target="card-b"), dry_run=True),
    ),
    "skills": Row(
        "skills",
        _worked,
        lambda w: propose(w.memory),
        lambda w: propose(w.memory, dry_run=True),
    ),
    "remember": Row(
        "remember",
        lambda w: flush(w.memory, [{"role": "user", "content": w.words["ok"]}], "c"),
        lambda w: flush(w.memory, [{"role": "user", "content": w.words["rule"]}], "c"),
        captures=True,
    ),
    "compact": Row(
        "compact",
        lambda w: flush(w.memory, _messages(w), "c"),
        lambda w: compact(w.memory, _messages(w), Limits(1500), session="c"),
    ),
    "purge": Row(
        "purge",
        _known,
        lambda w: purge(w.memory, Doomed(texts=(w.words["edit"],)), yes=True),
        lambda w: purge(w.memory, Doomed(texts=(w.words["edit"],))),
        undoes=False,
    ),
}
"""Every job, and some of them in several ways."""


def writers() -> set[str]:
    """Return the modules outside of the store that write files of truth."""
    found = set()
    for path in sorted(PACKAGE.rglob("*.py")):
        where = path.relative_to(PACKAGE).as_posix()
        if where.startswith("store/"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                holder = ast.unparse(node.func.value)
                if node.func.attr in ("apply", "append") and holder.endswith("store"):
                    found.add(where)
    return found
