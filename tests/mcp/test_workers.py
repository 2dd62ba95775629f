"""A client that is bound to a project or an agent: every tool keeps the rest from it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.errors import KimiMemoryError
from kimi_memory.mcp.workers import Desk
from kimi_memory.operations.merge_copy import merge_copy
from kimi_memory.server.principal import Namespace
from tests.test_copies import clone

__all__ = ["clone"]

SECRET = ("Valparaiso", "marigold", "海燕")
"""Words of another project and another agent."""
SPACES = {
    "project": Namespace("apollo"),
    "agent": Namespace("", "scout"),
    "both": Namespace("apollo", "scout"),
    "user": Namespace(user="lin"),
    "session": Namespace(session="s-apollo"),
    "shared": Namespace("apollo", "scout", shared=True),
}
Ask = Callable[[Desk, dict[str, str]], Any]
OPEN: dict[str, Ask] = {
    "search": lambda desk, hidden: desk.search("Valparaiso marigold 海燕 harbour 船坞", 50),
    "context": lambda desk, hidden: desk.context("live", "Valparaiso marigold 海燕", 9000),
    "start": lambda desk, hidden: desk.context("start", "", 9000),
}
CLOSED: dict[str, Ask] = {
    "search elsewhere": lambda desk, hidden: desk.search(
        "project:hermes agent:clerk user:bo session:s-hermes harbour"
    ),
    "get a note": lambda desk, hidden: desk.get(hidden["id"]),
    "get a file": lambda desk, hidden: desk.get(hidden["path"]),
    "get a session": lambda desk, hidden: desk.get("short-term/session_s-hermes.jsonl"),
    "get a turn": lambda desk, hidden: desk.get("session:s-hermes#1"),
    "get the overview": lambda desk, hidden: desk.get("MEMORY.md"),
    "trace": lambda desk, hidden: desk.trace(hidden["id"]),
    "timeline": lambda desk, hidden: desk.timeline(hidden["id"]),
    "blame": lambda desk, hidden: desk.blame(hidden["id"]),
    "remember elsewhere": lambda desk, hidden: desk.remember("We ship, too.", project="hermes"),
    "remember for another user": lambda desk, hidden: desk.remember("We ship.", user="bo"),
    "remember in another area": lambda desk, hidden: desk.remember(
        "We ship.", area="agent" if not desk._space.agent else "user"
    ),
    "compact somebody's chat": lambda desk, hidden: desk.compact(
        [{"role": "user", "content": "x"}] * 9, "s-hermes", force=True
    ),
    "flush into a chat": lambda desk, hidden: desk.flush(
        [{"role": "user", "content": "x"}], "s-hermes"
    ),
    "forget": lambda desk, hidden: desk.forget(note=hidden["id"], dry_run=False),
    "forget a key": lambda desk, hidden: desk.forget(key="harbour", dry_run=False),
    "count": lambda desk, hidden: desk.state(),
    "review": lambda desk, hidden: desk.waiting(),
    "graph": lambda desk, hidden: desk.entities().__enter__(),
}


def test_a_chat_is_compacted_and_flushed(tmp_path: Path, opening: Opening) -> None:
    Memory.create(tmp_path / "memory", opening=opening).close()
    chat = [{"role": "user", "content": f"第 {n} 步的构建怎么样？"} for n in range(40)]
    chat += [{"role": "user", "content": "记住：部署只在周二。"}]
    desk = Desk(tmp_path / "memory")
    try:
        flushed = desk.flush(chat, "c")
        assert (flushed["session"], flushed["stored"], len(flushed["remembered"])) == ("c", 41, 1)
        assert "memory_remember" in flushed["prompt"]
        done = desk.compact(chat, "c", 400)
        assert done["messages"][1:] == chat[-5:]
        assert (done["stored"], done["dropped"]) == (0, 36)
        assert desk.compact(chat, "c")["messages"] == chat
    finally:
        desk.close()


@pytest.fixture
def hidden(tmp_path: Path, opening: Opening) -> dict[str, str]:
    """A memory of two projects and two agents, and a card that is not to be told."""
    with Memory.create(tmp_path / "记忆", opening=opening) as memory:
        memory.remember(
            "Hermes always ships from the harbour of Valparaiso, 船坞是海燕.",
            key="harbour", type="rule", project="hermes", agent="clerk",
        )  # fmt: skip
        memory.session("s-hermes", project="hermes", agent="clerk").turn("user", "It is marigold.")
        own = memory.session("s-apollo", project="apollo", agent="scout", user="lin")
        own.turn("user", "锚链已换。")
        card = next(h.unit for h in memory.recall("kind:card harbour").hits)
        return {"root": str(memory.root), "id": card.id, "path": card.path}


@pytest.mark.parametrize("space", SPACES)
def test_a_bound_client_is_told_and_changes_its_own_only(
    hidden: dict[str, str], space: str
) -> None:
    desk = Desk(Path(hidden["root"]), space=SPACES[space])
    try:
        for name, ask in OPEN.items():
            told = json.dumps(ask(desk, hidden), ensure_ascii=False)
            assert not [word for word in SECRET if word in told], name
        # What a client is not bound to it may say; what it says is still its own.
        closed = {
            name: ask
            for name, ask in CLOSED.items()
            if (SPACES[space].project or name != "remember elsewhere")
            and (SPACES[space].user or name != "remember for another user")
        }
        for name, ask in closed.items():
            with pytest.raises(KimiMemoryError):
                ask(desk, hidden)
                pytest.fail(f"{name} was let in")
        assert desk.search("锚链")["results"]
        assert desk.remember("我们的船体用钛合金。", key="hull")["job"]
    finally:
        desk.close()
    with Memory.open(hidden["root"]) as memory:
        assert memory.get(hidden["id"]).note.status == "active"
        session = next(h.unit for h in memory.recall("kind:turn 钛合金").hits)
        bound = SPACES[space]
        if bound.session:
            assert session.session == bound.session
        else:
            whose = (session.project, session.agent, session.user)
            assert whose == (bound.project, bound.agent, bound.user)


def test_a_turn_of_others_answers_like_one_that_is_not_there(hidden: dict[str, str]) -> None:
    desk, free = Desk(Path(hidden["root"]), space=SPACES["project"]), Desk(Path(hidden["root"]))
    try:
        (own,) = (hit["id"] for hit in desk.search("锚链")["results"])
        assert "锚链已换" in desk.get(own)["text"]
        assert "marigold" in free.get("session:s-hermes#1")["text"]
        said = []
        for id in ("s-hermes", "s-nobody"):
            with pytest.raises(KimiMemoryError) as refused:
                desk.get(f"session:{id}#1")
            said.append(str(refused.value).replace(id, "ID"))
        assert said[0] == said[1]
    finally:
        desk.close()
        free.close()


def test_what_became_private_is_private_in_the_past_too(tmp_path: Path, opening: Opening) -> None:
    with Memory.create(tmp_path / "记忆", opening=opening) as memory:
        memory.remember("The spare key lies in the red box, 备用钥匙。", key="spare.key")
        memory.remember("The green lamp stands on the shelf.", key="lamp.place")
        memory.batch.flush()
        then = memory.history.head()
        (path,) = (one for one in memory.store.files("semantic") if one.endswith("spare.key.md"))
        text = (memory.root / path).read_text(encoding="utf-8")
        text = text.replace("kind: card\n", "kind: card\nscope: agent:clerk\n")
        (memory.root / path).write_text(text, encoding="utf-8")
        memory.store.reconcile()
        memory.batch.note()
        memory.batch.flush()
        root = memory.root
    bound = Desk(root, space=Namespace("", "scout", shared=True))
    free, own = Desk(root), Desk(root, space=Namespace("", "clerk", shared=True))
    try:
        for desk in (free, own):
            asked = desk.search("spare key kind:card", as_of=then)["results"]
            assert "spare.key.md" in json.dumps(asked)
            assert desk.timeline("spare.key")["states"]
        for ask in (
            lambda: bound.search("spare key red box 备用钥匙", as_of=then),
            lambda: bound.search(f"kind:card as-of:{then}"),
            lambda: bound.context("task", "where is the spare key?", as_of=then),
            lambda: bound.context("live", "spare key", as_of=then),
        ):
            assert "spare.key.md" not in json.dumps(ask())  # The session is shared as before.
        assert "green lamp" in json.dumps(bound.search("lamp kind:card", as_of=then))
        for key in ("spare.key", "no.such.key"):
            with pytest.raises(KimiMemoryError, match=f"No note or key '{key}'"):
                bound.timeline(key)
    finally:
        for desk in (bound, free, own):
            desk.close()


def test_a_bound_client_cannot_spell_out_what_the_past_is_called(
    tmp_path: Path, opening: Opening
) -> None:
    with Memory.create(tmp_path / "记忆", opening=opening) as memory:
        [done] = [memory.remember("The spare key lies in the red box.", key="spare.key").id]
        memory.batch.flush()
        memory.history.set_name("before-the-layoffs", "HEAD")
        head, root = memory.history.head(), memory.root
    free, bound = Desk(root), Desk(root, space=Namespace("", "scout", shared=True))
    asks: list[Callable[[Desk, str], Any]] = [
        lambda desk, at: desk.search("spare key", as_of=at),
        lambda desk, at: desk.search(f"spare key as-of:{at}"),
        lambda desk, at: desk.context("task", "where is the spare key?", as_of=at),
        lambda desk, at: desk.timeline("spare.key", since=at),
        lambda desk, at: desk.timeline("spare.key", until=at),
    ]
    try:
        for ask in asks:
            for there, missing in (
                ("before-the-layoffs", "after-the-layoffs"),
                (done, "remember-0123456789ab"),
                (done[:-6], "remember-012345"),
                (head[:7], "0123456"),
                ("here@{now}", "phone@{now}"),
            ):
                ask(free, there)
                said = []
                for at in (there, missing, f"{there}^"):
                    with pytest.raises(KimiMemoryError) as refused:
                        ask(bound, at)
                    said.append(str(refused.value).replace(at, "IT"))
                assert len(set(said)) == 1, said
            for at in ("v2", "today", "now", head, head[:10], "v2^") if ask in asks[:3] else ():
                ask(bound, at)
    finally:
        free.close()
        bound.close()


def test_a_client_asks_what_one_copy_knew(memory: Memory, clone: Callable[[str], Memory]) -> None:
    memory.remember("The deploy port is 8080.", key="deploy.port")
    laptop = clone("laptop")
    laptop.remember("部署端口是 9090。", key="laptop.port")
    laptop.batch.flush()
    merge_copy(memory, str(laptop.root))
    memory.remember("The deploy port is 8443 now.", key="deploy.port")
    memory.batch.flush()
    desk = Desk(memory.root)
    try:
        at = f"{laptop.copy_id}@{{now}}"
        for said in (
            json.dumps(desk.search("deploy port kind:card", as_of=at), ensure_ascii=False),
            json.dumps(desk.search(f"deploy port as-of:{at}"), ensure_ascii=False),
            json.dumps(desk.context("task", "deploy port", as_of=at), ensure_ascii=False),
        ):
            assert "8080" in said
            assert "8443" not in said
        assert "9090" in json.dumps(desk.search("部署端口", as_of=at), ensure_ascii=False)
        assert "8443" in json.dumps(desk.search("deploy port kind:card", as_of="here@{now}"))
        assert desk.timeline("deploy.port", until=at)["states"]
        with pytest.raises(KimiMemoryError, match="phone"):
            desk.search("deploy port", as_of="phone@{now}")
    finally:
        desk.close()
