"""Execution over the protocol: real sandboxes, grants that grow stale, an audit that shows cuts."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kimi_memory.domain.agent_run import Grant, Limits
from kimi_memory.hooks.host import Host
from kimi_memory.runs.exec_node import METHODS, ExecNode
from kimi_memory.runs.exec_state import BEGUN, ExecState
from kimi_memory.runs.grants import sign_grant

KEY = b"k" * 32
NOW = datetime(2026, 11, 24, 12, tzinfo=UTC)
GRANT = Grant(
    "grant-1", "run-1", "memory-1", 7, "rack-2", METHODS, limits=Limits(wall_s=10.0),
    until=NOW + timedelta(minutes=5),
)  # fmt: skip
pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.skipif(
        not (shutil.which("bwrap") and shutil.which("prlimit")),
        reason="needs bubblewrap; 'make test-sandbox' installs it",
    ),
]
Ask = Callable[..., dict[str, object]]


def make_node(tmp_path: Path, at: datetime = NOW) -> ExecNode:
    runtime = Host(entry_points=False).answer("open_runtime", name="sandbox")
    state = ExecState(tmp_path / "exec", KEY)
    return ExecNode("rack-2", KEY, state, runtime, clock=lambda: at)


def ask(
    node: ExecNode, method: str, grant: Grant = GRANT, id: str = "call-1", **params: object
) -> tuple[int, dict[str, object]]:
    """Return 0 and the result, or the code and the error."""
    held = {"grant": sign_grant(grant, KEY), **params}
    line = json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": held})
    found = json.loads(node.answer(line))
    assert found["id"] == id
    return (found["error"]["code"], found["error"]) if "error" in found else (0, found["result"])


def audit(tmp_path: Path) -> list[str]:
    (path,) = (tmp_path / "exec/audit").iterdir()
    return path.read_text(encoding="utf-8").splitlines()


def test_a_program_runs_in_the_folder_of_its_run(tmp_path: Path) -> None:
    node = make_node(tmp_path)
    code, found = ask(node, "exec.run", argv=["tee", "数据.csv"], stdin="一,二\n")
    assert (code, found["exit"], found["stdout"], found["changed"]) == (
        0,
        0,
        "一,二\n",
        ["数据.csv"],
    )
    assert ask(node, "fs.read", id="2", path="数据.csv")[1]["content"] == "一,二\n"
    assert ask(node, "fs.write", id="3", path="b", content="x")[0] == 0
    assert ask(node, "fs.list", id="4", path=".")[1]["content"] == "b\n数据.csv\n"
    other = replace(GRANT, run="run-2")
    assert ask(node, "fs.list", other, id="5", path=".")[1]["content"] == ""


def test_files_outside_are_out_of_reach(tmp_path: Path) -> None:
    node = make_node(tmp_path)
    (tmp_path / "s").write_text("INNERMOST")
    ask(node, "exec.run", argv=["ln", "-s", str(tmp_path / "s"), "link"])
    for n, path in enumerate((str(tmp_path / "s"), "link", "../../etc/shadow", "/root/.bashrc")):
        code, found = ask(node, "fs.read", id=f"r{n}", path=path)
        assert code == -32004 and "INNERMOST" not in str(found)
    code, _ = ask(node, "fs.write", id="w", path=str(tmp_path / "new"), content="x")
    assert code == -32004 and not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"node": "other"}, -32001),
        ({"until": NOW}, -32002),
        ({"until": None}, -32002),
        ({"methods": ("fs.read",)}, -32004),
        ({"network": ("example.org",)}, -32004),
        ({"limits": Limits(wall_s=0.2)}, -32005),
        ({"roots": ("/no/such",)}, -32006),
    ],
    ids=["node", "expired", "endless", "method", "hosts", "time", "root"],
)
def test_what_was_not_granted_is_refused(tmp_path: Path, change: dict, code: int) -> None:
    node = make_node(tmp_path)
    found, error = ask(node, "exec.run", replace(GRANT, **change), argv=["sleep", "3"])
    assert found == code, error


def test_a_changed_grant_is_none(tmp_path: Path) -> None:
    node = make_node(tmp_path)
    text = sign_grant(GRANT, KEY)
    for bad in (text[:-2], "x" + text, sign_grant(GRANT, b"other"), "", None, 7, "a.b"):
        line = {"jsonrpc": "2.0", "id": "1", "method": "exec.run", "params": {"grant": bad}}
        assert json.loads(node.answer(json.dumps(line)))["error"]["code"] == -32001


def test_a_grant_of_an_older_epoch_is_refused_also_after_a_restart(tmp_path: Path) -> None:
    assert ask(make_node(tmp_path), "exec.run", argv=["true"])[0] == 0
    newer = replace(GRANT, epoch=8)
    assert ask(make_node(tmp_path), "exec.run", newer, id="2", argv=["true"])[0] == 0
    code, error = ask(make_node(tmp_path), "exec.run", id="3", argv=["true"])
    assert (code, error["data"]) == (-32003, {"epoch": 8})
    # What was answered under the old epoch is not told to it either.
    assert ask(make_node(tmp_path), "exec.run", id="1", argv=["true"])[0] == -32003
    other = replace(GRANT, memory="memory-2", epoch=1)
    assert ask(make_node(tmp_path), "exec.run", other, id="4", argv=["true"])[0] == 0


def test_a_repeated_call_is_answered_and_not_carried_out_again(tmp_path: Path) -> None:
    argv = ["sh", "-c", "echo x >> n; wc -l < n"]
    first = ask(make_node(tmp_path), "exec.run", argv=argv)
    assert ask(make_node(tmp_path), "exec.run", argv=argv) == first
    assert ask(make_node(tmp_path), "exec.outcome", id="o", call="call-1") == first
    assert ask(make_node(tmp_path), "exec.outcome", id="p", call="never")[0] == -32007
    ExecState(tmp_path / "exec", KEY).keep_result("run-1", "cut", BEGUN)
    assert ask(make_node(tmp_path), "exec.run", id="cut", argv=argv)[0] == -32007


def test_calls_are_counted_over_restarts(tmp_path: Path) -> None:
    few = replace(GRANT, limits=Limits(wall_s=10, calls=2))
    codes = [
        ask(make_node(tmp_path), "exec.run", few, id=str(n), argv=["true"])[0] for n in range(3)
    ]
    assert codes == [0, 0, -32005]


def test_each_call_leaves_one_record_before_its_answer(tmp_path: Path) -> None:
    node = make_node(tmp_path)
    (tmp_path / "marker").mkdir()
    ask(node, "exec.run", argv=["true"])
    ask(node, "exec.run", replace(GRANT, methods=()), id="2", argv=["true"])
    decisions = [json.loads(line)["decision"] for line in audit(tmp_path)]
    assert decisions == ["allowed", "refused -32004"]
    # With no place for a record nothing is carried out.
    shutil.rmtree(tmp_path / "exec/audit")
    with pytest.raises(FileNotFoundError):
        ask(node, "exec.run", id="3", argv=["tee", "late"], stdin="x")
    ExecState(tmp_path / "exec", KEY)
    assert "late" not in str(ask(node, "fs.list", id="4", path=".")[1]["content"])


@pytest.mark.parametrize("how", ["edit", "cut", "reorder", "junk"])
def test_the_audit_shows_what_was_done_to_it(tmp_path: Path, how: str) -> None:
    node, state = make_node(tmp_path), ExecState(tmp_path / "exec", KEY)
    for n in range(3):
        ask(node, "exec.run", id=str(n), argv=["true"])
    assert not state.check_audit()
    lines = audit(tmp_path)
    changed = {
        "edit": [lines[0].replace("run-1", "run-9"), *lines[1:]],
        "cut": [lines[0], lines[2]],
        "reorder": [lines[1], lines[0], lines[2]],
        "junk": [*lines, "[]"],
    }[how]
    (path,) = (tmp_path / "exec/audit").iterdir()
    path.write_text("\n".join(changed) + "\n", encoding="utf-8")
    assert state.check_audit()


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("{", -32700), ("[]", -32600), ("[" * 100_000, -32700), ('{"jsonrpc": "2.0"}', -32600),
        ('{"jsonrpc": "2.0", "id": "1", "method": "exec.shell"}', -32601),
    ],
    ids=["broken", "batch", "deep", "no id", "method"],
)  # fmt: skip
def test_lines_that_are_no_request_are_answered(tmp_path: Path, line: str, code: int) -> None:
    assert json.loads(make_node(tmp_path).answer(line))["error"]["code"] == code


def test_a_node_says_what_it_is(tmp_path: Path) -> None:
    assert ask(make_node(tmp_path), "node.ping")[1]["node"] == "rack-2"
    assert "exec.run" in str(ask(make_node(tmp_path), "node.describe")[1]["methods"])
