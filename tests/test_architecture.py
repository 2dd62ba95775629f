"""The architecture: who may import whom, who may touch files, who may read the environment."""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cache, cached_property
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

LAYERS = (
    {"__main__"},
    {"cli"},
    {"client", "lsp", "mcp", "proxy", "tui", "web"},
    {"server"},
    {"spaces"},
    {"agent_hooks", "frameworks"},
    {"runs"},
    {"cluster"},
    {"operations"},
    {"api"},
    {"past"},
    {"capture", "jobs", "recall"},
    {"index"},
    {"store.trust"},
    {"store.notes"},
    {"store"},
    {"store.git", "store.wal"},
    {"store.files"},
    {"hooks"},
    {"llm", "llm.proposals"},
    {"llm.remote"},
    {"config"},
    {"merge"},
    {"formats"},
    {"domain"},
    {"nlp.rules"},
    {"nlp.dates", "nlp.learned"},
    {"nlp.basic"},
    {"errors", "lazy_dataclass", "nlp"},
)
"""Folders and modules of the package, from the command line down; imports point downwards."""

RANK = {unit: rank for rank, layer in enumerate(LAYERS) for unit in layer}

PUBLIC = tuple(
    f"kimi_memory.{name}"
    for name in (
        *("domain", "formats", "nlp", "errors"),
        *("llm.remote", "llm.proposals"),
        # what commands share, and how a block for a prompt is built
        *("cli.shared", "cli.filter_options"),
        *("recall.context", "recall.request"),
        # questions with what is right about their answers
        "recall.eval_cases",
        # the plugins of a user, what they take for a secret, and stores of any system
        *("hooks.host", "operations.foreign_stores"),
        # runs of agents, the machines they run on, and what they may do there as tools
        *("runs", "cluster", "mcp.exec_tools"),
        # what spaces decide by, and whom they believe
        *("spaces.policies", "spaces.issuers", "spaces.people", "spaces.placing"),
        "spaces.budget",
        # the directories of a user, and what is installed there
        "api.options",
        # a memory as one file
        "operations.bundles",
        # notes and sessions as they are, and the graph over them
        *("store.notes", "jobs.graph", "jobs.gates"),
        # turns on their way in, statements kept at once, jobs of one's own, what a model cost
        *("capture.log", "jobs.fold_drafts", "jobs.planner", "llm.usage"),
        # files of a person's own, outside of memories, and the programs beside us
        *("agent_hooks.user_files", "store.files.outside"),
    )
)
"""What a plugin may import besides the names in ``kimi_memory.__all__``."""

HEAVY = {
    *("whoosh", "usearch", "watchfiles", "ollama", "jinja2", "yaml", "frontmatter", "re2"),
    *("Stemmer", "platformdirs", "pluggy", "numpy", "httpx"),
    *("mcp", "pydantic", "typing_extensions"),
    *("starlette", "uvicorn"),
    *("pygls", "lsprotocol"),
    *("textual", "rich"),
    *("anthropic", "langgraph", "langchain", "langchain_core", "agents", "pydantic_ai"),
    *("agent_framework", "autogen_core", "claude_agent_sdk", "crewai", "google", "llama_index"),
    "strands",
    "obstore",
    "nats",
    "psycopg",
    "cedarpy",
    "jwt",
    "authlib",
    "ray",
    "opentelemetry",
}
"""Third-party libraries: each is known to one module."""

SHARED = {
    # the markers stand beside the specifications, the plugin manager in the host
    "pluggy": ("kimi_memory/hooks/specs.py", "kimi_memory/hooks/host.py"),
    # one asks model servers within a bound of bytes and time, one is our own client, and one
    # passes on what others ask, as it comes; the last asks who signs for people
    "httpx": (
        "kimi_memory/llm/remote/http.py",
        "kimi_memory/client/*.py",
        "kimi_memory/proxy/upstream.py",
        "kimi_memory/spaces/issuers.py",
    ),
    # what says of a parameter what it is, in both sets of tools
    "pydantic": ("kimi_memory/mcp/*.py",),
    # requests and answers: of the API, and of the pages beside it
    "starlette": ("kimi_memory/server/app.py", "kimi_memory/web/site.py"),
    # widgets of the panel, and the text that is drawn in them
    "textual": ("kimi_memory/tui/*.py",),
    "rich": ("kimi_memory/tui/*.py",),
    # arrays are the currency of scores, from postings to ranking
    "numpy": (
        "kimi_memory/index/*.py",
        "kimi_memory/recall/*.py",
        "kimi_memory/jobs/merge.py",
        "plugins/whoosh_index.py",
        "plugins/usearch_index.py",
        "plugins/ngrams.py",
    ),
}

