"""An agent on a machine of Ray, in the sandbox there."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.domain.agent_run import Limits, Program, Task
from kimi_memory.errors import UsageError
from kimi_memory.hooks.host import Host
from kimi_memory.runs import Runs

PYTHON = "/usr/bin/python3"


def test_without_the_library_one_line_says_so(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    runtime = Host(entry_points=False).answer("open_runtime", name="ray:edge")
    assert (runtime.name, runtime.host) == ("ray:edge", "edge")
    with pytest.raises(UsageError, match="needs Ray"):
        runtime.start(None)


@pytest.fixture(scope="module")
def engine() -> Iterator[str]:
    ray = pytest.importorskip("ray", reason="needs the library of kimi-memory[ray]")
    if not (shutil.which("bwrap") and Path(PYTHON).exists()):
        pytest.skip("needs bubblewrap; 'make test-sandbox' installs it")
    about = ray.init(
        num_cpus=2, include_dashboard=False, log_to_driver=False, resources={"kimi-node:edge": 1}
    )
    yield about.address_info["gcs_address"]
    ray.shutdown()


@pytest.mark.sandbox
@pytest.mark.timeout(300)
def test_an_agent_works_there_and_ends_with_its_run(
    engine: str, home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_ADDRESS", engine)
    with Memory.create(tmp_path / "m", opening=Opening(home=home, background=False)) as memory:
        memory.remember("The port is 8080.", key="port")
        runs, task = Runs(memory, {"TOKEN": "sesame"}), Task("t", prompt="Which port?")
        code = (
            "import os, sys; print(os.environ['TOKEN'], os.getcwd(), '8080' in sys.stdin.read());"
            "print(x, file=sys.stderr) if (x := os.path.exists('/root')) else sys.exit(7)"
        )
        program = Program("worker", (PYTHON, "-c", code), "ray:edge", env=("TOKEN",))
        found = runs.run(task, program)
        assert (found.outcome, found.why) == ("failed", "exit code 7"), runs.read_log(
            found.id, errors=True
        )
        assert (found.runtime, found.execution_node) == ("ray:edge", "edge")
        assert runs.read_log(found.id).split() == ["sesame", "/box", "True"]
        missing = runs.run(task, program._replace(runtime="ray:nowhere"))
        assert "offers kimi-node:nowhere" in runs.read_log(missing.id, errors=True)
        # One that would go on for ever ends with its run.
        marker = "import time\nwhile True: time.sleep(0.1)  # kimi-ray-forever"
        slow = Program("worker", (PYTHON, "-c", marker), "ray", limits=Limits(wall_s=20))
        assert runs.run(task, slow).why == "time limit of 20 s"
        end = time.monotonic() + 20
        while find_programs("kimi-ray-forever"):
            assert time.monotonic() < end
            time.sleep(0.2)


def find_programs(word: str) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0].endswith(b"python3") and any(word.encode() in one for one in words):
            found.append(path.parent.name)
    return found
