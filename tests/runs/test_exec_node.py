"""Execution over the protocol: real sandboxes, grants that grow stale, an audit that shows cuts."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import time
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


def make_node(tmp_path: Path, at: datetime = NOW, kept_out: tuple[Path, ...] = ()) -> ExecNode:
    runtime = Host(entry_points=False).answer("open_runtime", name="sandbox")
    state = ExecState(tmp_path / "exec", KEY)
    return ExecNode("rack-2", KEY, state, runtime, lambda: at, kept_out=kept_out)


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


def test_a_link_that_a_call_left_gives_no_file_away(tmp_path: Path) -> None:
    """A node of root gives folders of runs to nobody; a link in there may lead to any file."""
    secret = tmp_path / "secret"
    secret.touch()
    node = make_node(tmp_path)
    assert ask(node, "exec.run", argv=["ln", "-s", str(secret), "link"])[0] == 0
    assert ask(node, "exec.run", id="2", argv=["true"])[0] == 0
    assert secret.stat().st_uid == os.geteuid()


def test_no_grant_shows_the_key_that_signs_grants(tmp_path: Path) -> None:
    state = tmp_path / "exec"
    node = make_node(tmp_path, kept_out=(state,))
    for n, root in enumerate((tmp_path, state, state / "audit")):
        one = replace(GRANT, roots=(str(root),))
        code, error = ask(node, "exec.run", one, id=str(n), argv=["ls"])
        assert code == -32004 and str(state) in str(error["message"])


def test_a_program_goes_on_while_others_ask_for_it(tmp_path: Path) -> None:
    node = make_node(tmp_path)
    code = "echo 你好; echo on >&2; while [ ! -e go ]; do sleep 0.01; done; echo 完; exit 3"
    assert ask(node, "exec.start", id="s", argv=["sh", "-c", code]) == (0, {"call": "s"})
    found = wait_for(node, lambda one: one["next"] == [7, 3])
    assert (found["running"], found["stdout"], found["stderr"]) == (True, "你好\n", "on\n")
    # Asked to start once more, it does not start again.
    assert ask(node, "exec.start", id="s", argv=["sh", "-c", code]) == (0, {"call": "s"})
    assert ask(node, "exec.poll", replace(GRANT, run="run-2"), id="o", call="s")[0] == -32007
    assert ask(node, "fs.write", id="w", path="go", content="")[0] == 0
    found = wait_for(node, lambda one: not one["running"], after=[7, 3])
    assert (found["exit"], found["stdout"], found["stderr"]) == (3, "完\n", "")
    assert found["usage"]["wall_s"] > 0 and found["usage"]["rss_mb"] > 0
    # Another process of this node has not started it, and does not pretend to know.
    assert ask(make_node(tmp_path), "exec.poll", id="p", call="s")[0] == -32007
    node.close()


def wait_for(node: ExecNode, enough: Callable[..., bool], **more: object) -> dict[str, object]:
    end = time.monotonic() + 20
    for n in itertools.count():
        code, found = ask(node, "exec.poll", id=f"poll-{n}", call="s", wait_ms=20, **more)
        assert not code and time.monotonic() < end, found
        if enough(found):
            return found
    raise AssertionError


@pytest.mark.parametrize("how", ["killed", "late", "fenced", "closed"])
def test_a_program_ends_when_it_has_to(tmp_path: Path, how: str) -> None:
    node = make_node(tmp_path)
    grant = replace(GRANT, limits=Limits(wall_s=0.3 if how == "late" else 30.0))
    argv = ["sh", "-c", "while true; do echo x >> beat; sleep 0.01; done"]
    assert ask(node, "exec.start", grant, id="s", argv=argv)[0] == 0
    beat = ExecState(tmp_path / "exec", KEY).find_work("run-1") / "beat"
    while not beat.exists():
        time.sleep(0.01)
    if how == "killed":
        found = ask(node, "exec.kill", grant, id="k", call="s")[1]
        assert (found["running"], found["exit"], found["why"]) == (False, -9, "")
    elif how == "late":
        found = ask(node, "exec.poll", grant, id="k", call="s", wait_ms=10_000)[1]
        assert (found["exit"], found["why"]) == (-9, "it took too long")
    elif how == "fenced":
        assert ask(node, "fs.list", replace(grant, epoch=8), id="n", path=".")[0] == 0
        assert ask(node, "exec.poll", replace(grant, epoch=8), id="k", call="s")[0] == -32007
    else:
        node.close()
    # The kernel ends the rest of a sandbox a moment after its first process.
    sizes = [-1, beat.stat().st_size]
    while sizes[-2] != sizes[-1]:
        time.sleep(0.1)
        sizes.append(beat.stat().st_size)
        assert len(sizes) < 50
    node.close()


def test_a_program_starts_where_it_was_asked_to_and_no_longer_than_that(tmp_path: Path) -> None:
    node = make_node(tmp_path)
    ask(node, "exec.run", argv=["mkdir", "a b"])
    assert ask(node, "exec.run", id="2", argv=["pwd"], cwd="a b")[1]["stdout"] == "/box/a b\n"
    assert ask(node, "exec.run", id="3", argv=["pwd"], cwd=str(tmp_path))[1]["exit"]
    late = ask(node, "exec.run", id="4", argv=["sleep", "9"], deadline_ms=200)
    assert late[0] == -32005 and "0.2 s" in str(late[1]["message"])
    for params in ({"cwd": 3}, {"deadline_ms": -1}, {"deadline_ms": "5"}, {"argv": ["a\0"]}):
        assert ask(node, "exec.run", id=str(params), **{"argv": ["pwd"], **params})[0] == -32602


DIFF = """--- a/说明.md
+++ b/说明.md
@@ -1,2 +1,2 @@
 one
-two
+二
--- /dev/null
+++ b/new
@@ -0,0 +1 @@
+made
"""


def test_a_patch_is_made_whole_or_not_at_all(tmp_path: Path) -> None:
    node = make_node(tmp_path)
    ask(node, "fs.write", id="w", path="说明.md", content="one\ntwo\n")
    assert ask(node, "fs.patch", id="p", diff=DIFF)[0] == 0
    assert ask(node, "fs.read", id="r", path="说明.md")[1]["content"] == "one\n二\n"
    assert ask(node, "fs.read", id="n", path="new")[1]["content"] == "made\n"
    other = DIFF.replace("-two", "-二").replace("+二", "+三")
    code, error = ask(node, "fs.patch", id="q", diff=other)  # its second file is there already
    assert code == -32602 and "new" in str(error["message"])
    assert ask(node, "fs.read", id="s", path="说明.md")[1]["content"] == "one\n二\n"
    assert ask(node, "fs.patch", id="x", diff=other.replace("b/new", "b/../../new"))[0] == -32602


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
