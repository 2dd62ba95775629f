"""A module that waits: imported by others, loaded when it is used."""

from __future__ import annotations

import subprocess
import sys

WAITING = """
import sys, urllib
from kimi_memory.hooks.deferred_import import postponed
with postponed("urllib.request", "urlretrieve"):
    from urllib.request import urlretrieve
    import urllib.request as early
assert "ssl" not in sys.modules and "http.client" not in sys.modules
"""


def run(code: str) -> None:
    subprocess.run([sys.executable, "-W", "error", "-c", WAITING + code], check=True)


def test_a_function_that_waits_does_what_it_does(tmp_path) -> None:
    path = tmp_path / "page.txt"
    path.write_text("river", encoding="utf-8")
    run(
        f"path, _ = urlretrieve({path.as_uri()!r})\n"
        "assert open(path).read() == 'river'\n"
        "import urllib.request; assert urllib.request.urlretrieve is not urlretrieve\n"
        "assert urllib.request.__spec__ is not None\n"
    )


def test_who_imports_the_module_afterwards_has_it_whole() -> None:
    run("import urllib.request; assert urllib.request.Request('http://a.b').host == 'a.b'")


def test_who_had_it_meanwhile_has_it_too() -> None:
    run(
        "assert urllib.request is early and early.Request('http://a.b').host == 'a.b'\n"
        "assert urllib.request is not early and 'ssl' in sys.modules\n"
        "assert not hasattr(early, '__wrapped__')"
    )


def test_a_module_that_is_there_stays_as_it_is() -> None:
    run(
        "import urllib.request as real\n"
        "with postponed('urllib.request', 'urlretrieve'):\n"
        "    from urllib.request import urlretrieve as found\n"
        "assert found is real.urlretrieve and sys.modules['urllib.request'] is real"
    )


def test_a_failure_inside_leaves_nothing_behind() -> None:
    run(
        "try:\n"
        "    with postponed('xml.sax', 'parse'):\n"
        "        raise KeyError\n"
        "except KeyError:\n"
        "    pass\n"
        "assert 'xml.sax' not in sys.modules\n"
        "import xml.sax; assert xml.sax.make_parser"
    )
