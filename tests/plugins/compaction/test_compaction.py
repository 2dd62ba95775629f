"""``compact``: a list of messages in, the list to go on with out."""

from __future__ import annotations

import io
import json

import pytest

from kimi_memory.cli import run
from tests.cli.test_cli import folder  # noqa: F401  a fixture

CHAT = [
    {"role": role, "content": f"{text} {n}"}
    for n in range(60)
    for role, text in (("user", "我们决定用第几个方案"), ("assistant", "The answer is number"))
]


def compact(monkeypatch: pytest.MonkeyPatch, given: object, *words: str) -> int:
    text = given if isinstance(given, str) else json.dumps(given)
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    return run(["compact", *words])


def test_a_long_chat_is_shortened_and_resumed(folder, capsys, monkeypatch) -> None:  # noqa: F811  the fixture
    assert compact(monkeypatch, {"messages": CHAT}, "--window", "1000", "--session", "c") == 0
    printed = capsys.readouterr()
    messages = json.loads(printed.out)
    assert messages[1:] == CHAT[-5:]
    assert "115 messages are kept whole in session c" in printed.err
    assert compact(monkeypatch, messages, "--window", "1000") == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out) == messages
    assert "nothing was changed" in printed.err
    assert run(["compact", "--resume", "--session", "c", "--window", "500"]) == 0
    assert json.loads(capsys.readouterr().out)[-1] == CHAT[-1]


def test_json_tells_what_was_done(folder, capsys, monkeypatch) -> None:  # noqa: F811  the fixture
    assert compact(monkeypatch, CHAT, "--force", "--json", "--keep", "2") == 0
    done = json.loads(capsys.readouterr().out)
    assert (done["dropped"], len(done["messages"])) == (118, 3)
    assert done["recorded"]["kind"] == "compact"


@pytest.mark.parametrize(
    ("given", "words", "why"),
    [
        ("{", (), "Standard input is not JSON (line 1, column 2: "),
        ("3", (), "Standard input is not a list of messages. Give "),
        ("[3]", (), "Standard input is not a list of messages. Give "),
        ("[]", ("--window", "0"), "window"),
        ("[]", ("--resume",), "--resume needs --session"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_wrong_input_is_refused(capsys, monkeypatch, given, words, why) -> None:
    assert compact(monkeypatch, given, *words) == 2
    assert why in capsys.readouterr().err
