"""The proxy as chat programs see it: real clients, a real upstream, every dialect."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from itertools import count, pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from fakes.chats import Chats, fill
from fakes.served import Served

from kimi_memory import Memory, Opening
from kimi_memory.agent_hooks.respond import Reply
from kimi_memory.cli import run
from kimi_memory.client import Client
from kimi_memory.domain.session import Turn
from kimi_memory.mcp.workers import Desk
from kimi_memory.store.notes import sessions

PATHS = {
    "openai": "/v1/chat/completions",
    "responses": "/v1/responses",
    "anthropic": "/v1/messages",
    "ollama": "/api/chat",
}
Say = Callable[[Served, list[dict[str, Any]], bool], str]


def body_of(dialect: str, messages: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    listed = "input" if dialect == "responses" else "messages"
    most = {"max_tokens": 500} if dialect == "anthropic" else {}
    return {"model": "m", listed: messages, **most, **more}


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def kept(root: Path, *wanted: str) -> dict[str, list[Turn]]:
    """Return all turns of chats by session, once these texts are among them."""
    deadline = time.monotonic() + 60
    with Memory.open(root, Opening(background=False)) as memory:
        while True:
            found = {
                place.id: list(sessions.read(memory.store, place.path).turns)
                for place in sessions.places(memory.store)
                if not place.id.startswith("remembered-")
            }
            missing = set(wanted) - {turn.text for turns in found.values() for turn in turns}
            if not missing:
                return found
            assert time.monotonic() < deadline, f"{missing} is not kept"


def of_texts(found: dict[str, list[Turn]], *texts: str) -> list[tuple[str, str]]:
    """Return role and text of the turns of the one session in which a text was said."""
    [turns] = [turns for turns in found.values() if any(turn.text == texts[0] for turn in turns)]
    return [(str(turn.role), turn.text) for turn in turns]


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


def parts(body: dict[str, Any]) -> Iterator[str]:
    """Yield a request in the order in which a model is shown it."""
    if "system" in body:
        yield json.dumps(body["system"], ensure_ascii=False)
    for message in body.get("messages") or body["input"]:
        yield json.dumps(message, ensure_ascii=False)


def test_a_stream_passes_as_it_arrives_byte_for_byte(proxied: Served, chats: Chats) -> None:
    for dialect, path in PATHS.items():
        chats.pace, chats.reply = threading.Semaphore(0), f"流式 piece by piece {dialect}"
        body = body_of(dialect, [user(f"Say it slowly, {dialect}.")], stream=True)
        with (
            proxied.client() as client,
            client.stream("POST", path, content=json.dumps(body)) as answer,
        ):
            arriving = answer.iter_raw()
            for n in count():
                chats.pace.release()
                if n == len(chats.sent):
                    break
                assert next(arriving) == chats.sent[n], (dialect, n)
            assert list(arriving) == []
        assert answer.headers["x-request-id"] == "r-1"
        assert answer.headers.get_list("set-cookie") == ["a=1", "b=2"]
        kept(proxied.root, chats.reply)


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


def test_keys_pass_through_and_stay_nowhere(proxied: Served, chats: Chats) -> None:
    key = "sk-proj-" + "Ab1" * 14
    with proxied.client(key) as client:
        client.post("/v1/chat/completions?key=q7Q7q7Q7", json=body_of("openai", [user("hello")]))
        hi = body_of("anthropic", [user("hi")])
        client.post("/v1/messages", json=hi, headers={"x-api-key": key})
    assert chats.asked[0].headers["authorization"] == f"Bearer {key}"
    assert chats.asked[0].path.endswith("?key=q7Q7q7Q7")
    assert chats.asked[1].headers["x-api-key"] == key
    kept(proxied.root, "hello", "hi")
    files = [p for base in (proxied.root, proxied.home) for p in base.rglob("*") if p.is_file()]
    assert not [p for p in files if key.encode() in p.read_bytes()]


@pytest.mark.parametrize("path", PATHS.values())
def test_what_the_model_server_refuses_passes_on(proxied: Served, chats: Chats, path: str) -> None:
    chats.status = 429
    with proxied.client() as client:
        asked = f"This is refused at {path}."
        answer = client.post(path, json={"model": "m", "messages": [user(asked)], "input": asked})
    assert (answer.status_code, answer.content) == (429, chats.error)
    assert answer.headers["x-request-id"] == "r-1"


def test_a_dead_model_server_is_named_in_the_form_of_each_client(
    serving: Callable[..., Served], folder: Path
) -> None:
    nobody = ("--upstream", "http://127.0.0.1:9")
    dead = serving(folder / "记忆", folder / "home", *nobody, command="proxy")
    for dialect, path in PATHS.items():
        with dead.client() as client:
            ask = body_of(dialect, [user(f"Is anybody there, {dialect}?")])
            answer = client.post(path, json=ask)
        error = answer.json()["error"]
        assert answer.status_code == 502
        assert "127.0.0.1:9 does not answer" in (error if dialect == "ollama" else error["message"])


def test_a_stream_that_breaks_off_breaks_off_and_is_kept_so_far(
    proxied: Served, chats: Chats
) -> None:
    chats.breaks, chats.reply = True, "Half of the answer came before the line broke."
    body = body_of("ollama", [user("Tell me of the broken line.")])
    with proxied.client() as client, pytest.raises(httpx.RemoteProtocolError):
        client.post("/api/chat", json=body)
    kept(proxied.root, "Tell me of the broken line.", chats.reply)


def test_a_client_that_leaves_stops_the_model_server(proxied: Served, chats: Chats) -> None:
    chats.endless, chats.reply = True, "x" * 100_000
    with proxied.client() as client:
        body = body_of("openai", [user("Say a great deal.")], stream=True)
        with client.stream("POST", "/v1/chat/completions", json=body) as answer:
            assert next(answer.iter_raw())
    assert chats.left.wait(60)


def test_a_request_again_is_kept_once_and_a_new_chat_with_the_same_words_anew(
    proxied: Served, chats: Chats
) -> None:
    hello = "你好，开始一局新的围棋吧。"
    body = body_of("openai", [user(hello)])
    chats.status = 500
    with proxied.client() as client:
        client.post("/v1/chat/completions", json=body)
        chats.status = 200
        for n, reply in enumerate(("I take black.", "I take white.")):
            chats.reply = reply
            client.post("/v1/chat/completions", json=body)
            kept(proxied.root, reply)
            chats.reply = f"Move {n}."
            ask = [user(hello), assistant(reply), user(f"我走第 {n} 步。")]
            client.post("/v1/chat/completions", json=body_of("openai", ask))
            client.post("/v1/chat/completions", json=body_of("openai", ask))
    found = kept(proxied.root, "Move 0.", "Move 1.")
    games = [
        [turn.text for turn in turns]
        for turns in found.values()
        if any(turn.text == hello for turn in turns)
    ]
    assert sorted(games) == [
        [hello, "I take black.", "我走第 0 步。", "Move 0."],
        [hello, "I take white.", "我走第 1 步。", "Move 1."],
    ]


def test_a_chat_goes_on_in_its_session_after_a_restart_and_when_its_beginning_is_cut(
    serving: Callable[..., Served], folder: Path, chats: Chats
) -> None:
    begin = (folder / "记忆", folder / "home", "--upstream", chats.url)
    messages = [user("Let us plan the garden."), assistant("Gladly."), user("先种什么？")]
    first = serving(*begin, command="proxy")
    with first.client() as client:
        for upto, chats.reply in ((1, "Gladly."), (3, "先种番茄。")):
            client.post("/api/chat", json=body_of("ollama", messages[:upto], stream=False))
    kept(first.root, "先种番茄。")
    second = serving(*begin, command="proxy")
    messages += [assistant("先种番茄。"), user("And then?")]
    chats.reply = "Then beans."
    with second.client() as client:
        client.post("/api/chat", json=body_of("ollama", messages, stream=False))
        messages += [assistant("Then beans."), user("And at last?")]
        chats.reply = "At last the apple tree."
        client.post("/api/chat", json=body_of("ollama", messages[-3:], stream=False))
    found = kept(first.root, chats.reply)
    said = of_texts(found, "Let us plan the garden.")
    assert [text for _, text in said][-6:] == [
        *("先种什么？", "先种番茄。", "And then?", "Then beans.", "And at last?"),
        "At last the apple tree.",
    ]
    assert len(said) == 8


@pytest.mark.parametrize(
    "named",
    [
        ("openai", {"x-kimi-memory-session": "by-header"}, {}, "by-header"),
        ("openai", {}, {"metadata": {"session_id": "by-metadata"}}, "by-metadata"),
        ("responses", {}, {"conversation": {"id": "conv_by-server"}}, "conv_by-server"),
        (
            "anthropic",
            {},
            {"metadata": {"user_id": "user_1_account_2_session_0a1b2c3d-by-claude"}},
            "0a1b2c3d-by-claude",
        ),
    ],
)
def test_a_program_can_name_the_session(
    proxied: Served, chats: Chats, named: tuple[str, dict[str, str], dict[str, Any], str]
) -> None:
    dialect, headers, told, session = named
    asked = [f"First words of {session}.", f"Other words of {session}."]
    with proxied.client() as client:
        for text in asked:
            body = body_of(dialect, [user(text)], **told)
            client.post(PATHS[dialect], json=body, headers=headers)
    found = kept(proxied.root, *asked)
    assert set(asked) <= {turn.text for turn in found[session]}
    assert not [name for name in chats.asked[0].headers if name.startswith("x-kimi")]


def test_an_answer_held_by_the_server_continues_its_session(proxied: Served, chats: Chats) -> None:
    with proxied.client() as client:
        first = client.post("/v1/responses", json={"model": "m", "input": "第一句：船名是海燕。"})
        more = {"model": "m", "input": "And the second sentence?"}
        chats.reply = "The second."
        after = first.json()["id"]
        client.post("/v1/responses", json={**more, "previous_response_id": after})
    found = kept(proxied.root, "The second.")
    said = of_texts(found, "第一句：船名是海燕。")
    assert [text for _, text in said] == [
        "第一句：船名是海燕。", "Noted.", "And the second sentence?", "The second.",
    ]  # fmt: skip
    assert not [one for one in chats.asked[1].body["input"] if one["role"] == "developer"]


@pytest.mark.parametrize(
    ("path", "body", "headers"),
    [
        ("/v1/chat/completions", body_of("openai", [user("A title, please.")], max_tokens=20), {}),
        ("/api/chat", body_of("ollama", [user("Probe.")], options={"num_predict": 1}), {}),
        (
            "/v1/chat/completions",
            body_of("openai", [user("### Task: a title. <chat_history>Port?</chat_history>")]),
            {},
        ),
        ("/v1/messages", body_of("anthropic", [user("Left out.")]), {"x-kimi-memory": "off"}),
        ("/v1/chat/completions", {"model": "m", "messages": []}, {}),
        ("/v1/chat/completions", {"model": "m", "messages": "none"}, {}),
        ("/v1/embeddings", {"model": "m", "input": "text"}, {}),
    ],
)
def test_what_is_no_conversation_goes_through_untouched(
    proxied: Served, chats: Chats, path: str, body: dict[str, Any], headers: dict[str, str]
) -> None:
    raw = json.dumps(body, indent=3).encode()
    with proxied.client() as client:
        client.post(path, content=raw, headers=headers)
    assert chats.asked[0].raw == raw
    assert chats.asked[0].path == path


@pytest.mark.parametrize("raw", [b"{", b"[1]", rb"\xff", b"null", b'{"messages": [7, null]}'])
def test_what_is_no_chat_at_all_goes_through_untouched(
    proxied: Served, chats: Chats, raw: bytes
) -> None:
    with proxied.client() as client:
        client.get("/v1/models")
        chats.status = 400
        answer = client.post("/v1/chat/completions", content=raw)
        streamed = client.post("/v1/files", content=(raw for _ in range(3)))
    assert answer.status_code == streamed.status_code == 400
    assert chats.asked[0].method == "GET"
    assert chats.asked[1].raw == raw
    assert chats.asked[2].raw == raw * 3


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


@pytest.fixture(scope="module")
def guarded(
    serving: Callable[..., Served], tmp_path_factory: pytest.TempPathFactory, upstream: Chats
) -> tuple[Served, dict[str, str]]:
    """A proxy with tokens, before the chat server, and their secrets."""
    base = tmp_path_factory.mktemp("guarded")
    fill(base / "记忆")
    there = Served(base / "记忆", base / "home")
    secrets = {
        "reader": there.token("reader", "--scope", "read"),
        "writer": there.token("writer", "--scope", "write"),
        "apollo": there.token("apollo", "--project", "apollo"),
        "hermes": there.token("hermes", "--project", "hermes"),
    }
    options = ("--upstream", upstream.url, "--allow-origin", "https://page.test")
    return serving(there.root, there.home, *options, command="proxy"), secrets


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


def test_a_page_that_may_call_is_answered_as_browsers_want(
    guarded: tuple[Served, dict[str, str]], chats: Chats
) -> None:
    server, secrets = guarded
    page = {"origin": "https://page.test"}
    wanted = {"access-control-request-method": "POST", "access-control-request-headers": "x-a"}
    with server.client() as client:
        before = client.options("/api/chat", headers={**page, **wanted})
        assert before.status_code == 204
        assert before.headers["access-control-allow-headers"] == "x-a"
        token = {"x-kimi-memory-token": secrets["reader"]}
        answer = client.get("/api/tags", headers={**page, **token})
    assert answer.headers["access-control-allow-origin"] == "https://page.test"


def test_without_a_token_only_this_machine_is_served(proxied: Served, chats: Chats) -> None:
    with proxied.client() as client:
        assert client.get("/v1/models", headers={"host": "evil.test"}).status_code == 421
        assert client.get("/v1/models", headers={"x-forwarded-for": "1.2.3.4"}).status_code == 403
        assert client.get("/v1/models", headers={"sec-fetch-site": "cross-site"}).status_code == 403
    assert not chats.asked


@pytest.mark.parametrize("upstream_path", ["", "/v1"])
@pytest.mark.parametrize(
    "target", ["@127.0.0.1:{port}/x", "http://127.0.0.1:{port}/x", ".test/x", ":{port}/x", "*"]
)
def test_a_request_reaches_no_other_server(
    serving: Callable[..., Served],
    folder: Path,
    chats: Chats,
    upstream_path: str,
    target: str,
) -> None:
    port = urlsplit(chats.url).port
    with socket.create_server(("127.0.0.1", 0)) as other:
        other.settimeout(0.2)
        server = _beside(serving, folder, f"http://127.0.0.1:{port}{upstream_path}")
        place = urlsplit(server.url)
        with socket.create_connection((place.hostname, place.port), timeout=20) as line:
            asked = target.format(port=other.getsockname()[1])
            head = f"GET {asked} HTTP/1.1\r\nhost: {place.netloc}\r\nconnection: close\r\n\r\n"
            line.sendall(head.encode())
            assert line.recv(1000).startswith(b"HTTP/1.1 400 ")
        with pytest.raises(TimeoutError):
            other.accept()
    assert not chats.asked


_PROXIES: dict[str, Served] = {}


def _beside(serving: Callable[..., Served], folder: Path, upstream: str) -> Served:
    """Return a proxy before a server, started once."""
    if upstream not in _PROXIES:
        options = ("--upstream", upstream)
        _PROXIES[upstream] = serving(folder / "记忆", folder / "home", *options, command="proxy")
    return _PROXIES[upstream]


def test_every_surface_shows_the_same(
    serving: Callable[..., Served],
    upstream: Chats,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One function composes the block, whoever asks for it."""
    root, home, ask = tmp_path / "memory", tmp_path / "home", "Which port is staging on?"
    with Memory.create(root) as memory, memory.session("old") as session:
        session.turn("user", "The staging database listens on port 6543.")
        session.turn("assistant", "Noted: staging listens on 6543.")
        session.turn("user", "Always answer in two sentences.")
        session.end()
    proxy = serving(root, home, "--upstream", f"{upstream.url}/v1", command="proxy")
    served, seen = serving(root, home), {"start": list[str](), "task": list[str]()}
    for purpose, blocks in seen.items():
        query = ask if purpose == "task" else ""
        with Client(served.url) as client:
            blocks.append(client.context(purpose, query, session="x").text)
        desk = Desk(root)
        blocks.append(desk.context(purpose, query)["text"])
        desk.close()
        capsys.readouterr()
        run(["--memory", str(root), "context", *filter(None, [query]), "--for", purpose])
        blocks.append(capsys.readouterr().out)
        with Memory.open(root) as memory:
            blocks.append(memory.context(purpose, query).text)
            payload = {"session_id": "x", "prompt": query}
            moment = "prompt" if query else "start"
            said = Reply(memory).to({"host": "claude", "payload": payload, "moment": moment})
            blocks.append(json.loads(said)["hookSpecificOutput"]["additionalContext"])
    upstream.asked.clear()
    with proxy.client() as client:
        client.post(PATHS["openai"], json=body_of("openai", [user(ask)]))
    messages = upstream.asked[0].body["messages"]
    seen["start"].append(messages[0]["content"])
    seen["task"].append(messages[-1]["content"])
    for purpose, known in (("start", "two sentences"), ("task", "6543")):
        lines = [[line for line in text.splitlines() if line[:2] == "| "] for text in seen[purpose]]
        assert len(lines) == 6
        assert all(one == lines[0] for one in lines), lines
        assert any(known in line for line in lines[0])
