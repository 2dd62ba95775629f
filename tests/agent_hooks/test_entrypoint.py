"""The first thing a hook runs, as the program runs it: a process with JSON on its input."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.agent_hooks import spool
from kimi_memory.agent_hooks.respond import Reply
from kimi_memory.operations.code_branches import follow_code
from tests.store.files.test_code_branch import make_code
from tests.test_copies import git

HEAVY = {"pathlib", "dataclasses", "argparse", "typing", "pluggy", "tomllib", "subprocess", "re"}


@pytest.fixture
def user(tmp_path: Path) -> dict[str, str]:
    config = tmp_path / "home/.config/kimi_memory"
    config.mkdir(parents=True)
    (config / "config.toml").write_text('server = "never"\n', encoding="utf-8")
    return {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home"), "KIMI_MEMORY_DEBUG": "1"}


@pytest.fixture
def root(tmp_path: Path, opening: Opening) -> Path:
    with Memory.create(tmp_path / "记忆", opening=opening) as memory:
        memory.remember("The staging database listens on port 6543.")
    return tmp_path / "记忆"


def hook(
    user: dict[str, str], payload: object, *words: str, host: str = "claude"
) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "kimi_memory", "hook", "run", "--host", host, *words]
    text = payload if isinstance(payload, str) else json.dumps(payload)
    return subprocess.run(
        argv, input=text, env=user, capture_output=True, text=True, timeout=60, check=False
    )


def event(name: str, **more: object) -> dict:
    return {"session_id": "s1", "cwd": "/tmp", "hook_event_name": name, **more}


def test_a_prompt_is_answered_without_a_server(user: dict[str, str], root: Path) -> None:
    asked = event("UserPromptSubmit", prompt="Which port is staging on?")
    done = hook(user, asked, "--memory", str(root))
    assert "6543" in json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
    assert done.returncode == 0


def test_the_memory_above_the_working_directory_is_used(user: dict[str, str], root: Path) -> None:
    below = root / "notes/deep"
    below.mkdir(parents=True)
    done = hook(user, event("UserPromptSubmit", prompt="Which port?") | {"cwd": str(below)})
    assert "6543" in done.stdout


def test_the_working_copy_for_the_branch_of_code_is_used(
    user: dict[str, str], root: Path, tmp_path: Path, opening: Opening
) -> None:
    code = make_code(tmp_path / "shop")
    with Memory.open(root, opening) as memory:
        follow_code(memory, code)
    git(code, "checkout", "-q", "-b", "fix/login")
    asked = event("UserPromptSubmit", prompt="Which port is staging on?") | {"cwd": str(code)}
    done = hook(user, asked, "--memory", str(root), host="qwen")
    assert "6543" in done.stdout
    [copy] = tmp_path.glob("记忆-shop-fix-login-*")
    place = copy / "short-term/session_qwen-s1.jsonl"
    assert "Which port is staging" in place.read_text(encoding="utf-8")
    assert not (root / "short-term/session_qwen-s1.jsonl").exists()
    asked |= {"prompt": "And the host of staging?"}
    hook(user, asked, "--memory", str(root), host="qwen")
    assert "And the host of staging?" in place.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("payload", "words"),
    [
        ("", ()),
        ("not json", ()),
        ("[]", ()),
        (event("UserPromptSubmit", prompt="Which port?"), ("--memory", "/nowhere")),
        (event("PostToolUse"), ()),
        (event("UserPromptSubmit", prompt="ok"), ()),
        ({"hook_event_name": "UserPromptSubmit", "prompt": {"a": 1}}, ()),
    ],
)
def test_whatever_comes_the_program_goes_on(
    user: dict[str, str], root: Path, payload: object, words: tuple[str, ...]
) -> None:
    done = hook(user | {"KIMI_MEMORY": str(root)}, payload, *words)
    assert (done.returncode, done.stdout) == (0, "")


TOKEN = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"


def test_words_that_cannot_be_stored_are_left_screened_until_they_can(
    user: dict[str, str], root: Path, opening: Opening
) -> None:
    """They stand in no transcript: else what is said while memory.toml is edited would be lost."""
    settings = root / "memory.toml"
    whole = settings.read_text(encoding="utf-8")
    settings.write_text(f"{whole}\n[recall\n", encoding="utf-8")
    asked = event("UserPromptSubmit", prompt=f"Which port? The key is {TOKEN}.")
    assert hook(user, asked, "--memory", str(root), host="qwen").returncode == 0
    stop = event("Stop", last_assistant_message="Staging is on 6543.")
    assert hook(user, stop, "--memory", str(root), host="qwen").returncode == 0
    left = spool.take_events(str(root))
    assert TOKEN not in "".join(Path(path).read_text(encoding="utf-8") for path, _ in left)
    settings.write_text(whole, encoding="utf-8")
    with Memory.open(root, opening) as memory:
        assert Reply(memory).drain() == 2
        assert Reply(memory).drain() == 0
    told = (root / "short-term/session_qwen-s1.jsonl").read_text(encoding="utf-8")
    assert told.count("Which port?") == told.count("Staging is on 6543.") == 1
    assert TOKEN not in told


@pytest.mark.faults
def test_what_is_said_while_another_holds_the_store_is_left(
    user: dict[str, str], root: Path
) -> None:
    with (root / ".kimi/locks/store.lock").open("r+b") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        asked = event("UserPromptSubmit", prompt="Which port is staging on?")
        assert hook(user, asked, "--memory", str(root), host="kimi").returncode == 0
    ((_, left),) = spool.take_events(str(root))
    assert left["said"] == {"user": "Which port is staging on?"}


def test_an_unknown_program_harms_nothing(user: dict[str, str], root: Path) -> None:
    done = hook(user, event("Stop"), "--memory", str(root), host="nobody")
    assert (done.returncode, done.stdout) == (0, "")


def test_what_memory_itself_starts_has_no_hooks(user: dict[str, str], root: Path) -> None:
    asked = event("UserPromptSubmit", prompt="Which port is staging on?")
    done = hook(user | {"KIMI_MEMORY_CHILD": "1"}, asked, "--memory", str(root))
    assert (done.returncode, done.stdout) == (0, "")


def test_the_end_of_a_turn_only_leaves_a_note(user: dict[str, str], root: Path) -> None:
    path = root.parent / "s1.jsonl"
    secret = "the words of the conversation"
    stop = event("Stop", transcript_path=str(path), last_assistant_message=secret)
    assert hook(user, stop, "--memory", str(root)).stdout == ""
    ((file, left),) = spool.take_events(str(root))
    assert left["payload"]["transcript_path"] == str(path)
    assert secret not in Path(file).read_text(encoding="utf-8")


def test_the_end_of_a_session_starts_the_work_and_does_not_wait(
    user: dict[str, str], root: Path
) -> None:
    end = event("SessionEnd", transcript_path=str(root / "none.jsonl"), reason="other")
    assert hook(user, end, "--memory", str(root)).returncode == 0
    deadline = time.monotonic() + 60
    while spool.take_events(str(root)):
        assert time.monotonic() < deadline, "nobody worked the spool off"
        time.sleep(0.1)


def test_leaving_a_note_loads_hardly_anything(user: dict[str, str], root: Path) -> None:
    code = (
        "import os, sys, io; before = set(sys.modules); os._exit = sys.exit\n"
        "from kimi_memory.__main__ import main\n"
        f"sys.argv = {['kimi-memory', 'hook', 'run', '--host', 'claude', '--memory', str(root)]}\n"
        f"sys.stdin = io.TextIOWrapper(io.BytesIO({json.dumps(event('Stop')).encode()!r}))\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert end.code == 0\n"
        "print('\\n'.join(sorted(set(sys.modules) - before)))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}\n{code}"],
        env=user,
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = set(done.stdout.split())
    assert "kimi_memory.agent_hooks.entrypoint" in loaded
    assert not {
        name for name in loaded if name.startswith(("kimi_memory.api", "kimi_memory.domain"))
    }
    assert not loaded & (HEAVY - {"re"})
    assert spool.take_events(str(root))


def test_sessions_sync_behind_where_the_user_wants_it(user: dict[str, str], root: Path) -> None:
    hub = root.parent / "hub.git"
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", hub], check=True)
    command = [sys.executable, "-m", "kimi_memory"]
    added = [*command, "remote", "add", "hub", str(hub), "--memory", str(root)]
    subprocess.run(added, env=user, check=True, capture_output=True)
    begins, branch = event("SessionStart", source="startup"), hub / "refs/heads/main"
    assert hook(user, begins, "--memory", str(root)).returncode == 0
    config = root.parent / "home/.config/kimi_memory/config.toml"
    config.write_text('server = "never"\nsync = "sessions"\n', encoding="utf-8")
    assert not branch.exists()
    done = hook(user, begins, "--memory", str(root))
    assert (done.returncode, done.stderr) == (0, "") and "6543" in done.stdout
    until = time.monotonic() + 60
    while not branch.exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert branch.exists()
    # Out of reach, the session goes on as ever, and a person can see it.
    hub.rename(root.parent / "away.git")
    done = hook(user, begins, "--memory", str(root))
    assert (done.returncode, done.stderr) == (0, "") and "6543" in done.stdout
    outcome = root / ".kimi/remotes.json"
    while "git repository" not in outcome.read_text("utf-8") and time.monotonic() < until:
        time.sleep(0.05)
    assert "git repository" in outcome.read_text("utf-8")
