"""The MCP server before the official programs: conformance, inspector, ``server-memory``.

And under other versions of the library mcp than the one that is installed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hosts.programs import CACHE, Program, program
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kimi_memory import Memory
from tests.mcp.test_server import TOOLS
from tests.mcp.wire import Wire, ours, over_http

pytestmark = [pytest.mark.hosts, pytest.mark.timeout(900)]

ROOT = Path(__file__).parents[2]
SCENARIOS = (
    *("server-initialize", "ping", "tools-list", "tools-call-error", "resources-list"),
    *("prompts-list", "server-sse-multiple-streams", "dns-rebinding-protection"),
)
"""Those that ask for nothing but what every server has; the others want tools, prompts and
resources of a test server, or logging, completion and subscriptions, which ours does not
say that it has."""
VERSIONS = ("1.24.0", "1.30.0", "2.0.1", "2.3.0")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mcp") / "memory"
    with Memory.create(folder) as memory:
        memory.remember("The staging database listens on port 6543.", key="staging.port")
    return folder


@pytest.fixture(scope="module", params=[(), ("--compat", "server-memory")], ids=["ours", "compat"])
def url(request: pytest.FixtureRequest, root: Path) -> Iterator[str]:
    with over_http(root, *request.param) as address:
        yield address


def done(tool: Program, *words: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PATH": tool.search}
    argv = [str(tool.path), *words]
    return subprocess.run(argv, env=env, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_it_passes_a_scenario_of_the_conformance_suite(url: str, scenario: str) -> None:
    if scenario == "prompts-list" and "compat" in os.environ.get("PYTEST_CURRENT_TEST", ""):
        pytest.skip("the other server has no prompts")
    told = done(program("mcp-conformance"), "server", "--url", url, "--scenario", scenario)
    assert told.returncode == 0, told.stdout[-2000:]
    assert " 0 failed, 0 warnings" in told.stdout


def inspect(root: Path, method: str, *words: str) -> Any:
    told = done(program("mcp-inspector"), "--cli", *ours(root), "--method", method, *words)
    assert told.returncode == 0, told.stderr[-2000:]
    return json.loads(told.stdout)


def test_the_inspector_lists_calls_and_reads(root: Path) -> None:
    tools = inspect(root, "tools/list")["tools"]
    assert {tool["name"] for tool in tools} == TOOLS
    assert all(tool["inputSchema"]["type"] == "object" for tool in tools)
    words = ("--tool-name", "memory_search", "--tool-arg", "query=staging port")
    found = inspect(root, "tools/call", *words)["structuredContent"]
    assert "6543" in found["results"][0]["snippet"]
    page = inspect(root, "resources/read", "--uri", "memory://USER.md")
    assert page["contents"][0]["text"].startswith("#")
    (prompt,) = inspect(root, "prompts/list")["prompts"]
    assert prompt["name"] == "recall"


NAMES = ("小李", "Acme", "acme", "a b", "x/y", "ghost")
TEXTS = ("喝绿茶", "writes Go", "Acme is old", "", "a\nb", '"quoted" \\', "ÄÖ", "ends with space ")
names = st.sampled_from(NAMES)
texts = st.lists(st.sampled_from(TEXTS), max_size=3)
relation = st.fixed_dictionaries(
    {"from": names, "to": names, "relationType": st.sampled_from(["works_at", "知道"])}
)
entity = st.fixed_dictionaries(
    {"name": names, "entityType": st.sampled_from(["person", "公司"]), "observations": texts}
)


def step(tool: str, **given: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[str, Any]]:
    return st.tuples(st.just(tool), st.fixed_dictionaries(given))


def alone(one: dict[str, Any]) -> str:
    plain = {key: value for key, value in one.items() if key != "observations"}
    return json.dumps(plain, sort_keys=True)


steps = st.one_of(
    step("create_entities", entities=st.lists(entity, max_size=3, unique_by=lambda e: e["name"])),
    step("create_relations", relations=st.lists(relation, max_size=3, unique_by=alone)),
    step(
        "add_observations",
        observations=st.lists(
            st.fixed_dictionaries({"entityName": names, "contents": texts}), max_size=2
        ),
    ),
    step("delete_entities", entityNames=st.lists(names, max_size=2)),
    step(
        "delete_observations",
        deletions=st.lists(
            st.fixed_dictionaries({"entityName": names, "observations": texts}), max_size=2
        ),
    ),
    step("delete_relations", relations=st.lists(relation, max_size=2)),
    step("read_graph"),
    step("open_nodes", names=st.lists(names, max_size=3)),
    step("search_nodes", query=st.sampled_from(["", "a", "绿茶", "PERSON", "old", "ä"])),
)
BEGUN = (
    (
        "create_entities",
        {
            "entities": [
                {"name": "小李", "entityType": "person", "observations": ["喝绿茶"]},
                {"name": "Acme", "entityType": "公司", "observations": ["Acme is old"]},
            ]
        },
    ),
    (
        "create_relations",
        {"relations": [{"from": "小李", "to": "Acme", "relationType": "works_at"}]},
    ),
)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Wire, Wire]]:
    """Our server and theirs, each over nothing."""
    folder = tmp_path_factory.mktemp("pair")
    theirs = program("mcp-server-memory")
    with Memory.create(folder / "memory"):
        env = {**os.environ, "PATH": theirs.search}
    with (
        Wire(ours(folder / "memory", "--compat", "server-memory"), env) as first,
        Wire([str(theirs.path)], {**env, "MEMORY_FILE_PATH": str(folder / "graph.jsonl")}) as other,
    ):
        yield first, other


def plain(tool: str, result: dict[str, Any]) -> Any:
    """Return an answer without what differs on purpose: words of errors, orders of a graph."""
    if result.get("isError"):
        return "refused"
    value, text = result["structuredContent"], result["content"][0]["text"]
    if tool in ("read_graph", "open_nodes", "search_nodes"):
        assert json.loads(text) == value
        return {name: sorted(map(json.dumps, value[name])) for name in value}
    return value, text


def forget_all(server: Wire) -> None:
    server.call("delete_entities", entityNames=list(NAMES))
    assert server.call("read_graph")["structuredContent"] == {"entities": [], "relations": []}


@settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(script=st.lists(steps, max_size=10))
def test_the_graph_answers_as_the_other_server_does(
    pair: tuple[Wire, Wire], script: list[tuple[str, Any]]
) -> None:
    for server in pair:
        forget_all(server)
    for tool, members in (*BEGUN, *script, ("read_graph", {})):
        mine, theirs = (plain(tool, server.call(tool, **members)) for server in pair)
        if tool == "search_nodes" and theirs == {"entities": [], "relations": []}:
            continue  # where words stand nowhere, ours takes them for a question
        assert mine == theirs, (tool, members)


def test_both_describe_their_tools_alike(pair: tuple[Wire, Wire]) -> None:
    mine, theirs = (
        {tool["name"]: tool for tool in server.ask("tools/list")["tools"]} for server in pair
    )
    assert set(mine) == set(theirs)
    for name, tool in theirs.items():
        for schema in ("inputSchema", "outputSchema"):
            known = mine[name][schema]
            assert set(known["properties"]) == set(tool[schema]["properties"])
            assert set(known.get("required", [])) == set(tool[schema].get("required", []))
        for hint in ("readOnlyHint", "destructiveHint", "openWorldHint"):
            assert mine[name]["annotations"][hint] == tool["annotations"][hint]


@pytest.mark.parametrize("version", VERSIONS)
def test_it_works_with_another_version_of_the_library(version: str) -> None:
    place = CACHE / f"mcp-sdk-{version}"
    if not place.exists():
        made = place.with_name(f"{place.name}.{os.getpid()}")
        argv = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(made)]
        got = subprocess.run(
            [*argv, f"mcp=={version}"], capture_output=True, text=True, check=False
        )
        if got.returncode:
            pytest.skip(f"mcp {version} cannot be installed: {got.stderr[-300:]}")
        made.rename(place)
    env = {**os.environ, "PYTHONPATH": str(place)}
    shown = "import importlib.metadata as m; print(m.version('mcp'))"
    told = subprocess.run(
        [sys.executable, "-c", shown], env=env, capture_output=True, text=True, check=False
    )
    assert told.stdout.strip() == version
    argv = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider"]
    told = subprocess.run(
        [*argv, "tests/mcp"],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 0, told.stdout[-3000:]
    assert "skipped" not in told.stdout.splitlines()[-1]
