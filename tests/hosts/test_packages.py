"""The packages for agent programs: valid to their own programs, and of one truth with us."""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
from pathlib import Path

import frontmatter
import pytest

from kimi_memory import __version__
from kimi_memory.agent_hooks import agent_protocols, settings
from kimi_memory.agent_hooks.agent_files import places_of

FOLDER = Path(__file__).parents[2] / "integrations"
PLUGIN = FOLDER / "plugin"
SCRIPTS = sorted(FOLDER.rglob("*.js"))


@pytest.mark.parametrize(("host", "name"), [("claude", "hooks"), ("codex", "codex")])
def test_the_plugins_hooks_are_those_of_an_install(host: str, name: str) -> None:
    root = Path("/m")
    made = settings.install(host, "", root, Path("settings.json"))
    portable = made.replace(settings.command(host, root), f"kimi-memory hook run --host {host}")
    assert json.loads(portable) == json.loads((PLUGIN / f"hooks/{name}.json").read_bytes())


def test_every_package_has_our_version() -> None:
    manifests = [*FOLDER.rglob("plugin.json"), *FOLDER.rglob("*.plugin.json")]
    manifests += FOLDER.rglob("package.json")
    found = {str(path): json.loads(path.read_bytes())["version"] for path in manifests}
    assert len(found) >= 4
    assert set(found.values()) == {__version__}, found
    assert f"version: {__version__}" in (FOLDER / "hermes/plugin.yaml").read_text("utf-8")


def test_what_codexs_manifest_names_is_there() -> None:
    manifest = json.loads((PLUGIN / ".codex-plugin/plugin.json").read_bytes())
    for name in ("hooks", "mcpServers", "skills"):
        assert (PLUGIN / manifest[name]).exists(), name


def test_the_plugin_is_valid_to_claude_code(claude: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [claude, "plugin", "validate", PLUGIN],
        env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for event in agent_protocols.EVENTS["claude"]:
        assert f"hooks: {event} command" in done.stdout


def test_the_skill_is_what_programs_take_for_one() -> None:
    path = PLUGIN / "skills/kimi-memory/SKILL.md"
    head = frontmatter.load(str(path)).metadata
    assert set(head) <= {"name", "description", "license", "metadata", "allowed-tools"}
    assert head["name"] == path.parent.name
    assert 1 <= len(str(head["description"])) <= 1024


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.parent.name)
def test_scripts_are_scripts(path: Path, tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs node")
    copy = tmp_path / "plugin.mjs"
    shutil.copy(path, copy)
    subprocess.run([node, "--check", copy], check=True)


def test_opencodes_plugin_asks_the_command_and_shows_its_answer(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs node")
    (place,) = places_of("opencode", tmp_path)
    heard = tmp_path / "heard.jsonl"
    answer = tmp_path / "answer.sh"
    answer.write_text(
        f"#!/bin/sh\ncat >> {heard}\necho >> {heard}\nprintf '%s' '{{\"context\": \"记忆\"}}'\n",
        encoding="utf-8",
    )
    answer.chmod(0o755)
    lines = place.install("").splitlines()
    (at,) = [n for n, line in enumerate(lines) if line.startswith("const COMMAND = ")]
    lines[at] = f"const COMMAND = [{json.dumps(str(answer))}];"
    (tmp_path / "plugin.mjs").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "play.mjs").write_text(PLAY, encoding="utf-8")
    done = subprocess.run(
        [node, tmp_path / "play.mjs"], capture_output=True, text=True, check=True, timeout=60
    )
    shown = json.loads(done.stdout)
    assert shown["system"] == ["记忆"]
    assert [part["text"] for part in shown["parts"]] == ["哪个端口?", "记忆"]
    told = [json.loads(line) for line in heard.read_text("utf-8").splitlines() if line]
    assert [one["event"] for one in told] == ["start", "prompt", "turn", "end"]
    assert {one["session_id"] for one in told} == {"ses_1"}, "a sub-agent was heard"
    assert told[1]["prompt"] == "哪个端口?"
    assert told[2]["last_assistant_message"] == "6543"


PLAY = """
import { KimiMemory } from "./plugin.mjs";
const hooks = await KimiMemory({ directory: "/work" });
const tell = (type, properties) => hooks.event({ event: { type, properties } });
const say = async (sessionID) => {
  const parts = [{ type: "text", text: "哪个端口?" }];
  await hooks["chat.message"]({ sessionID }, { message: { id: "msg_1" }, parts });
  return parts;
};
await tell("session.created", { info: { id: "ses_2", parentID: "ses_1" } });
await say("ses_2");
const parts = await say("ses_1");
const system = [];
await hooks["experimental.chat.system.transform"]({ sessionID: "ses_1" }, { system });
for (const sessionID of ["ses_1", "ses_2"]) {
  await tell("message.updated", { info: { id: "msg_2", role: "assistant", sessionID } });
  const part = { id: "p", type: "text", text: "6543", messageID: "msg_2", sessionID };
  await tell("message.part.updated", { part });
  await tell("session.idle", { sessionID });
}
await tell("session.deleted", { info: { id: "ses_1" } });
console.log(JSON.stringify({ system, parts }));
"""


def test_hermes_provider_needs_nothing_of_ours() -> None:
    tree = ast.parse((FOLDER / "hermes/__init__.py").read_text(encoding="utf-8"))
    names = [n.module or "" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]
    names += [a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names]
    assert not [name for name in names if name.startswith("kimi_memory")]
