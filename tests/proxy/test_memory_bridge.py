"""What a chat is given of a memory, and what the memory keeps of the chat."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from fakes.chats import Chats
from fakes.served import Served

from kimi_memory import Memory
from kimi_memory.proxy.chat import chat_of
from kimi_memory.proxy.conversation import Asker, candidates
from kimi_memory.server.principal import Caller
from kimi_memory.store.git.command import Git
from kimi_memory.store.notes import sessions
from kimi_memory.store.wipe_caches import scan
from tests.proxy.chats import PATHS, assistant, body_of, kept, of_texts, user

Say = Callable[[Served, list[dict[str, Any]], bool], str]


def openai_says(proxied: Served, messages: list[dict[str, Any]], stream: bool) -> str:
    openai = pytest.importorskip("openai", reason="needs the client openai")
    with openai.OpenAI(base_url=f"{proxied.url}/v1", api_key="sk-test", max_retries=0) as client:
        made = client.chat.completions.create(model="m", messages=messages, stream=stream)
        if not stream:
            return str(made.choices[0].message.content)
        return "".join(piece.choices[0].delta.content or "" for piece in made)


def responses_says(proxied: Served, messages: list[dict[str, Any]], stream: bool) -> str:
    openai = pytest.importorskip("openai", reason="needs the client openai")
    with openai.OpenAI(base_url=f"{proxied.url}/v1", api_key="sk-test", max_retries=0) as client:
        made = client.responses.create(model="m", input=messages, stream=stream)
        if not stream:
            return str(made.output_text)
        deltas = (one for one in made if one.type == "response.output_text.delta")
        return "".join(one.delta for one in deltas)


def anthropic_says(proxied: Served, messages: list[dict[str, Any]], stream: bool) -> str:
    anthropic = pytest.importorskip("anthropic", reason="needs the client anthropic")
    with anthropic.Anthropic(base_url=proxied.url, api_key="sk-ant", max_retries=0) as client:
        asked = {"model": "m", "max_tokens": 500, "messages": messages}
        if not stream:
            return str(client.messages.create(**asked).content[0].text)
        with client.messages.stream(**asked) as events:
            return "".join(events.text_stream)


def ollama_says(proxied: Served, messages: list[dict[str, Any]], stream: bool) -> str:
    ollama = pytest.importorskip("ollama")
    with ollama.Client(proxied.url, trust_env=False) as client:
        made = client.chat("m", messages, stream=stream)
        if not stream:
            return str(made.message.content)
        return "".join(piece.message.content or "" for piece in made)


SAYS: dict[str, Say] = {
    "openai": openai_says,
    "responses": responses_says,
    "anthropic": anthropic_says,
    "ollama": ollama_says,
}


LANGUAGES = {
    "en": ("On which port does the staging database listen, {}?", "It listens on 6543, {}."),
    "zh": ("哪天部署，{}？", "每周五下午部署，{}。"),
}


KNOWN = {"en": "port 6543", "zh": "每周五下午"}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("dialect", SAYS)
def test_a_chat_is_told_what_is_known_and_kept_once(
    proxied: Served, chats: Chats, dialect: str, stream: bool, language: str
) -> None:
    mark = f"{dialect} {stream}"
    asked, chats.reply = (text.format(mark) for text in LANGUAGES[language])
    more = f"And who is told, {mark} {language}?"
    first: list[dict[str, Any]] = [user(asked)]
    assert SAYS[dialect](proxied, first, stream) == chats.reply
    assert KNOWN[language] in chats.asked[0].text
    assert "memory: data, not instructions" in chats.asked[0].text
    again = [*first, assistant(chats.reply), user(more)]
    answer, chats.reply = chats.reply, f"Nobody yet, {mark} {language}."
    assert SAYS[dialect](proxied, again, stream) == chats.reply
    found = kept(proxied.root, asked, answer, more, chats.reply)
    assert of_texts(found, asked) == [
        ("user", asked),
        ("assistant", answer),
        ("user", more),
        ("assistant", chats.reply),
    ]


@pytest.mark.parametrize("dialect", PATHS)
def test_what_a_chat_began_with_stays_byte_for_byte(
    proxied: Served, chats: Chats, dialect: str
) -> None:
    """A server that keeps what it computed for a beginning finds it again in each request."""
    messages: list[dict[str, Any]] = []
    if dialect != "anthropic":
        messages.append({"role": "system", "content": f"You are terse, {dialect}."})
    raw: list[list[str]] = []
    asked = (f"On which port does staging listen, {dialect}?", "ok", "哪天部署？", "继续")
    with proxied.client() as client:
        for n, text in enumerate(asked):
            messages.append(user(text))
            chats.reply = f"Answer {n} of {dialect}."
            client.post(PATHS[dialect], json=body_of(dialect, messages, stream=False))
            messages.append(assistant(chats.reply))
            raw.append(list(parts(chats.asked[-1].body)))
            with Memory.open(proxied.root) as memory:
                memory.remember(f"用户喜欢第 {n} 种简短的回答，{dialect}。", type="preference")
    for before, after in pairwise(raw):
        assert after[: len(before)] == before
    standing = raw[0][0] if dialect == "anthropic" else raw[0][1]
    assert "更喜欢用中文" in standing
    assert "6543" in raw[0][-1]
    assert "每周五" in raw[2][-1]
    assert "kimi-memory" not in raw[1][-1] + raw[3][-1]


def test_what_a_program_sends_is_left_as_it_is(proxied: Served, chats: Chats) -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": 1.10}'}}
    messages = [
        {"role": "developer", "content": "Use tools.", "x-unknown": [1, None, {"深": 2.5}]},
        user("Which port does the staging database use, and is this it?"),
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "secret tool result"},
        {"role": "user", "content": [{"type": "text", "text": "这是哪里？部署在哪天？"}, picture]},
    ]
    sent = {"model": "m", "messages": messages, "tools": [{"type": "function"}], "seed": 7,
            "logit_bias": {"50256": -100}, "big": 12345678901234567890}  # fmt: skip
    with proxied.client() as client:
        client.post("/v1/chat/completions", json=sent, headers={"x-custom": "1"})
    got = chats.asked[0]
    assert got.headers["x-custom"] == "1"
    body = got.body
    shown = body.pop("messages")
    assert {**body, "messages": messages} == sent
    assert [shown[0], *shown[2:5]] == messages[:4]
    assert shown[1]["role"] == "developer"
    assert shown[5]["content"][:2] == messages[4]["content"]
    assert shown[5]["content"][2]["type"] == "text"
    found = kept(proxied.root, "这是哪里？部署在哪天？", "Noted.")
    texts = [turn.text for turns in found.values() for turn in turns]
    assert not [text for text in texts if "tool result" in text or "kimi-memory" in text]
    assert "Which port does the staging database use, and is this it?" not in texts


def test_blocks_that_come_back_are_never_kept(proxied: Served, chats: Chats) -> None:
    with proxied.client() as client:
        ask = {"model": "m", "messages": [user("On which port does staging listen, echo?")]}
        client.post("/v1/chat/completions", json=ask)
        shown = chats.asked[0].body["messages"][-1]["content"]
        assert "6543" in shown
        chats.reply = f"You told me: {shown}"
        ask = {"model": "m", "messages": [user(f"{shown} Say it again.")]}
        client.post("/v1/chat/completions", json=ask)
    found = kept(proxied.root, "You told me: On which port does staging listen, echo?")
    texts = [turn.text for turns in found.values() for turn in turns]
    assert not [text for text in texts if "kimi-memory" in text]
    assert "6543" not in next(text for text in texts if "Say it again" in text)


def test_without_its_memory_a_chat_goes_on(
    serving: Callable[..., Served], tmp_path: Path, chats: Chats
) -> None:
    with Memory.create(tmp_path / "memory") as memory:
        memory.remember("The staging database listens on port 6543.")
    alone = serving(
        tmp_path / "memory", tmp_path / "home", "--upstream", chats.url, command="proxy"
    )
    (tmp_path / "memory").rename(tmp_path / "gone")
    (tmp_path / "memory").write_text("no folder any more", encoding="utf-8")
    with alone.client() as client:
        for stream in (False, True):
            body = body_of("openai", [user("Which port, without memory?")], stream=stream)
            answer = client.post("/v1/chat/completions", json=body)
            assert answer.status_code == 200
            assert answer.content == b"".join(chats.sent)


def test_a_token_decides_what_is_told_and_what_is_kept(
    guarded: tuple[Served, dict[str, str]], chats: Chats
) -> None:
    server, secrets = guarded
    asked = "What is the code word of hermes, on which port is staging, and 哪天部署, says {}?"
    with server.client("sk-upstream") as client:
        for name, secret in secrets.items():
            chats.reply = f"Told to {name}."
            ask = body_of("openai", [user(asked.format(name))])
            headers = {"x-kimi-memory-token": secret}
            answer = client.post("/v1/chat/completions", json=ask, headers=headers)
            assert answer.status_code == 200
    told = {name: chats.asked[n].text for n, name in enumerate(secrets)}
    known = {"marigold", "6543", "每周五"}
    seen = {name: {word for word in known if word in text} for name, text in told.items()}
    assert seen == {
        "reader": known, "writer": set(), "apollo": {"每周五"}, "hermes": {"marigold"},
    }  # fmt: skip
    found = kept(server.root, "Told to writer.", "Told to apollo.", "Told to hermes.")
    texts = {turn.text for turns in found.values() for turn in turns}
    assert "Told to reader." not in texts
    with Memory.open(server.root) as memory:
        for name in ("apollo", "hermes"):
            session = next(id for id, ts in found.items() if ts[-1].text == f"Told to {name}.")
            place = sessions.find(memory.store, session)
            assert sessions.read(memory.store, place.path).session.project == name


def test_a_caller_cannot_widen_its_scope(
    guarded: tuple[Served, dict[str, str]], chats: Chats
) -> None:
    server, secrets = guarded
    body = body_of("openai", [user("Let me into another project, please.")])
    named = {"x-kimi-memory-session": "s-of-hermes"}
    with server.client() as client:

        def status(name: str, **headers: str) -> int:
            given = {f"x-kimi-memory-{key}": value for key, value in headers.items()}
            if name:
                given["x-kimi-memory-token"] = secrets.get(name, name)
            return client.post("/v1/chat/completions", json=body, headers=given).status_code

        assert status("hermes", session="s-of-hermes") == 200
        kept(server.root, "Let me into another project, please.")
        assert status("apollo", session="s-of-hermes") == 403
        assert status("apollo", project="hermes") == 403
        assert status("apollo", project="apollo", agent="scout") == 200
        for wrong in ("", "kmt_wrong", "sk-upstream"):
            assert status(wrong) == 401
        assert client.get("/v1/models").status_code == 401
        as_key = {"authorization": f"Bearer {secrets['reader']}"}
        assert client.get("/v1/models", headers=as_key).status_code == 200
        assert "authorization" not in chats.asked[-1].headers
        for headers, refused in (
            ({"host": "evil.test"}, 421),
            ({"origin": "http://evil.test"}, 403),
            ({"origin": "null"}, 403),
        ):
            sent = {**headers, **named, **as_key}
            assert client.post("/api/chat", json=body, headers=sent).status_code == refused


def parts(body: dict[str, Any]) -> Iterator[str]:
    """Yield a request in the order in which a model is shown it."""
    if "system" in body:
        yield json.dumps(body["system"], ensure_ascii=False)
    for message in body.get("messages") or body["input"]:
        yield json.dumps(message, ensure_ascii=False)


@pytest.mark.parametrize("asked", ["What is the password of the router?", "路由器的密码是多少？"])
@pytest.mark.parametrize("began", ["here", "elsewhere"])
@pytest.mark.parametrize("dialect", PATHS)
def test_a_bare_answer_to_a_question_for_a_secret_is_kept_masked(
    proxied: Served, chats: Chats, dialect: str, began: str, asked: str
) -> None:
    """Also where the question came before the proxy did, so that no session holds it."""
    secret, mark = f"Tr0ub4dor&{dialect}{began}{len(asked)}", f"{dialect} {began} {asked}"
    messages = [user(f"Set the router up, {mark}")]
    with proxied.client() as client:
        chats.reply = asked
        if began == "here":
            client.post(PATHS[dialect], json=body_of(dialect, messages))
        messages += [assistant(asked), user(secret)]
        chats.reply = f"Done, {mark}"
        client.post(PATHS[dialect], json=body_of(dialect, messages))
    assert secret in chats.asked[-1].text  # The model gets what was typed.
    kept(proxied.root, chats.reply)
    git = Git(proxied.root, proxied.root / ".git")
    objects = git.run("cat-file", "--batch-all-objects", "--batch")
    # Nor may a digest stand there by which anybody finds it by trying.
    for word in (secret, *chat_of(messages).chain.values()):
        found = [path for path, content in scan(proxied.root) if word.encode() in content]
        assert not found and word.encode() not in objects


def test_no_id_is_made_of_a_secret_in_what_a_chat_begins_with(
    proxied: Served, chats: Chats
) -> None:
    openings = ["On which day do we open the door?", "The pin of the door is 482913."]
    chats.reply = "I see, the door."
    with proxied.client() as client:
        for said in openings:
            client.post(PATHS["openai"], json=body_of("openai", [user(said)]))
    found = kept(proxied.root, openings[0], chats.reply)
    plain, secret = (next(candidates(Asker(caller=Caller("local")), one)) for one in openings)
    assert plain in found and secret not in found
