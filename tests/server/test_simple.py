"""The simple contract: search, get and append."""

from __future__ import annotations

import pytest
from fakes.served import Served


def test_the_simple_contract_of_search_get_and_append(served: Served) -> None:
    with served.client() as client:
        found = client.post("/search", json={"query": "哪天部署？", "limit": 5}).json()["results"]
        assert "每周五" in found[0]["snippet"]
        assert set(found[0]) >= {"path", "startLine", "endLine", "snippet", "score"}
        place = {"path": found[0]["path"], "startLine": found[0]["startLine"]}
        text = client.get("/get", params={**place, "endLine": found[0]["endLine"]}).json()["text"]
        assert "每周五" in text
        note = {"path": "memory/2026-02-03.md", "content": "新的记忆内容：缓存用 Redis。"}
        kept = client.post("/append", json=note).json()
        assert (kept["stored"], kept["path"]) == (True, "memory/2026-02-03.md")
        client.post("/append", json={**note, "content": "The cache runs on node zircon."})
        day = client.get("/get", params={"path": "memory/2026-02-03.md"}).json()["text"]
        assert day == "新的记忆内容：缓存用 Redis。\n\nThe cache runs on node zircon."
        again = client.post("/search", json={"query": "zircon", "sources": ["sessions"]}).json()
        assert "zircon" in again["results"][0]["snippet"]
        fact = {"path": "MEMORY.md", "content": "The office is on floor 4711."}
        card = client.post("/append", json=fact).json()["id"]
        assert "4711" in client.get("/v1/get", params={"what": card}).json()["text"]
        twice = [
            client.post("/append", json={"content": "once", "ref": "m1"}).json()["stored"]
            for _ in range(2)
        ]
        assert twice == [True, False]


@pytest.mark.parametrize("page", ["USER.md", "PROJECT.md"])
def test_what_is_appended_to_a_persons_page_stands_there(served: Served, page: str) -> None:
    path = served.root / page
    before = path.read_bytes()
    with served.client() as client:
        said = {"path": page, "content": "Her sister Agnes\nlives in Trondheim."}
        kept = client.post("/append", json=said).json()
        assert kept["stored"] and kept["id"].startswith("card-")
        added = path.read_bytes().removeprefix(before).decode()
        assert added == f"- Her sister Agnes lives in Trondheim. ^{kept['id']}\n"
        shown = client.get("/get", params={"path": page}).json()["text"]
        assert shown.splitlines()[-1] + "\n" == added
        client.post("/append", json=said)
        assert path.read_text("utf-8").count("Agnes") == 1
        # It is found once, as the card it is: no line of a person's own page.
        found = client.post("/search", json={"query": "Agnes", "sources": ["memory"]}).json()
        assert [one["id"] for one in found["results"]] == [kept["id"]]


def test_a_page_that_is_gone_takes_text_and_one_that_waits_does_not(served: Served) -> None:
    page = served.root / "USER.md"
    before = page.read_bytes()
    with served.client() as client:
        client.post("/v1/sessions", json={"id": "at-work"})
        client.post("/v1/sessions/at-work/turns", json={"text": "早上好，我们开始吧。"})
        page.write_bytes("# 我\r\n最后一行".encode())
        said = {"path": "USER.md", "content": "缓存放在 U 区。"}
        answer = client.post("/append", json=said)
        assert answer.status_code >= 400 and "review" in answer.text
        assert page.read_bytes() == "# 我\r\n最后一行".encode()
        page.write_bytes(before)
        assert client.post("/append", json=said).json()["stored"]
        (served.root / "PROJECT.md").unlink()
        said = {"path": "PROJECT.md", "content": "缓存放在 P 区。"}
        assert client.post("/append", json=said).json()["stored"]
    assert (served.root / "PROJECT.md").read_text("utf-8").startswith("- 缓存放在 P 区。 ^card-")


def test_the_line_on_a_page_is_what_was_said_though_it_contradicts_a_card(served: Served) -> None:
    with served.client() as client:
        client.post("/append", json={"path": "MEMORY.md", "content": "I live in Edinburgh."})
        said = {"path": "USER.md", "content": "I live in Kyoto and drink only green tea."}
        card = client.post("/append", json=said).json()["id"]
        assert "Kyoto" in client.get("/v1/get", params={"what": card}).json()["text"]
    page = (served.root / "USER.md").read_text("utf-8")
    assert f"- I live in Kyoto and drink only green tea. ^{card}" in page
    assert "Edinburgh" not in page


def test_a_page_that_is_not_text_is_refused_and_nothing_is_remembered(served: Served) -> None:
    before = (served.root / "USER.md").read_bytes()
    (served.root / "USER.md").write_bytes(b"\xff\xfe\x00a")
    with served.client() as client:
        answer = client.post("/append", json={"path": "USER.md", "content": "A zebra fact."})
        assert answer.status_code >= 400 and "USER.md" in answer.text
        assert not client.post("/search", json={"query": "zebra"}).json()["results"]
    (served.root / "USER.md").write_bytes(before)
