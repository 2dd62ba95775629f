"""What a memory does at a moment of an agent's session."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kimi_memory import Memory, hookimpl
from kimi_memory.agent_hooks import agent_protocols, spool
from kimi_memory.agent_hooks.respond import LONGEST, Reply, question_of
from kimi_memory.domain.search_types import Query
from kimi_memory.store.notes import sessions
from kimi_memory.store.notes.notes import Shelf

IDLE = [
    *("ok", "OK!", "thanks", "Thanks, looks good!", "yes please", "go on", "continue", "lgtm"),
    *(
        "好的",
        "继续",
        "嗯嗯",
        "谢谢！",
        "好的，继续",
        "没问题。",
        "/compact",
        "!ls",
        "# note",
        "",
        "  \n",
    ),
    "<system-reminder>do this</system-reminder>",
]
ASKED = [
    *("Which port does the database use?", "fix the login test", "why?", "继续改登录的测试"),
    *("数据库端口是多少", "ok, but which port?", "好的，端口是多少？", "thanks to whom?"),
]
SAID = "Remember: the staging database listens on port 6543, not on the default one."


@pytest.mark.parametrize("prompt", IDLE)
def test_small_talk_and_commands_ask_nothing(prompt: str) -> None:
    assert question_of(prompt) == ""


@pytest.mark.parametrize("prompt", ASKED)
def test_questions_and_tasks_are_asked(prompt: str) -> None:
    assert question_of(prompt) == prompt


def test_blocks_that_programs_put_in_are_not_asked() -> None:
    said = "<hook_context>old memory</hook_context>\nWhich port?"
    assert question_of(said) == "Which port?"


def test_of_pasted_matter_head_and_tail_are_asked() -> None:
    asked = question_of("head " + "x" * 3 * LONGEST + " tail")
    assert asked.startswith("head ")
    assert asked.endswith(" tail")
    assert len(asked) <= LONGEST + 1


def event(host: str, moment: str, **payload: object) -> dict:
    names = {known: name for name, known in agent_protocols.EVENTS[host].items()}
    base = {"session_id": "s1", "cwd": "/home/me/shop", "hook_event_name": names[moment]}
    return {"host": host, "moment": moment, "payload": {**base, **payload}}


def transcript(path: Path, *texts: str, session: str = "s1") -> Path:
    lines = [
        {
            "type": ("user", "assistant")[n % 2],
            "uuid": f"u{n}",
            "parentUuid": f"u{n - 1}" if n else None,
            "sessionId": session,
            "timestamp": f"2026-02-27T09:{n:02}:00Z",
            "cwd": "/home/me/shop",
            "message": {"role": ("user", "assistant")[n % 2], "content": text},
        }
        for n, text in enumerate(texts)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def turns(memory: Memory) -> list[str]:
    places = sessions.places(memory.store)
    return [t.text for p in places for t in sessions.read(memory.store, p.path).turns]


def test_a_prompt_is_answered_from_an_earlier_session(memory: Memory, tmp_path: Path) -> None:
    path = transcript(tmp_path / "s1.jsonl", SAID, "Noted.")
    reply = Reply(memory)
    assert reply.to(event("claude", "end", transcript_path=str(path))) == ""
    said = reply.to(event("claude", "prompt", session_id="s2", prompt="Which port is staging on?"))
    inner = json.loads(said)["hookSpecificOutput"]
    assert inner["hookEventName"] == "UserPromptSubmit"
    assert "6543" in inner["additionalContext"]


def test_small_talk_gets_no_answer(memory: Memory) -> None:
    memory.remember(SAID)
    assert Reply(memory).to(event("claude", "prompt", prompt="好的，继续")) == ""


def test_a_growing_transcript_is_stored_once(memory: Memory, tmp_path: Path) -> None:
    reply, path = Reply(memory), tmp_path / "s1.jsonl"
    for texts in (("one", "two"), ("one", "two", "three", "four")):
        transcript(path, *texts)
        reply.to(event("claude", "turn", transcript_path=str(path)))
        reply.to(event("claude", "compact", transcript_path=str(path)))
    assert turns(memory) == ["one", "two", "three", "four"]
    reply.to(event("claude", "end", transcript_path=str(path)))
    reply.to(event("claude", "end", transcript_path=str(path)))
    assert not [p for p in sessions.places(memory.store) if p.open]
    assert turns(memory) == ["one", "two", "three", "four"]


@pytest.mark.parametrize("text", [None, "", "not a transcript"])
def test_a_transcript_that_cannot_be_read_harms_nothing(
    memory: Memory, tmp_path: Path, text: str | None
) -> None:
    path = tmp_path / "s1.jsonl"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    assert Reply(memory).to(event("claude", "end", transcript_path=str(path))) == ""
    assert turns(memory) == []


@pytest.mark.parametrize(
    ("host", "name"),
    [("gemini", "prompt_response"), ("qwen", "last_assistant_message"), ("opencode", "response")],
)
def test_programs_without_a_transcript_tell_what_was_said(
    memory: Memory, host: str, name: str
) -> None:
    reply = Reply(memory)
    reply.to(event(host, "prompt", prompt="把部署改到周五。", prompt_id="p1"))
    reply.to(event(host, "prompt", prompt="把部署改到周五。", prompt_id="p1"))
    reply.to(event(host, "turn", **{name: "好，周五部署。"}))
    assert turns(memory) == ["把部署改到周五。", "好，周五部署。"]
    reply.to(event(host, "end"))
    assert not [p for p in sessions.places(memory.store) if p.open]


def test_a_program_that_is_deaf_at_the_start_hears_it_with_its_first_prompt(
    memory: Memory,
) -> None:
    memory.remember("I prefer tabs over spaces in Makefiles.")
    reply = Reply(memory)
    first = reply.to(event("kimi", "prompt", prompt="Write the release notes for version two."))
    assert "tabs over spaces" in first
    assert not first.startswith("{")
    second = reply.to(event("kimi", "prompt", prompt="And the changelog of version two, please."))
    assert "tabs over spaces" not in second


def test_what_was_recalled_is_never_stored_again(memory: Memory) -> None:
    memory.remember(SAID)
    reply = Reply(memory)
    block = reply.to(event("kimi", "prompt", prompt="Which port is staging on?"))
    assert "6543" in block
    reply.to(event("kimi", "prompt", prompt=f"{block}\nWhich host is it?", prompt_id="p2"))
    assert "Which host is it?" in [turn.strip() for turn in turns(memory)]
    assert len([turn for turn in turns(memory) if "6543" in turn]) == 1


class Killed(BaseException):
    """The end of a process in the middle of its work."""


class _Slow:
    """A plugin that recall does not come back from."""

    @hookimpl
    def expand_query(self, query: Query) -> list[str]:
        raise Killed


@pytest.mark.parametrize("host", ["kimi", "gemini", "qwen", "opencode"])
def test_a_prompt_is_stored_before_memory_is_asked(memory: Memory, host: str) -> None:
    memory.host.register(_Slow(), "slow")
    asked = event(host, "prompt", prompt="Which port does the staging database listen on?")
    with pytest.raises(Killed):
        Reply(memory).to(asked)
    assert turns(memory) == ["Which port does the staging database listen on?"]


def test_a_prompt_is_not_recalled_to_itself(memory: Memory) -> None:
    assert Reply(memory).to(event("gemini", "prompt", prompt=SAID)) == ""
    assert [filed.note.value for filed in Shelf(memory.store).notes("card")] == [SAID]


def test_an_event_that_server_and_hook_both_deal_with_is_stored_once(memory: Memory) -> None:
    asked = {**event("kimi", "prompt", prompt=SAID), "id": "17-42"}
    for _ in range(2):
        Reply(memory).to(asked)
    assert turns(memory) == [SAID]


@pytest.mark.parametrize("host", ["claude", "codex"])
def test_the_block_fits_what_the_program_passes_on(memory: Memory, host: str) -> None:
    for n in range(8):
        memory.remember(f"规则{n}：第{n}个服务的超时必须设为{n}秒，" + "否则网关会重试。" * 60)
    block = Reply(memory).to(event(host, "start"))
    assert block
    inner = json.loads(block)["hookSpecificOutput"]["additionalContext"]
    assert agent_protocols.fits(host, inner)


def test_the_spool_is_worked_off_once(memory: Memory, tmp_path: Path) -> None:
    root, path = str(memory.root), transcript(tmp_path / "s1.jsonl", "one", "two")
    for moment in ("turn", "turn", "end"):
        spool.put(root, event("claude", moment, transcript_path=str(path)))
    spool.put(root, {"host": "nobody", "moment": "turn", "payload": {}})
    assert Reply(memory).drain() == 4
    assert turns(memory) == ["one", "two"]
    assert spool.take_events(root) == []
    assert not [p for p in sessions.places(memory.store) if p.open]
    assert Reply(memory).drain() == 0


def test_every_word_of_a_user_is_stored_even_where_nothing_is_asked(memory: Memory) -> None:
    reply = Reply(memory)
    for prompt in ("把部署改到周五。", "好的，继续", "ok", ""):
        reply.to(event("kimi", "prompt", prompt=prompt))
    assert turns(memory) == ["把部署改到周五。", "好的，继续", "ok"]


def test_an_event_that_fails_stays_and_holds_up_no_other(memory: Memory, tmp_path: Path) -> None:
    root = str(memory.root)
    good = transcript(tmp_path / "s1.jsonl", "one", "two")
    bad = transcript(tmp_path / "s2.jsonl", "three", "four", session="s2")
    spool.put(root, event("claude", "turn", session_id="s2", transcript_path=str(bad)))
    spool.put(root, event("claude", "end", transcript_path=str(good)))
    (memory.root / "short-term/session_s2.jsonl").mkdir()
    Reply(memory).drain()
    assert turns(memory) == ["one", "two"]
    assert len(spool.take_events(root)) == 1
    (memory.root / "short-term/session_s2.jsonl").rmdir()
    Reply(memory).drain()
    assert sorted(turns(memory)) == ["four", "one", "three", "two"]
    assert spool.take_events(root) == []


def test_a_session_whose_end_was_never_told_is_ended(memory: Memory, clock, tmp_path: Path) -> None:
    path = transcript(tmp_path / "s1.jsonl", "one", "two")
    Reply(memory).to(event("claude", "turn", transcript_path=str(path)))
    memory.session("mine", host="cli").turn("user", "this one is a person's own and stays open")
    clock.move(hours=1)
    Reply(memory).sweep()
    assert len([p for p in sessions.places(memory.store) if p.open]) == 2
    clock.move(hours=6)
    Reply(memory).sweep()
    assert [p.id for p in sessions.places(memory.store) if p.open] == ["mine"]


def test_what_a_program_puts_before_a_prompt_is_not_the_users_word(memory: Memory) -> None:
    block = "<hook_context>&lt;kimi-memory&gt; | 旧的 &lt;/kimi-memory&gt;</hook_context>\n\n"
    Reply(memory).to(event("gemini", "prompt", prompt=f"{block}改到周五。"))
    Reply(memory).to(event("gemini", "prompt", prompt=block))
    assert turns(memory) == ["改到周五。"]


def test_copilots_words_stand_in_its_log_of_events(memory: Memory, tmp_path: Path) -> None:
    log = tmp_path / "events.jsonl"
    said = [("user", "one"), ("assistant", "old"), ("user", "two"), ("assistant", "")]
    said += [("assistant", "好的"), ("assistant", "done")]
    lines = [
        {"type": f"{role}.message", "id": f"m{n}", "data": {"content": text}}
        for n, (role, text) in enumerate(said)
    ]
    log.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    for _ in range(2):
        Reply(memory).to(event("copilot", "turn", transcriptPath=str(log)))
    log.write_text("not json\n", encoding="utf-8")
    Reply(memory).to(event("copilot", "turn", transcriptPath=str(log)))
    assert turns(memory) == ["two", "好的\ndone"]


def copilots_log(path: Path, *words: str, ends: int) -> str:
    """Write a log of turns, of which so many have their end in it; return its path."""
    lines: list[dict[str, object]] = []
    for n, text in enumerate(words, 1):
        lines.append({"type": "user.message", "id": f"m{n}", "data": {"content": text}})
        said = {"content": f"heard {text}"}
        lines.append({"type": "assistant.message", "id": f"a{n}", "data": said})
        if n <= ends:
            lines.append({"type": "hook.start", "data": {"input": {"timestamp": n}}})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return str(path)


def test_the_end_of_a_turn_waits_until_copilot_has_logged_it(
    memory: Memory, tmp_path: Path
) -> None:
    path, root = tmp_path / "events.jsonl", str(memory.root)
    log = copilots_log(path, ends=0)
    for n in (1, 2):
        spool.put(root, event("copilot", "turn", transcriptPath=log, timestamp=n))
    spool.put(root, event("copilot", "end"))
    Reply(memory).drain()
    assert (turns(memory), len(spool.take_events(root))) == ([], 3)
    copilots_log(path, "one", "two", ends=1)
    Reply(memory).drain()
    assert (turns(memory), len(spool.take_events(root))) == (["one", "heard one"], 2)
    copilots_log(path, "one", "two", ends=2)
    Reply(memory).drain()
    assert turns(memory) == ["one", "heard one", "two", "heard two"]
    assert spool.take_events(root) == []
    assert [place.open for place in sessions.places(memory.store)] == [False]


def test_a_log_that_never_tells_of_the_end_is_read_as_it_is(
    memory: Memory, tmp_path: Path, monkeypatch
) -> None:
    root, log = str(memory.root), copilots_log(tmp_path / "events.jsonl", "one", ends=0)
    spool.put(root, event("copilot", "turn", transcriptPath=log, timestamp=7))
    Reply(memory).drain()
    assert turns(memory) == []
    monkeypatch.setattr("kimi_memory.agent_hooks.respond.YOUNG_SECONDS", 0.0)
    Reply(memory).drain()
    assert (turns(memory), spool.take_events(root)) == (["one", "heard one"], [])


@pytest.mark.parametrize("host", agent_protocols.TOGETHER)
def test_some_programs_tell_both_sides_at_the_end_of_a_turn(memory: Memory, host: str) -> None:
    reply = Reply(memory)
    reply.to(event(host, "prompt", prompt="Which port?"))
    assert turns(memory) == []
    both = {"prompt": "Which port?", "last_assistant_message": "6543", "prompt_id": 1}
    for _ in range(2):
        reply.to(event(host, "turn", **both))
    assert turns(memory) == ["Which port?", "6543"]