WRITERS = {
    "kimi_memory/store/*.py": "the gateway",
    "kimi_memory/index/*.py": "derived files under .kimi/index, which may vanish at any moment",
    "kimi_memory/api/options.py": "the machine's key, outside of every memory folder",
    "kimi_memory/nlp/basic/patterns.py": "patterns, beside the bytecode of its module",
    "plugins/usearch_index.py": "an index file, to a temporary name and renamed, under .kimi/index",
    "kimi_memory/agent_hooks/user_files.py": (
        "a person's own files outside of memories, on their word"
    ),
    "plugins/export/__init__.py": "files for other programs, outside of every memory folder",
    "kimi_memory/agent_hooks/spool.py": "notes under .kimi/spool, before the store is loaded",
    "kimi_memory/agent_hooks/socket_protocol.py": (
        "opens the folder of a socket, to name it in short"
    ),
    "kimi_memory/agent_hooks/server.py": "its own socket under .kimi",
    "kimi_memory/agent_hooks/install.py": "settings of agent programs, as a person asked",
    "plugins/activity.py": "a log outside of every memory folder, which the user names",
    "kimi_memory/cli/bisect.py": "runs the test that a person typed",
    "kimi_memory/cli/keys.py": "a passing file for the editor that a person set",
    "kimi_memory/cli/shared.py": "runs the pager that a person set",
    "kimi_memory/operations/backup.py": (
        "an archive outside of the memory, and folders restored from it"
    ),
    "kimi_memory/operations/encryption.py": "encrypted files outside of every memory folder",
    "kimi_memory/operations/sealed_folders.py": "encrypted folders, and programs that open them",
    "kimi_memory/operations/new_folders.py": "folders that it makes, filled before they get a name",
    "kimi_memory/operations/take_in.py": "a memory on its way, in a temporary folder",
    "kimi_memory/operations/branches.py": "folders of branches, removed on a person's word",
    "kimi_memory/cluster/snapshots.py": "a passing file outside of every memory folder",
    "kimi_memory/cluster/renewal.py": "the folder of a deployment, in exchange for a new one",
    "kimi_memory/cluster/demonstration.py": "homes of its own nodes, which it starts and kills",
    "kimi_memory/spaces/audit_log.py": "a log in the folder of a space, outside of every memory",
    "kimi_memory/runs/*.py": (
        "folders and programs of runs, outside of every memory, which a person started"
    ),
    "plugins/log_folder.py": "change logs, outside of every memory folder",
    "plugins/runtime_gvisor.py": "what a container is, in a passing folder, and its removal",
    "plugins/runtime_container.py": "removes a container",
    "plugins/runtime_kubernetes.py": "asks kubectl, outside of every memory",
    "plugins/runtime_ray.py": "starts what carries out a run, on a machine of Ray",
    "plugins/demo/*.py": "a folder that it made for its demonstration, and commands run there",
}
"""Modules that may change files, and why."""

DOORS = {
    "kimi_memory/capture/log.py": "turns, headers and states, screened field by field",
    "kimi_memory/jobs/runner.py": "plans, screened before they are carried out",
    "kimi_memory/operations/lost_tombstones.py": "lines that history has, screened before",
    "kimi_memory/jobs/undo.py": "bytes that stood there before",
    "kimi_memory/jobs/rekeying.py": "records that stood there, with keyed hashes",
    "kimi_memory/operations/forget.py": "bytes that stood there, without what is purged",
    "kimi_memory/operations/session_evidence.py": "lines that stood there, in two files",
    "kimi_memory/operations/review_queue.py": "bytes that stood there before",
    "kimi_memory/jobs/merging.py": "files of another copy, which screened them",
    "kimi_memory/operations/setting_list.py": "settings that a person typed; secrets are refused",
    "kimi_memory/operations/migrate.py": "settings that stood there, with the memory's new place",
    "kimi_memory/operations/new_folders.py": "files of a memory, in a folder of their own",
    "kimi_memory/operations/agent_files.py": "notes of agents, refused where a secret is left",
    "kimi_memory/server/simple.py": "the line of a card, which remember has screened",
    "kimi_memory/api/consolidation.py": "receipts that stood there, without old ones",
    "kimi_memory/recall/engine.py": "ids of what was shown",
    "kimi_memory/runs/identity.py": "lines of a person, refused where one is a secret",
    "kimi_memory/runs/run_records.py": "ids and figures of runs, and no words",
    "kimi_memory/api/scaffold.py": "the pages a memory begins with",
}
"""Modules that may hand texts to the store, and why none of them lets a secret in."""

