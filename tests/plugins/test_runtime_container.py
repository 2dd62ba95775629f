"""The ways out of the sandbox, tried in containers of podman and of docker."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
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
from tests.plugins.sandbox_attempts import ATTEMPTS, PRELUDE
from tests.plugins.test_runtime_sandbox import PYTHON, Outside, outside, start, work

__all__ = ["outside", "work"]

IMAGE = "kimi-memory-test"
OF_THE_IMAGE = {"read accounts", "list what services keep"}
"""What lies in the image, and is nobody's of this machine."""


@pytest.fixture(scope="module", params=["podman", "docker"])
def engine(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """An engine that runs here, found before any other one."""
    name, folder = str(request.param), tmp_path_factory.mktemp("engine")
    if os.geteuid() or not shutil.which(name) or not Path(PYTHON).exists():
        pytest.skip(f"needs root, {name} and /usr/bin/python3; 'make test-sandbox' installs podman")
    with pytest.MonkeyPatch.context() as patch:
        # crun, the default of podman, knows no machine with both kinds of control groups.
        settings = folder / "containers.conf"
        settings.write_text('[engine]\nruntime = "runc"\n' if shutil.which("runc") else "")
        patch.setenv("CONTAINERS_CONF", str(settings))
        for program in (name, "git", "sh", "sleep", "runc", "conmon"):
            if found := shutil.which(program):
                (folder / program).symlink_to(found)
        patch.setenv("PATH", str(folder))
        if (said := ask(name, "info")).returncode:
            pytest.skip(f"{name} does not answer: {said.stderr.strip()}")
        yield name


@pytest.fixture(scope="module")
def image(engine: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An image of this machine's Python, made here: nothing is fetched."""
    archive = tmp_path_factory.mktemp("image") / "root.tar"
    pack(archive)
    made = ask(engine, "import", archive, IMAGE)
    tried = ask(engine, "run", "--rm", "--ulimit=nofile=64:64", "--ulimit=nproc=64:64",
                "--network=none", IMAGE, PYTHON, "-c", "")  # fmt: skip
    if made.returncode or tried.returncode:
        pytest.skip(f"{engine} runs nothing here: {made.stderr}{tried.stderr}")
    yield f"container:localhost/{IMAGE}" if engine == "podman" else f"container:{IMAGE}"
    ask(engine, "rmi", "--force", IMAGE)


def ask(engine: str, *words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([engine, *map(str, words)], check=False, capture_output=True, text=True)


def pack(target: Path) -> None:
    """Make an archive of a Python, its modules and the libraries they need."""
    code = "import sys, sysconfig; print(sysconfig.get_path('stdlib'), sys.executable)"
    said = subprocess.run([PYTHON, "-c", code], capture_output=True, text=True, check=True)
    modules = Path(said.stdout.split()[0])
    programs = [PYTHON, "/bin/sh", "/bin/sleep", *map(str, modules.glob("lib-dynload/*.so"))]
    linked = subprocess.run(
        ["/usr/bin/ldd", *programs], capture_output=True, text=True, check=False
    ).stdout
    libraries = set(re.findall(r"^\s.*?(/\S+\.so[.\d]*) \(", linked, re.MULTILINE))
    files = [*programs[:3], *sorted(libraries)]
    inside = {parent for one in (*files, modules) for parent in Path(one).parents}
    folders = {f"{one}".strip("/") for one in inside} | {"tmp", "box", "proc", "dev", "sys", "etc"}
    with tarfile.open(target, "w", dereference=True) as archive:
        for name in sorted(folders - {""}):
            folder = tarfile.TarInfo(name)
            folder.type, folder.mode = tarfile.DIRTYPE, 0o755
            archive.addfile(folder)
        for name in files:
            archive.add(name)
        archive.add(modules, filter=lambda one: None if "__pycache__" in one.name else one)


@pytest.mark.sandbox
@pytest.mark.parametrize("name", [name for name in ATTEMPTS if name not in OF_THE_IMAGE])
def test_no_attempt_gets_out(
    name: str, image: str, outside: Outside, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOST_TOKEN", "INNERMOST")
    _, said = start(image, work, PRELUDE + outside.fill(ATTEMPTS[name]))
    assert "TRIED" in said and "ESCAPED" not in said, said


@pytest.mark.sandbox
def test_it_sees_what_was_granted_and_its_exit_code_is_told(
    image: str, engine: str, outside: Outside, work: Path
) -> None:
    code = f"import os; print(os.getuid(), os.getcwd(), open({str(outside.folder / 's')!r}).read())"
    code += "; open('/box/made', 'w').write('x'); raise SystemExit(7)"
    ended, said = start(image, work, code, roots=(str(outside.folder),))
    assert ended == 7 and said.split() == ["65534", "/box", "INNERMOST"]
    assert (work / "made").read_text() == "x"
    assert "kimi-memory-test" not in ask(engine, "ps", "--all").stdout


@pytest.mark.sandbox
def test_limits_hold(image: str, work: Path) -> None:
    code = "file = open('/box/big', 'wb', 0)\nfor _ in range(80): file.write(b'x' * 65536)"
    ended, said = start(image, work, code, limits=Limits(output_bytes=1 << 20))
    assert ended != 0 and "File too large" in said, said
    assert (work / "big").stat().st_size <= 1 << 20
    code = "x = b'x' * (300 << 20)"
    assert start(image, work, code, limits=Limits(memory_mb=64))[0] != 0
    code = "import subprocess\nfor _ in range(300): subprocess.Popen(['/bin/sleep', '9'])"
    assert start(image, work, code)[0] != 0


@pytest.mark.sandbox
def test_an_agent_works_in_it_and_nothing_is_left(
    image: str, engine: str, home: Home, tmp_path: Path
) -> None:
    opening = Opening(home=home, background=False)
    with Memory.create(tmp_path / "m", opening=opening) as memory:
        memory.remember("The port is 8080.", key="port")
        code = "import os, sys; print(os.environ['TOKEN'], '8080' in sys.stdin.read())"
        program = Program("worker", (PYTHON, "-c", code), image, env=("TOKEN",))
        found = Runs(memory, {"TOKEN": "open sesame"}).run(Task("t", prompt="Which port?"), program)
        assert (found.outcome, found.runtime) == ("done", image), found
        assert Runs(memory).read_log(found.id).split() == ["open", "sesame", "True"]
        slow = Program("worker", (PYTHON, "-c", "import time; time.sleep(60)"), image)
        slow = slow._replace(limits=Limits(wall_s=2))
        assert Runs(memory).run(Task("t", prompt="Wait."), slow).outcome == "killed"
        names = ask(engine, "ps", "--all", "--format", "{{.Image}}").stdout
        assert IMAGE not in names


@pytest.mark.sandbox
def test_a_container_whose_runner_was_killed_ends_with_the_next_command(
    image: str, engine: str, home: Home, tmp_path: Path
) -> None:
    opening = Opening(home=home, background=False)
    with Memory.create(tmp_path / "m", opening=opening):
        pass
    code = (
        "import sys; from pathlib import Path; from kimi_memory import Memory, Opening\n"
        "from kimi_memory.api.options import Home\n"
        "from kimi_memory.domain.agent_run import Program, Task\n"
        "from kimi_memory.runs import Runs\n"
        "opening = Opening(home=Home(*map(Path, sys.argv[2:4])), background=False)\n"
        "words = ('/usr/bin/python3', '-u', '-c', 'print(7); import time; time.sleep(90)')\n"
        "with Memory.open(sys.argv[1], opening) as memory:\n"
        "    Runs(memory).run(Task('t', prompt='x'), Program('w', words, sys.argv[4]))\n"
    )
    words = [str(tmp_path / "m"), str(home.config), str(home.state), image]
    runner = subprocess.Popen([sys.executable, "-c", code, *words])
    end = time.monotonic() + 60
    while not any(path.read_text() for path in home.state.glob("runs/*/out.log")):
        assert time.monotonic() < end and runner.poll() is None
        time.sleep(0.05)
    runner.kill()
    runner.wait()
    with Memory.open(tmp_path / "m", opening) as memory:
        [lost] = Runs(memory).recover()
        assert lost.outcome == "lost" and Runs(memory).read_log(lost.id).strip() == "7"
    while ask(engine, "ps", "--format", "{{.Image}}").stdout.strip():
        assert time.monotonic() < end
        time.sleep(0.1)


@pytest.mark.parametrize("name", ["", "-v/:/host", "a b", "a\nb"])
def test_what_is_no_image_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="is no image"):
        Host(entry_points=False).answer("open_runtime", name=f"container:{name}")


def test_where_it_cannot_be_had_one_line_says_so(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UsageError, match="no podman and no docker"):
        start("container:python", work, "")
