"""The ways out of the sandbox, tried in containers of runsc."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kimi_memory.domain.agent_run import Limits
from kimi_memory.errors import UsageError
from kimi_memory.hooks.host import Host
from tests.plugins.sandbox_attempts import ATTEMPTS, PRELUDE
from tests.plugins.test_runtime_sandbox import PYTHON, Outside, outside, start, work

__all__ = ["outside", "work"]

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.skipif(
        os.geteuid() != 0 or not shutil.which("runsc") or not Path(PYTHON).exists(),
        reason="needs root, runsc and /usr/bin/python3; 'make test-sandbox' installs them",
    ),
]
BUNDLES = "kimi-gvisor-*"
INSIDE = {
    "mount in a namespace of its own", "gain privileges later", "start many processes",
    "hand work to the kernel unseen",
}  # fmt: skip
"""What a program may do to the kernel that is its own alone; nothing of the machine is reached."""


@pytest.fixture(autouse=True)
def bundles(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """Where containers are described; nothing of them is left there."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    yield tmp_path
    assert not [*tmp_path.glob(BUNDLES)]


@pytest.mark.parametrize("name", [name for name in ATTEMPTS if name not in INSIDE])
def test_no_attempt_gets_out(
    name: str, outside: Outside, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOST_TOKEN", "INNERMOST")
    _, said = start("gvisor", work, PRELUDE + outside.fill(ATTEMPTS[name]))
    assert "TRIED" in said and "ESCAPED" not in said, said


def test_it_has_a_kernel_of_its_own_and_what_was_granted(outside: Outside, work: Path) -> None:
    code = f"import os; print(os.uname().release, open({str(outside.folder / 's')!r}).read())"
    code += "; open('/box/made', 'w').write('x'); raise SystemExit(7)"
    ended, said = start("gvisor", work, code, roots=(str(outside.folder),))
    assert ended == 7 and "INNERMOST" in said
    assert os.uname().release not in said
    assert (work / "made").read_text() == "x"


def test_limits_hold_and_nothing_outlives_it(work: Path) -> None:
    few = Limits(output_bytes=1 << 20, memory_mb=512)
    code = "file = open('/box/big', 'wb', 0)\nfor _ in range(80): file.write(b'x' * 65536)"
    assert start("gvisor", work, code, limits=few)[0] != 0
    assert (work / "big").stat().st_size <= 1 << 20
    code = (
        "import os, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    while True: open('/box/alive', 'w').write(str(time.time())); time.sleep(0.01)\n"
        "while not os.path.exists('/box/alive'): time.sleep(0.01)\n"
    )
    assert start("gvisor", work, code)[0] == 0
    first = (work / "alive").read_text()
    time.sleep(0.2)
    assert (work / "alive").read_text() == first


def test_where_it_cannot_be_had_one_line_says_so(
    monkeypatch: pytest.MonkeyPatch, work: Path, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="no gVisor"):
        start("gvisor", work, "")
    assert Host(entry_points=False).answer("open_runtime", name="gvisor").isolation == "high"