ENVIRONMENT = {
    "kimi_memory/llm/remote/settings.py": (
        "the user's own settings name the variable that holds a key"
    ),
    "kimi_memory/cli/*": "the outermost layer",
    "kimi_memory/agent_hooks/*": "the outermost layer",
    "kimi_memory/__main__.py": "the outermost layer",
    "kimi_memory/api/options.py": "the user's own directories, asked for in one place",
    "kimi_memory/store/git/command.py": "git inherits ours, without what would steer it",
    "kimi_memory/store/git/settings.py": (
        "whose repositories git trusts stands in the home directory"
    ),
    "kimi_memory/api/memory.py": "a path that a person gives may begin with ~",
    "plugins/activity.py": "a path that a person gives may begin with ~",
    "plugins/demo/time_story.py": "runs commands as the person would who types them",
    "plugins/skills/__init__.py": "a path that a person gives may begin with ~",
    "plugins/schedule/__init__.py": "where the machine's scheduler keeps its files",
    "plugins/agent_runs/*.py": "variables that the user names are passed on to agents",
    "plugins/agent_runs/usage_command.py": "what sends usage, for one of its options",
    "plugins/agent_runs/usage_export.py": "OpenTelemetry, which need not be installed",
    "plugins/pool_ray.py": "a library that says who uses it, unless the environment forbids it",
    "plugins/runtime_ray.py": "as above, in a process of its own",
    "plugins/runtime_container.py": "podman and docker find their own settings by it",
    "plugins/audit/page.py": "stores of other programs lie in the home directory",
}
"""Modules that may read the environment, and why."""


LATE_IMPORTS = 60
"""Most import statements inside of functions: each defers a library, or a part of ours, that
most processes never load. What a command loads anyway is imported at the head of a module."""

NAMED_IMPORTS = {
    "kimi_memory/__init__.py": "a name of the public face",
    "kimi_memory/api/options.py": "what ships the changes of a deployed memory",
    "kimi_memory/api/syncing.py": "the operation behind a method of a memory",
    "kimi_memory/cli/__init__.py": "a command",
    "kimi_memory/cli/tui.py": "the panel, whose library need not be installed",
    "kimi_memory/formats/codec.py": "a kind of note",
    "kimi_memory/hooks/host.py": "a bundled plugin",
    "kimi_memory/nlp/basic/patterns.py": "parts of Python that have no public name",
    "kimi_memory/jobs/planner.py": "a job of the registry",
    "kimi_memory/llm/remote/settings.py": "keyring, which need not be installed",
    "kimi_memory/operations/encryption.py": "pyrage, which need not be installed",
    "kimi_memory/store/node_keys.py": "cryptography and pyrage, which need not be installed",
    "kimi_memory/spaces/policies.py": "cedarpy, which need not be installed",
    "kimi_memory/spaces/issuers.py": "PyJWT, which need not be installed",
    "kimi_memory/spaces/code_flow.py": "Authlib, which need not be installed",
    "kimi_memory/mcp/library.py": "a library that has another form in each of its versions",
    "kimi_memory/formats/page_lines.py": "the folder of templates, which holds no code",
    "kimi_memory/runs/exec_https.py": "uvicorn, which need not be installed",
    "plugins/agent_runs/__init__.py": "the module of a command",
    "plugins/agent_runs/exec_command.py": "tools of MCP, whose library need not be installed",
    "plugins/agent_runs/usage_command.py": "what sends usage, for one of its options",
    "plugins/agent_runs/usage_export.py": "OpenTelemetry, which need not be installed",
    "plugins/pool_ray.py": "Ray, which need not be installed",
    "plugins/runtime_ray.py": "Ray, which need not be installed",
    "plugins/demo/__init__.py": "the demonstration of a cluster",
    "plugins/whoosh_index.py": "a module of a library that stays unread",
}
"""Modules that import by a name which is data, and what it names."""


