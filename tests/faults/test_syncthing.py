"""Copies that meet in a folder which Syncthing carries: two real instances on this machine."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.operations.remotes import add_remote
from kimi_memory.operations.sync_remotes import SyncReport, sync_memory
from tests.test_copies import errors, git

SYNCTHING = shutil.which("syncthing")
pytestmark = [
    pytest.mark.faults,
    pytest.mark.timeout(600),
    pytest.mark.skipif(SYNCTHING is None, reason="needs syncthing: it is not installed"),
]
PATIENCE_SECONDS = 240
QUIET = {
    **dict.fromkeys(("globalAnnounceEnabled", "localAnnounceEnabled", "relaysEnabled"), "false"),
    **dict.fromkeys(("natEnabled", "crashReportingEnabled", "startBrowser"), "false"),
    **{"urAccepted": "-1", "autoUpgradeIntervalH": "0", "reconnectionIntervalS": "1"},
}
"""Settings under which an instance talks to nobody but the other one."""


def find_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def generate(home: Path) -> str:
    """Make keys and settings of an instance; return its id."""
    assert SYNCTHING
    how = [SYNCTHING, "generate", "--no-default-folder", "--skip-port-probing", f"--home={home}"]
    subprocess.run(how, check=True, capture_output=True)
    found = re.search(r'<device id="([A-Z0-9-]+)"', (home / "config.xml").read_text("utf-8"))
    assert found
    return found[1]


def configure(home: Path, folder: Path, ports: dict[str, int]) -> None:
    """Have an instance share a folder with the others, on this machine alone."""
    path = home / "config.xml"
    text = path.read_text("utf-8")
    me = next(id for id in ports if f'<device id="{id}" name' in text)
    for name, value in QUIET.items():
        text = re.sub(rf"<{name}>[^<]*</{name}>", f"<{name}>{value}</{name}>", text)
    listens = f"<listenAddress>tcp://127.0.0.1:{ports[me]}</listenAddress>"
    text = text.replace("<listenAddress>default</listenAddress>", listens)
    text = text.replace("127.0.0.1:8384", f"127.0.0.1:{find_port()}")
    shares = "".join(f'<device id="{id}"></device>' for id in ports)
    place = f'<folder id="drop" path="{folder}" type="sendreceive" rescanIntervalS="2"'
    place += f' fsWatcherEnabled="true" fsWatcherDelayS="1">{shares}</folder>'
    others = "".join(
        f'<device id="{id}" name="other"><address>tcp://127.0.0.1:{port}</address></device>'
        for id, port in ports.items()
        if id != me
    )
    path.write_text(text.replace("<gui", f"{place}{others}<gui", 1), encoding="utf-8")


@pytest.fixture
def folders(tmp_path: Path) -> Iterator[tuple[Path, Path]]:
    """Two folders that Syncthing keeps alike."""
    homes = (tmp_path / "st-a", tmp_path / "st-b")
    drops = (tmp_path / "drop-a", tmp_path / "drop-b")
    ports = {generate(home): find_port() for home in homes}
    with ExitStack() as stack:
        for home, drop in zip(homes, drops, strict=True):
            drop.mkdir()
            configure(home, drop, ports)
            log = stack.enter_context((home / "log.txt").open("wb"))
            how = [str(SYNCTHING), "serve", "--no-browser", "--no-restart", f"--home={home}"]
            process = subprocess.Popen(how, stdout=log, stderr=log)
            stack.callback(process.wait)
            stack.callback(process.terminate)
        yield drops


def wait_for(arrived: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while not arrived():
        if time.monotonic() > end:
            pytest.fail(f"Syncthing did not carry {what}")
        time.sleep(0.2)


def sync(memory: Memory) -> SyncReport:
    [report] = sync_memory(memory)
    assert not report.failed, report.failed
    return report


def listed(drop: Path) -> set[str]:
    """Return the files that are whole: Syncthing fills them under names of its own."""
    paths = (path for path in drop.rglob("*") if path.is_file())
    names = (path.relative_to(drop).as_posix() for path in paths)
    return {name for name in names if ".syncthing." not in name and not name.startswith(".st")}


def test_copies_meet_in_a_folder_that_syncthing_carries(
    memory: Memory, folders: tuple[Path, Path], tmp_path: Path, opening: Opening
) -> None:
    here, there = folders
    memory.remember("Ann likes tea. 安喜欢茶。", key="ann.tea")
    memory.batch.flush()
    git(tmp_path, "clone", "-q", str(memory.root), "b")
    own = replace(opening, home=Home(tmp_path / "config-b", tmp_path / "state-b"))
    with Memory.open(tmp_path / "b", own) as other:
        add_remote(memory, "drop", str(here), drop=True)
        add_remote(other, "drop", str(there), drop=True)
        memory.remember("Bob likes coffee.", key="bob.drink")
        other.remember("Cleo likes water.", key="cleo.drink")
        assert sync(memory).sent
        assert sync(other).sent
        for turn in range(3):
            wait_for(lambda: listed(here) == listed(there), f"round {turn}")
            sync(other)
            wait_for(lambda: listed(here) == listed(there), f"round {turn}")
            sync(memory)
        assert memory.history.head() == other.history.head()
        assert errors(memory) == errors(other) == []
        assert not [name for name in listed(here) if "sync-conflict" in name]
        for one in (memory, other):
            files = one.store.files("semantic")
            said = "".join(one.store.read(path).decode() for path in files)
            assert all(text in said for text in ("安喜欢茶", "Bob likes", "Cleo likes"))
