"""Two machines as network namespaces on a bridge, cut from the database and joined again."""

from __future__ import annotations

import os
import shutil
import subprocess

ADDRESS = "10.77.{net}.{host}"


def can_make() -> bool:
    """Whether this user may make namespaces here, with the programs for it."""
    return os.geteuid() == 0 and shutil.which("ip") is not None and _probe()


def _probe() -> bool:
    made = subprocess.run(["ip", "netns", "add", "km-probe"], check=False, capture_output=True)
    subprocess.run(["ip", "netns", "del", "km-probe"], check=False, capture_output=True)
    return made.returncode == 0


class Network:
    """A bridge of this machine, and a namespace for each host; `close` removes all of it."""

    def __init__(self, hosts: str = "ab") -> None:
        self._net, self._hosts = os.getpid() % 250 + 1, hosts
        self.bridge = f"kmbr{self._net}"
        _ip("link", "add", self.bridge, "type", "bridge")
        _ip("addr", "add", f"{self.address}/24", "dev", self.bridge)
        _ip("link", "set", self.bridge, "up")
        for number, host in enumerate(hosts, 2):
            name, outer, inner = self.name(host), self._outer(host), f"kmi{self._net}{host}"
            _ip("netns", "add", name)
            _ip("link", "add", outer, "type", "veth", "peer", "name", inner)
            _ip("link", "set", inner, "netns", name)
            _ip("link", "set", outer, "master", self.bridge, "up")
            address = ADDRESS.format(net=self._net, host=number)
            _ip("-n", name, "addr", "add", f"{address}/24", "dev", inner)
            _ip("-n", name, "link", "set", inner, "up")
            _ip("-n", name, "link", "set", "lo", "up")

    @property
    def address(self) -> str:
        """The address of this machine on the bridge, where the database listens."""
        return ADDRESS.format(net=self._net, host=1)

    def name(self, host: str) -> str:
        """The namespace of a host."""
        return f"km{self._net}{host}"

    def prefix(self, host: str) -> list[str]:
        """What starts a program on a host."""
        return ["ip", "netns", "exec", self.name(host)]

    def cut(self, host: str) -> None:
        """Let nothing from or to a host pass; its connections stay open, and silent."""
        _ip("link", "set", self._outer(host), "nomaster")

    def join(self, host: str) -> None:
        """Let all pass again."""
        _ip("link", "set", self._outer(host), "master", self.bridge)

    def close(self) -> None:
        for host in self._hosts:
            subprocess.run(["ip", "netns", "del", self.name(host)], check=False)
        subprocess.run(["ip", "link", "del", self.bridge], check=False)

    def _outer(self, host: str) -> str:
        return f"kmo{self._net}{host}"


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)
