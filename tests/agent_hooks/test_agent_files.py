"""The files of agent programs that take a plugin."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import frontmatter
import pytest

from kimi_memory.agent_hooks.agent_files import places_of
from kimi_memory.errors import FormatError, UsageError

PLUGINS = ["opencode", "openclaw", "hermes"]
ROOT = Path("/home/me/我的 记忆")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("XDG_CONFIG_HOME", "OPENCODE_CONFIG_DIR", "HERMES_HOME", "OPENCLAW_STATE_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("OPENCLAW_CONFIG_PATH", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def config(host: str, *, slot: bool = False):
    return places_of(host, ROOT, slot=slot)[-1]


def yaml(text: str) -> object:
    return frontmatter.loads(f"---\n{text}---\n").metadata


@pytest.mark.parametrize("host", PLUGINS)
def test_the_plugin_runs_this_python_on_this_memory(host: str) -> None:
    code = places_of(host, ROOT)[0].install("")
    assert json.dumps(str(ROOT), ensure_ascii=False) in code
    assert json.dumps(sys.executable) in code
    assert '["kimi-memory"' not in code


@pytest.mark.parametrize("host", PLUGINS)
def test_whole_files_are_ours_and_go_as_a_whole(host: str, home: Path) -> None:
    for place in places_of(host, ROOT):
        assert home in place.path.parents
        assert place.mark in place.install("")
        assert not place.ours or place.remove("anything") == ""


@pytest.mark.parametrize(
    "own",
    [
        "",
        "model: x",
        "model: x\n",
        "# 记忆\nmemory:\n  memory_enabled: true  # mine\nmodel: x\n",
        "memory:\n    provider: honcho  # the old one\n    a: 1\n",
        "memory:\n\n  # why\n  a:\n    provider: inner\nb: 2\n",
        "memory:\n",
        "memory:",
    ],
)
def test_hermes_gets_one_line(own: str) -> None:
    made = config("hermes").install(own)
    found = yaml(made)
    assert isinstance(found, dict)
    assert found["memory"]["provider"] == "kimi_memory"
    before = yaml(own if own.endswith("\n") or not own else own + "\n")
    assert isinstance(before, dict)
    assert {k: v for k, v in found.items() if k != "memory"} == {
        k: v for k, v in before.items() if k != "memory"
    }
    assert config("hermes").install(made) == made
    assert "kimi_memory" not in config("hermes").remove(made)
    yaml(config("hermes").remove(made))


def test_what_hermes_has_in_one_line_is_left_to_a_person() -> None:
    with pytest.raises(FormatError, match="one line"):
        config("hermes").install("model: x\nmemory: {provider: honcho}\n")


def test_openclaw_lets_the_plugin_hear_conversations() -> None:
    own = '{\n    "plugins": {"allow": ["other"], "entries": {"other": {"enabled": true}}}\n}\n'
    made = json.loads(config("openclaw").install(own))["plugins"]
    assert made["entries"]["kimi-memory"]["hooks"] == {"allowConversationAccess": True}
    assert made["entries"]["other"] == {"enabled": True}
    assert made["allow"] == ["other", "kimi-memory"]
    assert "slots" not in made
    back = config("openclaw").remove(config("openclaw").install(own))
    assert json.loads(back) == json.loads(own)


def test_openclaws_slot_is_taken_when_asked() -> None:
    place = config("openclaw", slot=True)
    made = json.loads(place.install("{}"))["plugins"]
    assert made["slots"] == {"memory": "kimi-memory"}
    assert json.loads(place.remove(place.install("{}"))) == {}
    manifest = json.loads(places_of("openclaw", ROOT, slot=True)[2].install(""))
    assert manifest["kind"] == "memory"
    assert "kind" not in json.loads(places_of("openclaw", ROOT)[2].install(""))


@pytest.mark.parametrize("text", ["// c\n{}", "[]", '{"plugins": 1}', '{"plugins": {"slots": 2}}'])
def test_a_config_that_is_not_plain_is_not_changed(text: str) -> None:
    with pytest.raises(FormatError):
        config("openclaw", slot=True).install(text)


def test_only_openclaw_has_a_slot() -> None:
    with pytest.raises(UsageError, match="slot"):
        places_of("hermes", ROOT, slot=True)


def test_a_path_with_a_line_break_is_refused() -> None:
    with pytest.raises(UsageError, match="line break"):
        places_of("claude", Path("/a\nb"))


def test_the_skill_goes_to_the_folder_that_all_programs_read(home: Path) -> None:
    (place,) = places_of("agents", ROOT)
    assert place.path == home / ".agents/skills/kimi-memory/SKILL.md"
    assert "name: kimi-memory" in place.install("")
