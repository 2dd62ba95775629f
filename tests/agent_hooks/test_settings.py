"""How our hooks stand in the settings of agent programs."""

from __future__ import annotations

import json
import shlex
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.agent_hooks import agent_protocols, settings
from kimi_memory.errors import FormatError

ROOT = Path("/home/me/我的 记忆")
PLACE = Path("settings.json")
JSON_HOSTS = ["claude", "codex", "gemini", "qwen"]
FOREIGN = {
    "theme": "dark",
    "hooks": {
        "Stop": [{"matcher": "*", "hooks": [{"type": "command", "command": "say done"}]}],
        "PreToolUse": [],
    },
}


@pytest.mark.parametrize("host", JSON_HOSTS)
def test_every_event_runs_our_command(host: str) -> None:
    hooks = json.loads(settings.install(host, "", ROOT, PLACE))["hooks"]
    assert set(hooks) == set(agent_protocols.EVENTS[host])
    for groups in hooks.values():
        (entry,) = groups[0]["hooks"]
        words = shlex.split(entry["command"])
        assert words[-4:] == ["--host", host, "--memory", str(ROOT)]
        assert entry["timeout"] in ((10_000, 3_000) if host == "gemini" else (10, 3))


@pytest.mark.parametrize("host", JSON_HOSTS)
def test_foreign_entries_stay(host: str) -> None:
    made = settings.install(host, json.dumps(FOREIGN), ROOT, PLACE)
    document = json.loads(made)
    assert document["theme"] == "dark"
    stop = agent_protocols.EVENTS[host]
    event = next(name for name, moment in stop.items() if moment == "turn")
    foreign = [g for g in document["hooks"].get("Stop", []) if "matcher" in g]
    assert foreign == FOREIGN["hooks"]["Stop"]
    assert any(settings.MARK in str(group) for group in document["hooks"][event])
    assert json.loads(settings.remove(host, made, PLACE)) == FOREIGN


@pytest.mark.parametrize(
    "host", sorted(set(agent_protocols.EVENTS) - {"opencode", "openclaw", "hermes"})
)
def test_a_second_install_changes_nothing(host: str) -> None:
    first = settings.install(host, "", ROOT, PLACE)
    assert settings.install(host, first, ROOT, PLACE) == first


def test_an_install_for_another_memory_takes_the_place_of_the_first() -> None:
    first = settings.install("claude", "", ROOT, PLACE)
    second = settings.install("claude", first, Path("/other"), PLACE)
    assert str(ROOT) not in second
    assert second.count("/other") == first.count(str(ROOT))


def test_indentation_and_line_ends_stay() -> None:
    made = settings.install("claude", '{\r\n\t"a": 1\r\n}\r\n', ROOT, PLACE)
    assert made.startswith('{\r\n\t"a": 1,\r\n\t"hooks"')
    assert "\n" not in made.replace("\r\n", "")


@pytest.mark.parametrize("text", ["{", "[1]", '{"hooks": 3}', '{"hooks": {"Stop": 1}}', "// c\n{}"])
def test_broken_settings_are_named_and_not_changed(text: str) -> None:
    with pytest.raises(FormatError, match=r"settings\.json"):
        settings.install("claude", text, ROOT, PLACE)


def test_kimis_block_of_toml_can_be_taken_out_again() -> None:
    own = 'model = "k2"\n\n[[hooks]]\nevent = "Stop"\ncommand = "say done"\n'
    made = settings.install("kimi", own, ROOT, Path("config.toml"))
    hooks = tomllib.loads(made)["hooks"]
    assert [hook["event"] for hook in hooks] == ["Stop", *agent_protocols.EVENTS["kimi"]]
    assert settings.remove("kimi", made, Path("config.toml")) == own


def test_broken_toml_is_not_changed() -> None:
    with pytest.raises(FormatError, match="not TOML"):
        settings.install("kimi", "a = = 1", ROOT, Path("config.toml"))


def test_copilot_has_a_file_of_its_own() -> None:
    document = json.loads(settings.install("copilot", "", ROOT, PLACE))
    assert document["version"] == 1
    assert set(document["hooks"]) == set(agent_protocols.EVENTS["copilot"])
    assert settings.remove("copilot", json.dumps(document), PLACE) == ""


@pytest.mark.parametrize(
    ("host", "variable", "name"),
    [
        ("claude", "CLAUDE_CONFIG_DIR", "settings.json"),
        ("codex", "CODEX_HOME", "hooks.json"),
        ("kimi", "KIMI_CODE_HOME", "config.toml"),
    ],
)
def test_a_program_that_moved_its_settings_is_followed(
    host: str, variable: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, str(tmp_path))
    assert settings.place_of(host) == tmp_path / name


_COMMAND = st.text(max_size=20).filter(lambda text: settings.MARK not in text)
_HOOK = st.fixed_dictionaries({"type": st.just("command"), "command": _COMMAND})
_GROUP = st.fixed_dictionaries({"hooks": st.lists(_HOOK, min_size=1, max_size=3)})


@given(
    st.dictionaries(
        st.sampled_from(["Stop", "SessionStart", "Other"]), st.lists(_GROUP, min_size=1)
    )
)
def test_whatever_hooks_there_were_come_back(hooks: dict) -> None:
    before = {"hooks": hooks} if hooks else {}
    made = settings.install("claude", json.dumps(before), ROOT, PLACE)
    assert json.loads(settings.remove("claude", made, PLACE)) == before
