"""The host: where plugins come from, which are refused and why, and whose failure it was."""

from __future__ import annotations

import inspect
import logging
import textwrap
from collections.abc import Sequence
from pathlib import Path

import pytest

from kimi_memory import hookimpl
from kimi_memory.domain.screen import Span
from kimi_memory.domain.search_types import ChunkSizes
from kimi_memory.errors import ModelError, PluginError
from kimi_memory.hooks.host import Host, Loaded
from kimi_memory.hooks.specs import SPECS

KINDS = ("Answer", "Gather", "Notice")

MASKING = """
    from kimi_memory import hookimpl
    from kimi_memory.domain.screen import Span

    @hookimpl
    def screen_text(text):
        return [Span(0, 4, "{rule}")] if text.startswith("工号") else []
"""


def write(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    return path


def entry(host: Host, name: str) -> Loaded:
    return next(loaded for loaded in host.loaded if loaded.name == name)


def spans(host: Host, text: str) -> list[Span]:
    return [span for found in host.gather("screen_text", text=text) for span in found]


@pytest.fixture
def distribution(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed package that offers two plugins, one of which cannot be imported."""
    site = tmp_path / "site"
    write(site, "staff_numbers.py", MASKING.format(rule="staff-number"))
    write(site, "half_done.py", "import a_library_that_is_not_there")
    points = """
        [kimi_memory]
        staff = staff_numbers
        broken = half_done
    """
    write(site / "staff_numbers-1.0.dist-info", "entry_points.txt", points)
    metadata = "Metadata-Version: 2.1\nName: staff-numbers\nVersion: 1.0\n"
    write(site / "staff_numbers-1.0.dist-info", "METADATA", metadata)
    monkeypatch.syspath_prepend(site)
    return site


def test_an_installed_plugin_is_found_by_its_entry_point(distribution: Path) -> None:
    host = Host()
    assert spans(host, "工号 12345") == [Span(0, 4, "staff-number")]
    assert entry(host, "staff").origin == "entry point staff-numbers"
    assert entry(host, "staff").hooks == ("screen_text",)


def test_an_entry_point_that_cannot_be_imported_is_skipped_with_its_reason(
    distribution: Path,
) -> None:
    host = Host()
    assert "a_library_that_is_not_there" in entry(host, "broken").skipped
    assert spans(host, "工号 12345")


def test_entry_points_are_left_alone_when_not_asked_for(distribution: Path) -> None:
    assert "staff" not in {loaded.name for loaded in Host(entry_points=False).loaded}


def test_a_disabled_plugin_is_not_even_imported(distribution: Path) -> None:
    host = Host(disabled=["staff", "broken"])
    assert entry(host, "staff").skipped == entry(host, "broken").skipped
    assert "disabled" in entry(host, "broken").skipped


def test_a_bundled_plugin_can_be_disabled() -> None:
    first = next((loaded.name for loaded in Host(entry_points=False).loaded), "")
    assert first, "no bundled plugin"
    host = Host(entry_points=False, disabled=[first])
    assert "disabled" in entry(host, first).skipped
    assert not entry(host, first).hooks


def test_a_file_in_the_folder_is_a_plugin(tmp_path: Path) -> None:
    path = write(tmp_path, "numbers.py", MASKING.format(rule="staff-number"))
    host = Host(folder=tmp_path, entry_points=False)
    assert spans(host, "工号 12345") == [Span(0, 4, "staff-number")]
    assert entry(host, "numbers") == Loaded("numbers", str(path), ("screen_text",))


def test_a_missing_folder_holds_no_plugins(tmp_path: Path) -> None:
    host = Host(folder=tmp_path / "none", entry_points=False)
    assert {loaded.origin for loaded in host.loaded} <= {"bundled"}


def test_a_taken_name_is_said(distribution: Path, tmp_path: Path) -> None:
    write(tmp_path / "mine", "staff.py", MASKING.format(rule="second"))
    host = Host(folder=tmp_path / "mine")
    assert [loaded.skipped for loaded in host.loaded if loaded.name == "staff"] == [
        "",
        "the name is taken",
    ]
    assert spans(host, "工号 12345") == [Span(0, 4, "staff-number")]


def test_registering_a_taken_name_keeps_the_first(tmp_path: Path) -> None:
    host = Host(entry_points=False)
    host.register(Mask("first"), "mask")
    with pytest.raises(PluginError, match="'mask' does not fit: the name is taken"):
        host.register(Mask("second"), "mask")
    assert Span(0, 1, "first") in spans(host, "x")
    assert Span(0, 1, "second") not in spans(host, "x")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param(
            """
            from kimi_memory import hookimpl
            @hookimpl
            def screen_text(text):
                raise AssertionError("half of a refused plugin runs")
            @hookimpl
            def screen_txet(text):
                return []
            """,
            "screen_txet",
            id="misspelt hook",
        ),
        pytest.param(
            """
            from kimi_memory import hookimpl
            @hookimpl
            def capture_turn(turn, words):
                return []
            @hookimpl
            def screen_text(text):
                raise AssertionError("half of a refused plugin runs")
            """,
            "words",
            id="unknown argument",
        ),
        pytest.param(
            """
            from kimi_memory import hookimpl
            @hookimpl(wrapper=True)
            def recalled(query, hits):
                return (yield)
            """,
            "recalled is told, not asked",
            id="wrapper of a notice",
        ),
        pytest.param("raise RuntimeError('坏了')", "RuntimeError: 坏了", id="import error"),
        pytest.param("def (:", "SyntaxError", id="syntax error"),
        pytest.param(
            "def create(settings):\n    return settings['url']", "[plugins.bad]", id="settings"
        ),
        pytest.param(
            """
            from kimi_memory.errors import PluginError
            def create(settings):
                raise PluginError("没有这条规则")
            """,
            "PluginError: 没有这条规则",
            id="refused settings",
        ),
    ],
)
def test_a_plugin_that_does_not_fit_is_skipped_whole(
    text: str, reason: str, tmp_path: Path
) -> None:
    write(tmp_path, "bad.py", text)
    write(tmp_path, "good.py", MASKING.format(rule="good"))
    host = Host(folder=tmp_path, entry_points=False)
    assert reason in entry(host, "bad").skipped
    assert not entry(host, "bad").hooks
    assert spans(host, "工号 12345") == [Span(0, 4, "good")]


def test_a_factory_gets_the_users_settings_for_its_name(tmp_path: Path) -> None:
    text = """
        from kimi_memory import hookimpl
        from kimi_memory.domain.screen import Span

        def create(settings):
            return Rule(settings["rule"])

        class Rule:
            def __init__(self, rule):
                self.rule = rule

            @hookimpl
            def screen_text(self, text):
                return [Span(0, 1, self.rule)]
    """
    write(tmp_path, "made.py", text)
    host = Host({"made": {"rule": "工号"}, "other": {}}, folder=tmp_path, entry_points=False)
    assert Span(0, 1, "工号") in spans(host, "x")


class Mask:
    """Masks the first character under a given rule name."""

    def __init__(self, rule: str) -> None:
        self.rule = rule

    @hookimpl
    def screen_text(self, text: str) -> list[Span]:
        return [Span(0, 1, self.rule)]


class Ear:
    """Remembers what it was told."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    @hookimpl
    def recalled(self, query: object) -> None:
        self.heard.append(str(query))


class Broken:
    """Fails in every kind of hook."""

    @hookimpl(tryfirst=True)
    def recalled(self) -> None:
        raise RuntimeError("down")

    @hookimpl(tryfirst=True)
    def split_words(self, text: str) -> list[str]:
        raise KeyError(text)

    @hookimpl
    def screen_text(self, text: str) -> list[Span]:
        raise ValueError("no")

    @hookimpl(tryfirst=True)
    def split_note(self) -> None:
        raise ModelError("the server is asleep")


def test_a_failing_notice_does_not_stop_the_others(caplog: pytest.LogCaptureFixture) -> None:
    host, before, after = Host(entry_points=False), Ear(), Ear()
    host.register(before, "before")
    host.register(Broken(), "broken")
    host.register(after, "after")
    with caplog.at_level(logging.ERROR):
        host.notice("recalled", query="端口", hits=[])
    assert before.heard == after.heard == ["端口"]
    assert "plugin broken failed in recalled" in caplog.text


@pytest.mark.parametrize(
    ("kind", "hook", "said"),
    [
        ("answer", "split_words", "Plugin 'broken' failed in split_words: KeyError: '词'"),
        ("gather", "screen_text", "Plugin 'broken' failed in screen_text: ValueError: no"),
    ],
)
def test_a_failing_plugin_is_named(kind: str, hook: str, said: str) -> None:
    host = Host(entry_points=False)
    host.register(Mask("innocent"), "innocent")
    host.register(Broken(), "broken")
    with pytest.raises(PluginError) as caught:
        getattr(host, kind)(hook, text="词")
    assert said in str(caught.value)


def test_the_wrapped_plugin_is_named_not_its_wrapper() -> None:
    class Wrapper:
        @hookimpl(wrapper=True)
        def split_words(self, text: str):
            return (yield)

    host = Host(entry_points=False)
    host.register(Broken(), "broken")
    host.register(Wrapper(), "wrapper")
    with pytest.raises(PluginError, match="'broken' failed"):
        host.answer("split_words", text="词")


def test_an_error_of_the_tree_passes_as_it_is() -> None:
    host = Host(entry_points=False)
    host.register(Broken(), "broken")
    with pytest.raises(ModelError, match="asleep"):
        host.answer("split_note", text="# 标题", sizes=ChunkSizes())


def test_two_hosts_share_no_plugins() -> None:
    first, second = Host(entry_points=False), Host(entry_points=False)
    first.register(Mask("only-first"), "mask")
    assert Span(0, 1, "only-first") in spans(first, "x")
    assert Span(0, 1, "only-first") not in spans(second, "x")


@pytest.mark.parametrize("hook", SPECS)
def test_a_hook_says_its_kind_first(hook: str) -> None:
    doc = inspect.getdoc(SPECS[hook]) or ""
    assert doc.split(":")[0] in KINDS
    first_result = SPECS[hook].kimi_memory_spec["firstresult"]
    assert first_result is doc.startswith("Answer"), "an Answer, and only an Answer, ends early"


def test_many_calls_are_answered_like_each_alone() -> None:
    class Named:
        @hookimpl
        def screen_text(self, text: str) -> list[Span] | None:
            return [Span(0, len(text), "named")] if text else None

    class Wrapping:
        @hookimpl(wrapper=True)
        def screen_text(self):
            return [*(yield), [Span(0, 0, "wrapped")]]

    host = Host(entry_points=False)
    host.register(Named(), "named")
    calls = [{"text": text} for text in ("ada@example.com", "", "端口是 5432")]
    for plugin in (None, Wrapping()):
        if plugin is not None:
            host.register(plugin, "wrapping")
        alone = [host.gather("screen_text", **call) for call in calls]
        assert host.gather_each("screen_text", calls) == alone
        assert [Span(0, 15, "named")] in alone[0]


def test_bundled_plugins_answer_many_calls_like_each_alone() -> None:
    host = Host(entry_points=False)
    calls = [{"text": "部署用 PostgreSQL"}, {"text": "Deploy on Friday"}, {"text": ""}]
    alone = [host.gather("screen_text", **call) for call in calls]
    assert host.gather_each("screen_text", calls) == alone


def test_a_hook_is_offered_by_who_may_answer_it() -> None:
    class Reranker:
        @hookimpl
        def rerank(self, query: str, texts: Sequence[str]) -> list[float] | None:
            return None

    host = Host(entry_points=False)
    assert not host.offers("rerank")  # the bundled one has no settings
    assert host.offers("weigh_hit")
    host.register(Reranker(), "again")
    assert host.offers("rerank")


def test_a_plugin_that_fails_in_many_calls_is_named() -> None:
    class Failing:
        @hookimpl
        def screen_text(self, text: str) -> list[Span]:
            raise ValueError("no")

    host = Host(entry_points=False)
    host.register(Failing(), "failing")
    with pytest.raises(PluginError, match="failing"):
        host.gather_each("screen_text", [{"text": "a"}])
