"""The ladder of an answer: parse, repair, one more try, else None and a note."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from kimi_memory import hookimpl
from kimi_memory.domain.note import Lang
from kimi_memory.domain.prompt import Prompt, Question, Reply
from kimi_memory.domain.session import Json
from kimi_memory.errors import ModelError
from kimi_memory.hooks.host import Host
from kimi_memory.llm.structured_output import Ladder, problem_of
from kimi_memory.llm.usage import MAX_CALLS, metered

SCHEMA: dict[str, Json] = {
    "type": "object",
    "required": ["items"],
    "properties": {
        "items": {
            "type": "array",
            "maxItems": 2,
            "items": {
                "type": "object",
                "required": ["op"],
                "properties": {
                    "op": {"type": "string", "enum": ["ADD", "DROP"]},
                    "n": {"type": "integer"},
                    "x": {"type": "number"},
                    "t": {"type": "string", "maxLength": 3},
                    "f": {"type": "boolean"},
                },
            },
        }
    },
}
ANSWER_SCHEMA = {
    "type": "object",
    "required": ["verdict"],
    "properties": {"verdict": {"type": "string", "enum": ["agrees", "conflicts"]}},
}
QUESTION = Question(text="Do they agree?", schema=ANSWER_SCHEMA, max_tokens=50)
GOOD = '{"verdict": "agrees"}'


@pytest.mark.parametrize(
    "value",
    [
        {"items": []},
        {"items": [{"op": "ADD"}, {"op": "DROP", "n": 3, "x": 1, "t": "部署吧", "f": False}]},
        {"items": [{"op": "ADD", "more": "is no harm"}], "and": 1},
    ],
)
def test_what_fits_has_no_problem(value: Json) -> None:
    assert problem_of(value, SCHEMA) == ""


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ([], "the answer is no object"),
        ({}, "the answer lacks 'items'"),
        ({"items": {}}, "items is no array"),
        ({"items": [1]}, "items, item 1, is no object"),
        ({"items": [{"op": "ADD"}, {}]}, "items, item 2, lacks 'op'"),
        ({"items": [{"op": "ADD"}] * 3}, "items has more than 2 items"),
        ({"items": [{"op": "EAT"}]}, "op is 'EAT', not one of ADD, DROP"),
        ({"items": [{"op": "ADD", "n": 1.5}]}, "n is no integer"),
        ({"items": [{"op": "ADD", "n": True}]}, "n is no integer"),
        ({"items": [{"op": "ADD", "x": "1"}]}, "x is no number"),
        ({"items": [{"op": "ADD", "t": "long"}]}, "t is longer than 3 characters"),
        ({"items": [{"op": "ADD", "f": 1}]}, "f is no boolean"),
    ],
)
def test_what_does_not_fit_is_named(value: Json, told: str) -> None:
    assert problem_of(value, SCHEMA) == told


def test_without_a_schema_everything_fits() -> None:
    assert problem_of({"any": [1]}, {}) == ""


class Echo:
    """A model that says what it is told to, one answer after the other."""

    def __init__(self, *answers: str | Reply | Exception) -> None:
        self.answers, self.prompts = list(answers), list[Prompt]()

    @hookimpl
    def generate_text(self, prompt: Prompt) -> Reply | None:
        """Answer with the next line."""
        self.prompts.append(prompt)
        answer = self.answers.pop(0) if self.answers else GOOD
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, str):
            return Reply(text=answer, model="echo", tokens_in=40, tokens_out=8)
        return answer


def line(model: Echo) -> Ladder:
    return Ladder(model.generate_text, lambda: True)


def test_hook_generate_text() -> None:
    host, model = Host(entry_points=False), Echo()
    assert not host.line.ready
    assert host.line(QUESTION) is None
    host.register(model, "echo")
    assert host.line.ready
    assert host.line(QUESTION) == {"verdict": "agrees"}
    assert model.prompts == [Prompt(text="Do they agree?", schema=ANSWER_SCHEMA, max_tokens=50)]


@pytest.mark.parametrize(
    "said",
    [GOOD, f"Sure:\n```json\n{GOOD}\n```", '{"verdict": "agrees",}', f"<think>?</think>{GOOD}"],
)
def test_a_good_answer_is_taken_at_once(said: str) -> None:
    model = Echo(said)
    with metered() as meter:
        assert line(model)(QUESTION) == {"verdict": "agrees"}
    assert (meter.calls, meter.tokens_in, meter.tokens_out) == (1, 40, 8)
    assert meter.models == ["echo"]
    assert not meter.notes


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ("I cannot do that.", "no complete JSON"),
        ("", "empty"),
        ('{"verdict": "perhaps"}', "not one of agrees, conflicts"),
        ("[]", "no object"),
        (Reply(text=GOOD, model="echo", cut=True), "longer than 50 tokens"),
    ],
)
def test_a_bad_answer_gets_one_more_try_that_says_what_was_wrong(
    said: str | Reply, problem: str
) -> None:
    model = Echo(said, GOOD)
    with metered() as meter:
        assert line(model)(QUESTION) == {"verdict": "agrees"}
    assert meter.calls == 2
    first, second = (prompt.text for prompt in model.prompts)
    assert second.startswith(first) and problem in second


def test_two_bad_answers_leave_the_rules_alone() -> None:
    model = Echo("no", "no", GOOD)
    with metered() as meter:
        assert line(model)(QUESTION) is None
    assert meter.calls == 2
    assert not meter.models
    assert meter.notes == [
        "echo gave no usable answer (there is no complete JSON in the answer); rules decided alone"
    ]


def test_a_server_that_fails_is_not_asked_again_in_the_same_job() -> None:
    model = Echo(ModelError("the server is away."))
    with metered() as meter:
        ask = line(model)
        assert [ask(QUESTION), ask(QUESTION)] == [None, None]
        assert not ask.ready
    assert len(model.prompts) == 1
    assert len(meter.notes) == 1
    assert "the server is away" in meter.notes[0]
    with metered():
        assert line(model)(QUESTION) is not None


def test_a_plugin_that_breaks_is_a_model_that_fails() -> None:
    host = Host(entry_points=False)
    host.register(Echo(RuntimeError("bug")), "echo")
    with metered() as meter:
        assert host.line(QUESTION) is None
    assert "Plugin 'echo' failed in generate_text" in meter.notes[0]


def test_a_job_has_an_end_to_its_asking() -> None:
    model = Echo(*["no"] * (MAX_CALLS * 2))
    with metered() as meter:
        ask = line(model)
        while ask.ready:
            ask(QUESTION)
    assert meter.calls == len(model.prompts) == MAX_CALLS


def test_the_last_try_is_counted_too() -> None:
    model = Echo("no", GOOD)
    with metered() as meter:
        meter.calls = MAX_CALLS - 1
        assert line(model)(QUESTION) is None
    assert "asked as much as it may" in meter.notes[-1]


def test_no_model_is_no_failure() -> None:
    with metered() as meter:
        assert Ladder(lambda prompt: None, lambda: True)(QUESTION) is None
    assert (meter.calls, meter.notes) == (0, [])


def versions(*questions: Question) -> Sequence[str]:
    with metered() as meter:
        ask = line(Echo())
        for question in questions:
            ask(question)
    return meter.prompts


def test_the_version_of_a_prompt_is_that_of_its_template_and_schema() -> None:
    def judge(block: str, lang: Lang = Lang.EN, schema: object = None) -> Question:
        return Question(
            template="prompts/judge",
            lang=lang,
            schema=schema or ANSWER_SCHEMA,
            values={"block": block},
        )

    assert len(versions(judge("old: a"), judge("old: b"))) == 1
    assert len(versions(judge("a"), judge("a", Lang.ZH))) == 2
    assert len(versions(judge("a"), judge("a", schema={"type": "object"}))) == 2
    assert all(len(version) == 12 for version in versions(judge("a")))


@pytest.mark.parametrize("lang", list(Lang))
@pytest.mark.parametrize("stem", ["distil", "judge", "rerank"])
def test_every_prompt_shows_its_values_in_both_languages(stem: str, lang: Lang) -> None:
    values = {"block": "BLOCK", "limit": 8, "query": "QUERY", "count": 3}
    model = Echo()
    line(model)(
        Question(template=f"prompts/{stem}", lang=lang, schema=ANSWER_SCHEMA, values=values)
    )
    (prompt,) = model.prompts
    assert "BLOCK" in prompt.text
    assert "{" in prompt.text
    assert "{{" not in prompt.text


def test_a_plugin_may_leave_the_line_out_of_its_arguments() -> None:
    seen = list[object]()

    class Asks:
        @hookimpl
        def judge_conflict(self, card: object, ask: Callable[..., object]) -> None:
            seen.append(ask)

    host = Host(entry_points=False)
    host.register(Asks(), "asks")

    class Quiet:
        @hookimpl
        def judge_conflict(self, draft: object) -> str:
            return "quiet"

    host.register(Quiet(), "quiet")
    assert host.answer("judge_conflict", card=1, draft=2) == "quiet"
    assert not seen


ITEMS = Question(
    text="List them.",
    schema={
        "type": "object",
        "properties": {"notes": {"type": "array", "items": {"required": ["n"], "type": "object"}}},
    },
    each="notes",
)


def test_items_stand_or_fall_alone() -> None:
    model = Echo('{"notes": [{"n": 1}, 7, {"m": 2}]}')
    assert line(model)(ITEMS) == {"notes": [{"n": 1}, {"m": 2}]}
    assert len(model.prompts) == 1


def test_of_an_answer_that_was_cut_off_the_complete_items_count() -> None:
    model = Echo(Reply(text='{"notes": [{"n": 1}, {"n"', model="echo", cut=True))
    with metered() as meter:
        assert line(model)(ITEMS) == {"notes": [{"n": 1}]}
    assert meter.notes == ["echo did not finish; what was complete counts"]


@pytest.mark.parametrize("said", ['{"notes": [1, 2]}', "no", '{"notes": {"n": '])
def test_an_answer_without_items_is_asked_for_once_more(said: str) -> None:
    model = Echo(Reply(text=said, model="echo", cut=True), said)
    assert line(model)(ITEMS) is None
    assert len(model.prompts) == 2


def test_many_items_are_cut() -> None:
    found = line(Echo('{"notes": [' + ", ".join(['{"n": 1}'] * 90) + "]}"))(ITEMS)
    assert isinstance(found, dict)
    assert found["notes"] == [{"n": 1}] * 40
