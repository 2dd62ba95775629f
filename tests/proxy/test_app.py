"""The proxy as chat programs see it: real clients, a real upstream, every dialect."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from fakes.chats import Chats
from fakes.served import Served

from kimi_memory import Memory
from kimi_memory.agent_hooks.respond import Reply
from kimi_memory.cli import run
from kimi_memory.client import Client
from kimi_memory.mcp.workers import Desk
from kimi_memory.server.auth import Tokens
from kimi_memory.spaces.issuers import Asking
from kimi_memory.spaces.space_folder import SpaceFolder
from tests.proxy.chats import PATHS, body_of, kept, user


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


def test_chunks_win_over_a_length_beside_them(proxied: Served, chats: Chats) -> None:
    raw = b'{"input": "text"}'
    both = {"content-length": "5", "transfer-encoding": "chunked"}
    with proxied.client() as client:
        answer = client.post("/v1/embeddings", content=iter([raw]), headers=both)
    assert answer.status_code == 200
    assert chats.asked[0].raw == raw


@pytest.mark.parametrize("name", ["authorization", "x-api-key", "x-goog-api-key", "cookie"])
@pytest.mark.parametrize("form", ["{}", "bearer {}", "Token {}", "a={}; b=c"])
def test_a_token_of_ours_goes_to_no_model_server(
    guarded: tuple[Served, dict[str, str]], chats: Chats, name: str, form: str
) -> None:
    server, secrets = guarded
    token = {"x-kimi-memory-token": secrets["reader"]}
    with server.client() as client:
        client.get(
            f"/v1/models?key={secrets['reader']}&a=b",
            headers={**token, name: form.format(secrets["writer"])},
        )
    assert chats.asked[0].path == "/v1/models?key=&a=b"
    assert not any("kmt_" in value for value in chats.asked[0].headers.values())


def test_the_word_before_a_token_may_be_written_in_any_case(
    guarded: tuple[Served, dict[str, str]], chats: Chats
) -> None:
    server, secrets = guarded
    with server.client() as client:
        shown = {"authorization": f"bearer {secrets['reader']}"}
        assert client.get("/v1/models", headers=shown).status_code == 200


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


def test_in_a_space_a_chat_gets_and_gives_what_policies_allow(
    serving: Callable[..., Served], upstream: Chats, tmp_path: Path
) -> None:
    pytest.importorskip("cedarpy", reason="needs the library of kimi-memory[team]")
    root, home, ask = tmp_path / "memory", tmp_path / "home", "Which port is staging on?"
    with Memory.create(root) as memory:
        memory.remember("The staging database listens on port 6543.")
        memory.remember("Staging is on port 7777 in truth.", user="bo", area="user")
        id = memory.settings.memory.id
    proxy = serving(root, home, "--upstream", f"{upstream.url}/v1", command="proxy")
    space = SpaceFolder.create(proxy.directories, "shop")
    space.share(id, "tea", root)
    space.add("lin", ["reader"])
    space.add("wen", ["writer"])
    secrets = {sub: proxy.token(sub, "--member", sub) for sub in ("lin", "wen")}
    secrets["none"] = proxy.token("none")
    upstream.asked.clear()

    def say(who: str, text: str) -> int:
        with proxy.client() as client:
            token = {"x-kimi-memory-token": secrets[who]}
            return client.post(
                PATHS["openai"], json=body_of("openai", [user(text)]), headers=token
            ).status_code

    assert say("none", ask) == 403 and not upstream.asked
    for who in ("lin", "wen"):
        assert say(who, ask) == 200
        told = json.dumps(upstream.asked[-1].body)
        assert "6543" in told and "7777" not in told
    assert say("lin", "Lin drinks oolong.") == 200 and say("wen", "Wen drinks sencha.") == 200
    found = kept(root, "Wen drinks sencha.")
    assert "oolong" not in str(found)
    space.remove("lin")
    assert say("lin", ask) == 403
    lines = [one for one in space.log.records() if one.via == "proxy" and one.sub == "lin"]
    assert {(one.action, one.decision) for one in lines} == {
        ("context", "allow"), ("capture", "deny"), ("context", "deny")
    }  # fmt: skip


def late(put_out: Callable[[], None], text: str) -> Iterator[bytes]:
    """Send the body of a chat, with something that happens in the middle of it."""
    raw = json.dumps(body_of("openai", [user(text)])).encode()
    yield raw[:20]
    put_out()
    yield raw[20:]


@pytest.mark.parametrize("member", [True, False])
def test_who_is_put_out_amid_a_chat_is_told_and_kept_nothing_more(
    serving: Callable[..., Served], chats: Chats, tmp_path: Path, *, member: bool
) -> None:
    """A member of a space, or who holds a token that is taken back."""
    if member:
        pytest.importorskip("cedarpy", reason="needs the library of kimi-memory[team]")
    root, home = tmp_path / "memory", tmp_path / "home"
    with Memory.create(root) as memory:
        memory.remember("The staging database listens on port 6543.")
        id = memory.settings.memory.id
    proxy = serving(root, home, "--upstream", f"{chats.url}/v1", command="proxy")
    if member:
        space = SpaceFolder.create(proxy.directories, "shop")
        space.share(id, "tea", root)
        space.add("bo", ["owner"])
    headers = {"content-type": "application/json"}
    other = {"x-kimi-memory-token": proxy.token("bo", *(("--member", "bo") if member else ()))}

    def come_in() -> None:
        if member:
            space.add("lin", ["owner"])
        of_whom = ("--member", "lin") if member else ()
        headers["x-kimi-memory-token"] = proxy.token("lin", *of_whom)

    def put_out() -> None:
        if member:
            space.remove("lin")
        else:
            Tokens(proxy.directories, root, id).remove("lin")

    come_in()
    streamed = body_of("openai", [user("Where was the zebra seen?")], stream=True)
    with proxy.client() as client:
        asked = late(put_out, "Which port is staging on?")
        said = client.post(PATHS["openai"], content=asked, headers=headers)
        assert said.status_code == (403 if member else 401) and not chats.asked
        come_in()
        chats.pace, chats.reply = threading.Semaphore(0), "The zebra was seen in Kisumu."
        with client.stream("POST", PATHS["openai"], json=streamed, headers=headers) as answer:
            kept(root, "Where was the zebra seen?")
            put_out()
            chats.pace.release(20)
            assert b"Kisumu" in b"".join(answer.iter_raw())
        chats.pace, chats.reply = None, "Noted."
        last = body_of("openai", [user("This is the last word.")])
        assert client.post(PATHS["openai"], json=last, headers=other).status_code == 200
    found = str(kept(root, "This is the last word."))
    assert "Kisumu" not in found and "Which port" not in found


@pytest.mark.parametrize("command", ["proxy", "serve"])
def test_a_person_of_an_issuer_comes_in_by_real_http(
    serving: Callable[..., Served], upstream: Chats, tmp_path: Path, command: str
) -> None:
    pytest.importorskip("cedarpy", reason="needs the library of kimi-memory[team]")
    fake = pytest.importorskip("fakes.issuer", reason="needs the library of kimi-memory[team]")
    root, ask = tmp_path / "memory", "Which port is staging on?"
    with Memory.create(root) as memory:
        memory.remember("The staging database listens on port 6543.")
        memory.remember("Staging is on port 7777 in truth.", user="bo", area="user")
        id = memory.settings.memory.id
    options = ("--upstream", f"{upstream.url}/v1") if command == "proxy" else ()
    server = serving(root, tmp_path / "home", *options, command=command)
    space = SpaceFolder.create(server.directories, "shop")
    space.share(id, "tea", root)
    space.add("lin", ["reader"])
    upstream.asked.clear()

    def say(token: str) -> tuple[int, str]:
        with server.client() as client:
            if command == "serve":
                headers = {"authorization": f"Bearer {token}"}
                answer = client.post("/v1/recall", json={"text": ask}, headers=headers)
                return answer.status_code, answer.text
            headers = {"x-kimi-memory-token": token}
            body = body_of("openai", [user(ask)])
            status = client.post(PATHS["openai"], json=body, headers=headers).status_code
            return status, json.dumps(upstream.asked[-1].body) if upstream.asked else ""

    with fake.LocalIssuer() as issuer, fake.LocalIssuer() as other:
        space.believe(Asking(issuer.url, fake.AUDIENCE))
        for token in (other.sign(iss=issuer.url), issuer.sign(exp=1), issuer.sign(aud="other")):
            assert say(token)[0] == 401 and not upstream.asked
        assert say(issuer.sign(sub="stranger"))[0] == 403 and not upstream.asked
        status, told = say(issuer.sign(sub="lin"))
        assert status == 200 and "6543" in told and "7777" not in told
        space.remove("lin")
        assert say(issuer.sign(sub="lin"))[0] == 403
    assert {one.decision for one in space.log.records() if one.sub == "lin"} == {"allow", "deny"}


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
