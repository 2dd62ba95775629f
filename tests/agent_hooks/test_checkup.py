"""What agent programs that use a memory say of it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from kimi_memory.agent_hooks.checkup import check_hosts
from kimi_memory.agent_hooks.install import run_step
from kimi_memory.domain.health import Severity

ROOT = Path("/home/me/我的 记忆")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own, and no program but those a test makes."""
    for name in ("XDG_CONFIG_HOME", "HERMES_HOME", "OPENCLAW_STATE_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (tmp_path / "bin").mkdir()
    return tmp_path


def program(home: Path, name: str, code: str) -> None:
    path = home / "bin" / name
    path.write_text(f"#!{sys.executable}\n{code}\n", encoding="utf-8")
    path.chmod(0o755)


def said(host: str) -> list[tuple[str, str]]:
    return [(f.severity, f.message) for f in check_hosts(ROOT) if f.check == f"host {host}"]


@pytest.mark.parametrize("host", ["claude", "kimi", "copilot", "opencode", "openclaw", "hermes"])
def test_a_program_that_uses_this_memory_is_named_and_no_other(host: str) -> None:
    assert list(check_hosts(ROOT)) == []
    run_step("install", host, ROOT)
    (found,) = check_hosts(ROOT)
    assert (found.check, found.severity) == (f"host {host}", Severity.OK)
    assert list(check_hosts(Path("/another"))) == []


def test_half_an_installation_is_found(home: Path) -> None:
    run_step("install", "hermes", ROOT)
    (home / ".hermes/config.yaml").write_text("memory:\n  provider: honcho\n", encoding="utf-8")
    ((severity, message),) = said("hermes")
    assert severity == Severity.WARNING
    assert "config.yaml" in message


def test_a_python_that_is_gone_is_found(home: Path) -> None:
    for host in ("claude", "opencode"):
        run_step("install", host, ROOT)
    for path in (home / ".claude/settings.json", home / ".config/opencode/plugin/kimi-memory.js"):
        text = path.read_text("utf-8").replace(sys.executable, "/gone/bin/python")
        path.write_text(text, encoding="utf-8")
    found = list(check_hosts(ROOT))
    assert [f.check for f in found] == ["host claude", "host opencode"]
    assert all("/gone/bin/python" in f.message for f in found)


def test_broken_settings_of_a_program_are_no_end_of_the_look(home: Path) -> None:
    run_step("install", "claude", ROOT)
    (home / ".codex/hooks.json").mkdir(parents=True)
    assert said("claude")


@pytest.mark.parametrize(
    ("trust", "severity"), [("trusted", Severity.OK), ("untrusted", Severity.WARNING)]
)
def test_codex_is_asked_whether_it_trusts_the_hooks(
    home: Path, trust: str, severity: Severity
) -> None:
    run_step("install", "codex", ROOT)
    hook = {"command": "python -m kimi_memory hook run --host codex", "trustStatus": trust}
    answer = json.dumps({"id": 2, "result": {"data": [{"hooks": [hook]}]}}, separators=(",", ":"))
    says = f"if 'hooks/list' in line: print({answer!r}, flush=True)"
    program(home, "codex", f"import sys\nfor line in sys.stdin:\n    {says}")
    assert [one for one, _ in said("codex")] == [severity]


def test_codex_that_sees_no_hooks_is_told(home: Path) -> None:
    run_step("install", "codex", ROOT)
    program(home, "codex", "import sys; sys.stdin.readline()")
    ((severity, message),) = said("codex")
    assert (severity, "does not see" in message) == (Severity.WARNING, True)


@pytest.mark.parametrize("code", [0, 1])
def test_openclaw_is_asked_whether_its_config_is_valid(home: Path, code: int) -> None:
    run_step("install", "openclaw", ROOT)
    program(home, "openclaw", f"import sys; print('bad key'); sys.exit({code})")
    ((severity, message),) = said("openclaw")
    assert (severity is Severity.WARNING, "bad key" in message) == (bool(code), bool(code))


@pytest.mark.parametrize("provider", ["kimi_memory", "honcho"])
def test_hermes_is_asked_whom_it_uses(home: Path, provider: str) -> None:
    run_step("install", "hermes", ROOT)
    program(home, "hermes", f"print('  Provider:  {provider}')")
    ((severity, _),) = said("hermes")
    assert (severity is Severity.OK) == (provider == "kimi_memory")
