"""The ladder an answer climbs: parse, check its schema, repair, one more try, else rules alone."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from kimi_memory.domain.prompt import Prompt, Question, Reply, Schema
from kimi_memory.domain.session import Json
from kimi_memory.errors import KimiMemoryError
from kimi_memory.formats.page_lines import fill, source
from kimi_memory.llm.usage import Meter, running
from kimi_memory.nlp.basic.json_repair import salvage, salvage_items

_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
}
TRIES = 2
"""One answer, and one more that shows what was wrong with the first."""
# The model needs to see its mistake, and each token of it costs.
SHOWN_CHARS = 2000
# A model that repeats itself fills an answer with hundreds.
MAX_ITEMS = 40
"""Items of one answer that are looked at."""
log = logging.getLogger("kimi_memory.llm")


def problem_of(value: Json, schema: Schema) -> str:
    """Return the first reason why a value does not fit a schema, or an empty string."""
    # By hand and not by a library: six kinds of schema are used, and a model needs one reason in
    # plain words.
    return next(_find_problems(value, schema, "the answer"), "")


def _find_problems(value: Json, schema: Schema, place: str) -> Iterator[str]:
    wanted = str(schema.get("type", ""))
    if wanted and not _is_type(value, wanted):
        yield f"{place} is no {wanted}"
        return
    choices = schema.get("enum")
    if isinstance(choices, list) and value not in choices:
        yield f"{place} is {str(value)[:40]!r}, not one of {', '.join(map(str, choices))}"
    if isinstance(value, str) and len(value) > _read_bound(schema, "maxLength"):
        yield f"{place} is longer than {schema['maxLength']} characters"
    if isinstance(value, dict):
        yield from _of_object(value, schema, place)
    if isinstance(value, list):
        yield from _of_list(value, schema, place)


def _is_type(value: Json, wanted: str) -> bool:
    fits = isinstance(value, _TYPES[wanted])
    # To Python, True is an integer.
    return fits and (wanted == "boolean" or not isinstance(value, bool))


def _of_object(value: Mapping[str, Json], schema: Schema, place: str) -> Iterator[str]:
    needed = schema.get("required")
    for name in needed if isinstance(needed, list) else ():
        if name not in value:
            yield f"{place} lacks {name!r}"
    known = schema.get("properties")
    for name, inner in known.items() if isinstance(known, dict) else ():
        if name in value and isinstance(inner, dict):
            yield from _find_problems(value[name], inner, name)


def _of_list(value: list[Json], schema: Schema, place: str) -> Iterator[str]:
    if len(value) > _read_bound(schema, "maxItems"):
        yield f"{place} has more than {schema['maxItems']} items"
    inner = schema.get("items")
    if isinstance(inner, dict):
        for number, item in enumerate(value, 1):
            yield from _find_problems(item, inner, f"{place}, item {number},")


def _read_bound(schema: Schema, name: str) -> float:
    bound = schema.get(name)
    return float(bound) if isinstance(bound, int | float) else float("inf")


class Ladder:
    """The `ask` that hooks are given.

    Args:
        generate: asks the plugins; None when none has a model.
        able: whether any plugin could have one, known without loading it.
    """

    def __init__(
        self, generate: Callable[[Prompt], Reply | None], able: Callable[[], bool]
    ) -> None:
        self._generate, self._able = generate, able

    @property
    def ready(self) -> bool:
        """Whether a model is configured and the job may still ask."""
        return self._able() and not running().spent

    def __call__(self, question: Question) -> Json:
        """Return an answer that fits the schema, or None: then rules decide alone."""
        if not self.ready:
            return None
        meter, (prompt, version) = running(), _build_prompt(question)
        said, asked = "", prompt
        for _ in range(TRIES):
            reply = self._ask_model(asked, meter)
            if reply is None:
                return None
            value, problem = _read_reply(reply, question)
            if not problem:
                if reply.cut:
                    meter.tell(f"{reply.model} did not finish; what was complete counts")
                meter.used(reply.model, version)
                return value
            # From the first prompt each time: a chain of failed answers only grows.
            asked = replace(prompt, text=_build_retry_text(prompt, question, reply, problem))
            said = f"{reply.model} gave no usable answer ({problem}); rules decided alone"
        meter.tell(said)
        return None

    def tell(self, note: str) -> None:
        """Add a line to the report of the job."""
        running().tell(note)

    def _ask_model(self, prompt: Prompt, meter: Meter) -> Reply | None:
        if meter.spent:
            meter.tell("the job has asked as much as it may; rules decided the rest alone")
            return None
        meter.calls += 1
        try:
            reply = self._generate(prompt)
        except KimiMemoryError as error:
            log.debug("no answer: %s", error)
            # Each further question of the job would wait for the same server as long again.
            meter.stopped = True
            meter.tell(f"no answer from the model; rules decided alone: {error}")
            return None
        if reply is None:
            # No plugin answered, so no model was asked.
            meter.calls -= 1
            return None
        meter.count(reply)
        return reply


def _build_prompt(question: Question) -> tuple[Prompt, str]:
    """Return the prompt of a question and the version hash of what it was made from."""
    if question.template:
        lang = str(question.lang)
        made_from, text = (
            source(question.template, lang),
            fill(question.template, lang, **question.values),
        )
    else:
        made_from = text = question.text
    told = json.dumps([made_from, question.schema], sort_keys=True, ensure_ascii=False)
    # Of the template and not of the text: the record of a job then says which wording it was asked
    # in.
    version = hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()[:12]
    prompt = Prompt(text=text, schema=question.schema, max_tokens=question.max_tokens)
    return prompt, version


def _read_reply(reply: Reply, question: Question) -> tuple[Json, str]:
    """Return the value in an answer and an empty string, or None and what is wrong."""
    if question.each:
        return _read_items(reply, question)
    if reply.cut:
        return None, f"it was longer than {question.max_tokens} tokens"
    try:
        value: Json = salvage(reply.text)
    except ValueError as error:
        # The words of the error go back to the model, which often mends it at the second try.
        return None, str(error)
    problem = problem_of(value, question.schema)
    return (None, problem) if problem else (value, "")


def _read_items(reply: Reply, question: Question) -> tuple[Json, str]:
    name = question.each
    try:
        items = salvage_items(reply.text, name, _required_member(question))
    except ValueError as error:
        # What the parser says of a reply that was cut is beside the point.
        return None, "it was cut off" if reply.cut else str(error)
    whole = [one for one in items if isinstance(one, dict)]
    if items and not whole:
        return None, f"its {name} are no objects"
    return {name: list(whole[:MAX_ITEMS])}, ""


def _required_member(question: Question) -> str:
    """Return what every item of an answer has by its schema."""
    part: Json = dict(question.schema)
    for step in ("properties", question.each, "items", "required"):
        part = part.get(step) if isinstance(part, dict) else None
    return str(part[0]) if isinstance(part, list) and part else ""


def _build_retry_text(prompt: Prompt, question: Question, reply: Reply, problem: str) -> str:
    # Its own answer again, cut: a small model's window is soon full.
    said = reply.text[:SHOWN_CHARS]
    told = fill("prompts/again", str(question.lang), problem=problem, answer=said)
    return f"{prompt.text}\n{told}"
