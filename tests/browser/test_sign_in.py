"""Signing in at the pages of a space: a real browser, a real provider, a real server.

Needs Chromium and a provider; ``make test-browser`` installs that and runs it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("cedarpy", reason="needs the library of kimi-memory[team]")
pytest.importorskip("authlib", reason="needs the library of kimi-memory[team]")

from fakes.browsing import open_tab, opening
from fakes.provider import PYTHON, provider
from fakes.served import Served, serving

from kimi_memory import Memory
from kimi_memory.spaces.issuers import Asking
from kimi_memory.spaces.space_folder import SpaceFolder

pytestmark = [
    pytest.mark.browser,
    pytest.mark.timeout(1200),
    pytest.mark.skipif(not PYTHON.exists(), reason="needs a provider; see 'make test-browser'"),
]
CLIENT = "kimi-pages"


@contextmanager
def shared_with_lin(base: Path) -> Iterator[tuple[Served, SpaceFolder]]:
    """Serve the pages of a memory of a space, which believes a provider of its own."""
    there = Served(base / "tea", base / "home")
    there.home.mkdir()
    with Memory.create(there.root, opening=opening(there)) as memory:
        memory.remember("The shop opens at nine.", key="shop.hours")
        id = memory.settings.memory.id
    space = SpaceFolder.create(there.directories, "shop", base / "space")
    space.add("lin", ["reader"])
    space.share(id, "tea", there.root)
    with serving(base) as start:
        served = start(there.root, there.home, "--no-open", command="ui")
        served.url = served.url.partition("/ui/")[0]
        with provider(base, CLIENT, f"{served.url}/ui/signed-in", "lin", "eve") as url:
            space.believe(Asking(url, CLIENT), CLIENT)
            yield served, space


def sign_in(tab: Any, served: Served, name: str) -> None:
    """Come in at the door, by way of the provider, as a person does."""
    tab.goto(f"{served.url}/ui/enter")
    tab.click("a[href='/ui/sign-in']")
    tab.fill("input[name=login]", name)
    tab.click("#loginform button[type=submit]")
    tab.fill("input[name=password]", f"{name}-password")
    tab.click("#passwordform button[type=submit]")


def test_people_of_a_provider_come_in_as_the_members_they_are(browser: Any, tmp_path: Path) -> None:
    with shared_with_lin(tmp_path) as (served, space):
        tab = open_tab(browser)
        sign_in(tab, served, "lin")
        # The seat is shown to the page that ours leads to, though another site led here.
        tab.wait_for_url(f"{served.url}/ui/held")
        tab.locator("[data-again]").wait_for(state="detached")
        tab.goto(f"{served.url}/ui/search?q=shop")
        assert "nine" in tab.content()
        line = [*space.log.records()][-1]
        assert (line.sub, line.via, line.decision) == ("lin", "pages", "allow")
        other = open_tab(browser)
        sign_in(other, served, "eve")
        other.wait_for_url(f"{served.url}/ui/signed-in?**")
        assert "eve is no member of the space shop" in other.content()
        other.goto(f"{served.url}/ui/search?q=shop")
        assert other.url == f"{served.url}/ui/enter" and "nine" not in other.content()
        space.remove("lin")
        tab.goto(f"{served.url}/ui/search?q=shop")
        assert "nine" not in tab.content()
        tab.context.close()
        other.context.close()
