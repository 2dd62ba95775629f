"""Two folders of one memory over one change log, as two machines have them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.domain.job import digest
from kimi_memory.hooks.host import Host
from kimi_memory.store.deployment import Deployment, write_deployment
from kimi_memory.store.files.paths import RECEIPTS
from kimi_memory.store.relay import Relay


def home_of(base: Path, node: str, *, ttl: float = 60.0, wait: float = 0.4) -> Home:
    """A user of one machine whose settings name the log."""
    home = Home(base / node / "config", base / node / "state")
    home.config.mkdir(parents=True)
    lines = ["[cluster]", f'url = "folder://{base}/log"', f'node = "{node}"']
    lines += [f"ttl = {ttl}", f"wait_seconds = {wait}", ""]
    (home.config / "config.toml").write_text("\n".join(lines), encoding="utf-8")
    return home


@dataclass
class Pair:
    """Nodes ``a`` and ``b``, each with its own home and folder."""

    base: Path
    clock: Callable[[], datetime]

    def __post_init__(self) -> None:
        self.homes = {node: home_of(self.base, node) for node in "ab"}
        with Memory.create(self.folder("a"), name="shop", opening=self._opening("a", None)) as made:
            self.id = made.settings.memory.id
        shutil.copytree(self.folder("a"), self.folder("b"), ignore=shutil.ignore_patterns(".kimi"))
        for node in "ab":
            self.open(node).close()
            write_deployment(self.folder(node), Deployment(self.id, node))

    def folder(self, node: str) -> Path:
        return self.base / node / "shop"

    def _opening(self, node: str, host: Host | None) -> Opening:
        home = self.homes[node]
        return Opening(home=home, clock=self.clock, background=False, host=host)

    def open(self, node: str, host: Host | None = None) -> Memory:
        return Memory.open(self.folder(node), self._opening(node, host))


def relay_of(memory: Memory) -> Relay:
    assert memory.store.relay is not None
    return memory.store.relay


def files_of(memory: Memory) -> dict[str, str]:
    """What is shared of a memory: the hash of each file."""
    paths = [path for path in memory.store.files() if path != RECEIPTS]
    return {path: digest(memory.store.read(path)) for path in paths}


def records_of(memory: Memory) -> list[bytes]:
    """All records of its log."""
    place = relay_of(memory).position
    return [body for _, body in place.log.read(place.place.memory, 0, 100_000)]
