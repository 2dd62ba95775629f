"""Addresses of this machine, which no proxy and no other machine can reach."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit


def is_loopback(name: str) -> bool:
    """Whether a host name or address means this machine."""
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        # Other names may lead anywhere tomorrow, so only numbers count as this machine.
        return False


def is_local_url(url: str) -> bool:
    """Whether a URL, or a host with its port, means this machine."""
    return is_loopback(urlsplit(url if "//" in url else f"//{url}").hostname or "")