def unit_of(name: str) -> str:
    """Return the part of the package a dotted name belongs to: a folder or a module."""
    parts = name.split(".")[1:3]
    whole = ".".join(parts)
    return whole if whole in RANK else "".join(parts[:1])


@dataclass(frozen=True)
class Source:
    """A module: its path from the project's root and its text."""

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, self.path)

    @cached_property
    def name(self) -> str:
        dotted = self.path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
        return f"kimi_memory.{dotted}" if dotted.split(".")[0] == "plugins" else dotted

    @property
    def unit(self) -> str:
        return unit_of(self.name)

    def within(self, patterns: Iterator[str] | dict[str, str] | tuple[str, ...]) -> bool:
        return any(fnmatch(self.path, pattern) for pattern in patterns)


Rule = Callable[[list[Source]], Iterator[str]]


@cache
def sources() -> list[Source]:
    """Return all modules, each parsed once for all rules."""
    paths = [*(ROOT / "kimi_memory").rglob("*.py"), *(ROOT / "plugins").rglob("*.py")]
    return [
        Source(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))
        for path in sorted(paths)
    ]


def at_runtime(tree: ast.AST) -> Iterator[ast.AST]:
    """Walk a tree without what only a type checker sees."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            yield from (inner for branch in node.orelse for inner in (branch, *at_runtime(branch)))
        else:
            yield node
            yield from at_runtime(node)


def imports(source: Source, *, for_types: bool = False) -> Iterator[tuple[int, str, str]]:
    """Yield line, module and imported name ("" for a whole module).

    Args:
        source: a module.
        for_types: also what only a type checker sees.
    """
    package = source.name if source.path.endswith("__init__.py") else source.name.rpartition(".")[0]
    for node in ast.walk(source.tree) if for_types else at_runtime(source.tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")
            parts = base[: len(base) - node.level + 1] if node.level else []
            module = ".".join([*parts, *([node.module] if node.module else [])])
            yield from ((node.lineno, module, alias.name) for alias in node.names)


def internal(source: Source) -> Iterator[tuple[int, str]]:
    """Yield line and dotted name of everything imported from the package, for types as well."""
    for line, module, name in imports(source, for_types=True):
        if module.split(".")[0] == "kimi_memory":
            yield line, f"{module}.{name}" if name else module


# Rules about imports


def layers_hold(found: list[Source]) -> Iterator[str]:
    """A module imports from layers below its own, or from its own folder; for types as well."""
    for source in found:
        if source.unit in {"", "plugins", "templates"}:
            continue
        if source.unit not in RANK:
            yield f"{source.path}: {source.unit} is in no layer"
            continue
        for line, target in internal(source):
            unit = unit_of(target)
            if unit in {source.unit, "__version__", "plugins"}:
                continue
            if unit not in RANK:
                yield f"{source.path}:{line}: imports {target}, the public face, from inside"
            elif RANK[unit] <= RANK[source.unit]:
                yield f"{source.path}:{line}: {source.unit} imports {target}, above or beside it"


def nothing_is_circular(found: list[Source]) -> Iterator[str]:
    """No modules import each other in a ring, not even inside functions or for types."""
    known = {source.name for source in found if source.name != "kimi_memory"}
    graph: dict[str, set[str]] = defaultdict(set)
    for source in found:
        if source.name in known:
            targets = {target for _, target in internal(source)}
            graph[source.name] = {t if t in known else t.rpartition(".")[0] for t in targets}
            graph[source.name] &= known - {source.name}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        yield f"a ring of imports: {' → '.join(reversed(error.args[1]))}"


def plugins_use_the_public_face(found: list[Source]) -> Iterator[str]:
    """A plugin imports what any third-party plugin may, and no other plugin."""
    public = ast.literal_eval(
        next(
            ast.unparse(node.value)
            for node in ast.parse((ROOT / "kimi_memory/__init__.py").read_text("utf-8")).body
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
        )
    )
    allowed = {f"kimi_memory.{name}" for name in public}
    for source in (s for s in found if s.unit == "plugins" and s.name != "kimi_memory.plugins"):
        for line, target in internal(source):
            own = ".".join(source.name.split(".")[:3])  # A plugin may be a folder.
            if target not in allowed and not f"{target}.".startswith(
                tuple(f"{p}." for p in (*PUBLIC, own))
            ):
                yield f"{source.path}:{line}: imports {target}, which is not public"


def plugins_are_not_imported(found: list[Source]) -> Iterator[str]:
    """Nobody imports a plugin but a module of its own folder: they are reached through hooks."""
    for source in found:
        own = ".".join(source.name.split(".")[:3])
        for line, target in internal(source):
            if target.startswith("kimi_memory.plugins") and not target.startswith(f"{own}."):
                yield f"{source.path}:{line}: imports {target}"


def libraries_have_one_home(found: list[Source]) -> Iterator[str]:
    """Each heavy library is imported in one module, or in its listed ones."""
    users: dict[str, list[Source]] = defaultdict(list)
    for source in found:
        for library in {module.split(".")[0] for _, module, _ in imports(source)} & HEAVY:
            users[library].append(source)
    for library, homes in sorted(users.items()):
        strangers = [s for s in homes if not s.within(SHARED.get(library, ()))]
        if library in SHARED:
            yield from (f"{s.path}: {library} has listed homes, not this one" for s in strangers)
        elif len(strangers) > 1:
            yield f"{library} is imported in {', '.join(s.path for s in strangers)}"


def libraries_are_known(found: list[Source]) -> Iterator[str]:
    """A third-party library is in the list above, so that it gets one home."""
    for source in found:
        for line, module, _ in imports(source):
            top = module.split(".")[0]
            if top not in {"kimi_memory", *HEAVY, *sys.stdlib_module_names}:
                yield f"{source.path}:{line}: {top} is no listed library"


def late_imports(source: Source) -> set[ast.stmt]:
    """Return the import statements that stand inside of functions."""
    functions = (
        n for n in ast.walk(source.tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    inner = (n for function in functions for n in ast.walk(function))
    return {n for n in inner if isinstance(n, ast.Import | ast.ImportFrom)}


def late_imports_are_few(found: list[Source]) -> Iterator[str]:
    """Imports stand at the head of a module, but for few."""
    late = {source.path: len(late_imports(source)) for source in found}
    if (total := sum(late.values())) > LATE_IMPORTS:
        most = sorted(late, key=late.__getitem__, reverse=True)[:5]
        yield f"{total} imports inside functions, most in {', '.join(most)}"


def imports_are_late_in_one_way(found: list[Source]) -> Iterator[str]:
    """An import statement in a function is the one way; by name only what is data."""
    for source in (s for s in found if not s.within(NAMED_IMPORTS)):
        for node in source.tree.body:
            if isinstance(node, ast.FunctionDef) and node.name == "__getattr__":
                yield f"{source.path}:{node.lineno}: a module that finds its own names"
        for node in ast.walk(source.tree):
            called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            if called.endswith(("import_module", "__import__", "LazyLoader", "exec_module")):
                yield f"{source.path}:{node.lineno}: {called}"


# Rules about the world outside

_OS_WRITES = {
    *("open", "write", "rename", "replace", "unlink", "remove", "mkdir", "makedirs", "rmdir"),
    *("link", "symlink", "truncate", "ftruncate", "removedirs", "renames", "chmod", "utime"),
}
_SHUTIL_WRITES = {"copy", "copy2", "copyfile", "copyfileobj", "copytree", "move", "rmtree"}
_PATH_WRITES = {
    *("write_text", "write_bytes", "touch", "unlink", "rmdir", "mkdir", "rename"),
    *("symlink_to", "hardlink_to"),
}


def _writes(call: ast.Call) -> bool:
    name = ast.unparse(call.func)
    owner, _, verb = name.rpartition(".")
    if owner == "os":
        return verb in _OS_WRITES
    if owner == "shutil":
        return verb in _SHUTIL_WRITES
    if verb == "open":
        words = [*call.args, *(k.value for k in call.keywords if k.arg == "mode")]
        modes = [w.value for w in words if isinstance(w, ast.Constant) and isinstance(w.value, str)]
        return any(len(mode) <= 3 and set(mode) & set("wax+") for mode in modes)
    # a path's replace takes one argument; those of text take two, of dates keywords
    one = len(call.args) == 1 and not call.keywords
    return bool(owner) and (verb in _PATH_WRITES or (verb == "replace" and one))


def only_the_store_writes(found: list[Source]) -> Iterator[str]:
    """Files are changed, and git is run, through the gateway alone."""
    for source in (s for s in found if not s.within(WRITERS)):
        for node in at_runtime(source.tree):
            if isinstance(node, ast.Call) and _writes(node):
                yield f"{source.path}:{node.lineno}: {ast.unparse(node.func)}() changes files"
        for line, module, name in imports(source):
            if module.split(".")[0] in {"subprocess", "tempfile"}:
                yield f"{source.path}:{line}: imports {module}"
            if (module, name in _OS_WRITES) == ("os", True):
                yield f"{source.path}:{line}: imports os.{name}"


def only_the_edge_reads_the_environment(found: list[Source]) -> Iterator[str]:
    """Environment, home and config directories are read once, at the edge."""
    for source in (s for s in found if not s.within(ENVIRONMENT)):
        for node in at_runtime(source.tree):
            text = ast.unparse(node) if isinstance(node, ast.Attribute) else ""
            if text in {"os.environ", "os.getenv", "Path.home"} or text.endswith(".expanduser"):
                yield f"{source.path}:{node.lineno}: reads {text}"
        for line, module, name in imports(source):
            if module == "platformdirs" or (module == "os" and name in {"environ", "getenv"}):
                yield f"{source.path}:{line}: imports {module} {name}".rstrip()


def only_the_host_catches_all(found: list[Source]) -> Iterator[str]:
    """Broad excepts stand around plugins, nowhere else."""
    broad = {"Exception", "BaseException"}
    for source in (s for s in found if s.path != "kimi_memory/hooks/host.py"):
        for node in ast.walk(source.tree):
            caught: list[ast.expr] = []
            if isinstance(node, ast.ExceptHandler):
                caught = [node.type] if node.type else [ast.Name("Exception")]
            elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("suppress"):
                caught = node.args
            names = {ast.unparse(n) for c in caught for n in getattr(c, "elts", [c])}
            if names & broad:
                yield f"{source.path}:{node.lineno}: catches everything"


def frozen_classes_are_compiled_late(found: list[Source]) -> Iterator[str]:
    """A frozen data class of the package is defined without its methods being compiled."""
    late = "kimi_memory/lazy_dataclass.py"
    for source in (s for s in found if s.path.startswith("kimi_memory/") and s.path != late):
        for line, module, name in imports(source):
            if (module, name) == ("dataclasses", "dataclass") and "(frozen" in source.text:
                yield f"{source.path}:{line}: {late} has the decorator for frozen ones"


def texts_reach_the_store_through_screened_doors(found: list[Source]) -> Iterator[str]:
    """Whoever hands the store something new is named, with why it holds no secret."""
    apart = ("kimi_memory/store/*.py", "kimi_memory/index/*.py")
    for source in (s for s in found if not s.within((*apart, *DOORS))):
        for node in ast.walk(source.tree):
            called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            if called.endswith(("store.apply", "store.append")):
                yield f"{source.path}:{node.lineno}: {called}"


RULES: tuple[Rule, ...] = (
    layers_hold,
    nothing_is_circular,
    plugins_use_the_public_face,
    plugins_are_not_imported,
    libraries_have_one_home,
    libraries_are_known,
    late_imports_are_few,
    imports_are_late_in_one_way,
    only_the_store_writes,
    only_the_edge_reads_the_environment,
    only_the_host_catches_all,
    frozen_classes_are_compiled_late,
    texts_reach_the_store_through_screened_doors,
)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_architecture_holds(rule: Rule) -> None:
    broken = list(rule(sources()))
    assert not broken, f"{rule.__doc__}\n" + "\n".join(broken)


PLANTED: list[tuple[Rule, str, str]] = [
    (layers_hold, "store/a.py", "from kimi_memory.index.manifest import read"),
    (layers_hold, "store/a.py", "def f():\n    from kimi_memory import index"),
    (layers_hold, "recall/a.py", "from kimi_memory.capture import log"),
    (layers_hold, "store/a.py", "from ..index import manifest"),
    (layers_hold, "store/a.py", "from kimi_memory import Memory"),
    (layers_hold, "nowhere/a.py", "import json"),
    (layers_hold, "api/memory.py", "from kimi_memory.cli import run"),
    (layers_hold, "nlp/new/a.py", "from kimi_memory.nlp.basic import patterns"),
    (layers_hold, "nlp/basic/a.py", "from kimi_memory.nlp.rules.slots import slot_of"),
    (layers_hold, "store/git/a.py", "from kimi_memory.store.store import Store"),
    (layers_hold, "hooks/a.py", "if TYPE_CHECKING:\n    from kimi_memory.api.memory import Memory"),
    (
        nothing_is_circular,
        "store/a.py",
        "if TYPE_CHECKING:\n    from kimi_memory.store import b",
    ),
    (nothing_is_circular, "store/a.py", "from kimi_memory.store import b"),
    (plugins_use_the_public_face, "plugins/a.py", "from kimi_memory.store.wal import journal"),
    (plugins_use_the_public_face, "plugins/a.py", "from kimi_memory.hooks.specs import SPECS"),
    (plugins_use_the_public_face, "plugins/a.py", "from kimi_memory.plugins import words"),
    (plugins_are_not_imported, "index/a.py", "import kimi_memory.plugins.words"),
    (libraries_have_one_home, "store/a.py", "import yaml"),
    (libraries_have_one_home, "store/a.py", "import numpy as np"),
    (libraries_are_known, "store/a.py", "import requests"),
    (late_imports_are_few, "store/a.py", "def f():\n" + "    import json\n" * (LATE_IMPORTS + 1)),
    (imports_are_late_in_one_way, "store/a.py", "def __getattr__(name):\n    return 1"),
    (imports_are_late_in_one_way, "store/a.py", "x = importlib.import_module('json')"),
    (only_the_store_writes, "capture/a.py", "open(path, 'a')"),
    (only_the_store_writes, "capture/a.py", "path.open(mode='wb')"),
    (only_the_store_writes, "capture/a.py", "path.replace(other)"),
    (only_the_store_writes, "capture/a.py", "os.rename(a, b)"),
    (only_the_store_writes, "capture/a.py", "path.write_text('x')"),
    (only_the_store_writes, "capture/a.py", "import subprocess"),
    (only_the_store_writes, "plugins/a.py", "shutil.rmtree(path)"),
    (texts_reach_the_store_through_screened_doors, "operations/a.py", "memory.store.apply(x, y)"),
    (
        texts_reach_the_store_through_screened_doors,
        "operations/a.py",
        "self._store.append(p, l, a)",
    ),
    (only_the_edge_reads_the_environment, "config.py", "x = os.environ['HOME']"),
    (only_the_edge_reads_the_environment, "config.py", "import platformdirs"),
    (only_the_edge_reads_the_environment, "plugins/a.py", "from os import getenv"),
    (only_the_host_catches_all, "store/a.py", "try:\n    x()\nexcept Exception:\n    y()"),
    (only_the_host_catches_all, "store/a.py", "try:\n    x()\nexcept:\n    y()"),
    (only_the_host_catches_all, "store/a.py", "try:\n    x()\nexcept BaseException:\n    y()"),
    (only_the_host_catches_all, "store/a.py", "with suppress(OSError, Exception):\n    x()"),
    (
        frozen_classes_are_compiled_late,
        "domain/a.py",
        "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass A:\n    a: int",
    ),
]

BESIDE = Source("kimi_memory/store/b.py", "import yaml\nfrom kimi_memory.store import a")


def test_every_layer_exists() -> None:
    assert not set(RANK) - {source.unit for source in sources()}


@pytest.mark.parametrize(
    "listed",
    [WRITERS, DOORS, ENVIRONMENT, NAMED_IMPORTS],
    ids=["writers", "doors", "environment", "named imports"],
)
def test_every_listed_module_exists(listed: dict[str, str]) -> None:
    assert not [path for path in listed if not any(s.within((path,)) for s in sources())]


def plant(path: str, text: str) -> list[Source]:
    return [Source(path if path.startswith("plugins/") else f"kimi_memory/{path}", text), BESIDE]


@pytest.mark.parametrize(
    ("rule", "path", "text"), PLANTED, ids=[f"{r.__name__}-{t[:40]}" for r, _, t in PLANTED]
)
def test_a_planted_violation_is_found(rule: Rule, path: str, text: str) -> None:
    assert list(rule(plant(path, text)))


INNOCENT = '''
from __future__ import annotations
from typing import TYPE_CHECKING
from kimi_memory import __version__
from kimi_memory.errors import UsageError
if TYPE_CHECKING:
    import numpy
    from kimi_memory.domain.note import Card
def f(text, path, day):
    """os.environ and open(x, "w") in words only."""
    with path.open("rb") as file:
        return text.replace("a", "b"), day.replace(year=2026), file.read()
'''


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_innocent_code_breaks_no_rule(rule: Rule) -> None:
    assert not list(rule([Source("kimi_memory/capture/a.py", INNOCENT)]))
