"""``compact``: a list of messages in, the list to go on with out."""

from __future__ import annotations

import io
import json

import pytest
from kimi_memory.plugins.compaction import create

from kimi_memory.cli import run
from kimi_memory.errors import PluginError
from tests.cli.conftest import folder  # noqa: F401  a fixture

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


@pytest.mark.usefixtures("folder")
def test_a_chat_of_which_nothing_may_go_is_not_said_to_fit(capsys, monkeypatch) -> None:
    assert compact(monkeypatch, CHAT[:3], "--window", "10") == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out) == CHAT[:3]
    assert "are more than 6, but the last messages stay. Give a smaller --keep" in printed.err


@pytest.mark.usefixtures("folder")
def test_the_smallest_window_does_not_print_the_whole_history(capsys, monkeypatch) -> None:
    assert compact(monkeypatch, CHAT, "--window", "1000", "--session", "c") == 0
    capsys.readouterr()
    assert run(["compact", "--resume", "--session", "c", "--window", "1"]) == 0
    assert json.loads(capsys.readouterr().out) == []


@pytest.mark.usefixtures("folder")
def test_half_a_character_goes_out_as_it_came(capsys, monkeypatch) -> None:
    chat = [*CHAT, {"role": "user", "content": "cut \ud83d off"}]
    assert compact(monkeypatch, chat, "--window", "1000") == 0
    printed = capsys.readouterr().out
    assert json.loads(printed)[-1] == chat[-1]
    assert "\\ud83d" in printed


@pytest.mark.parametrize(
    ("given", "words", "why"),
    [
        ("{", (), "Standard input is not JSON (line 1, column 2: "),
        ("3", (), "Standard input is not a list of messages. Give "),
        ("[3]", (), "Standard input is not a list of messages. Give "),
        ("[]", ("--window", "0"), "window"),
        ("[]", ("--window", "1" + "0" * 400), "Give a window above 0 and up to "),
        ("[]", ("--resume",), "--resume needs --session"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_wrong_input_is_refused(capsys, monkeypatch, given, words, why) -> None:
    assert compact(monkeypatch, given, *words) == 2
    assert why in capsys.readouterr().err


@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        ("window_tokens", 0, "Give a whole number above 0."),
        ("window_tokens", "128k", "Give a whole number above 0."),
        ("keep", True, "Give a whole number above 0."),
        ("share", 60, "Give a number above 0, up to 1."),
        ("share", "half", "Give a number above 0, up to 1."),
    ],
)
def test_a_setting_that_makes_no_sense_names_file_key_and_remedy(key, value, why) -> None:
    with pytest.raises(PluginError) as error:
        create({key: value})
    assert str(error.value) == f"config.toml: [plugins.compaction] {key} is {value!r}. {why}"


def test_the_defaults_of_the_command_come_from_the_settings(
    folder,  # noqa: F811  the fixture
    empty_home,
    capsys,
    monkeypatch,
) -> None:
    config = empty_home / ".config/kimi_memory/config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text("[plugins.compaction]\nwindow_tokens = 1000\nkeep = 3\n", encoding="utf-8")
    try:
        assert compact(monkeypatch, CHAT) == 0
        assert json.loads(capsys.readouterr().out)[1:] == CHAT[-3:]
        assert compact(monkeypatch, CHAT, "--keep", "7") == 0
        assert json.loads(capsys.readouterr().out)[1:] == CHAT[-7:]
        config.write_text("[plugins.compaction]\nshare = 60\n", encoding="utf-8")
        assert compact(monkeypatch, CHAT) != 0
        said = capsys.readouterr().err
        assert said.count("\n") == 1
        assert (
            "config.toml: [plugins.compaction] share is 60. Give a number above 0, up to 1." in said
        )
    finally:
        config.unlink()
