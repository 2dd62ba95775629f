"""No bytes make a parser fail in a way it does not document, or take long."""

from __future__ import annotations

import os
import statistics
from contextlib import suppress
from itertools import count
from time import monotonic, process_time

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from kimi_memory.capture.ingest import from_bytes
from tests.fuzz.inputs import ODDITIES, PUMPS, READABLE, hostile
from tests.fuzz.targets import READERS, TARGETS, Target, plugin

ROUND = 50
SLOWEST = 50
"""How many times the usual time per byte the worst input may take."""
every_target = pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)


def first_seed() -> int:
    """The same everywhere under CI, another one each time elsewhere."""
    return 0 if os.environ.get("CI") else int.from_bytes(os.urandom(4))


@every_target
def test_no_input_breaks_a_parser(target: Target, patience: float) -> None:
    seeds = [*(text.encode() for text in target.seeds), *ODDITIES]
    began = monotonic()
    for number in count(first_seed()):

        @seed(number)
        @settings(
            max_examples=ROUND,
            deadline=None,
            database=None,
            phases=[Phase.generate, Phase.shrink],
            suppress_health_check=list(HealthCheck),
        )
        @given(hostile(seeds))
        def check(content: bytes) -> None:
            with suppress(*target.refuses):
                target.run(content)

        check()
        if monotonic() - began > patience:
            return


@pytest.mark.parametrize("name", READERS)
def test_every_reader_takes_one_of_the_inputs(name: str) -> None:
    read = plugin(name).read_transcript
    files = {file: read(from_bytes(file, text.encode())) for file, text in READABLE.items()}
    assert [file for file, found in files.items() if list(found or ())]


@every_target
def test_no_input_takes_long_for_its_size(target: Target, is_long: bool) -> None:
    size = 1 << (16 if is_long else 12)
    real = [pace(target, tiled(text, size)) for text in target.seeds]
    pumped = {pump: tiled(pump, size) for pump in PUMPS}
    pumped = {pump: target.wrap.replace("{}", text) for pump, text in pumped.items()}
    paces = {pump: pace(target, text) for pump, text in pumped.items()}
    # Some refuse at a glance; what they are made for and a plain loop are usual as well.
    usual = max(statistics.median(paces.values()), one_pass(target.seeds[0]), *real)
    slow = [pump for pump, found in paces.items() if found > SLOWEST * usual]
    # A busy machine slows an input down once, a bad pattern each time.
    ratios = {pump: min(pace(target, pumped[pump]) for _ in range(3)) / usual for pump in slow}
    assert {pump: round(ratio) for pump, ratio in ratios.items() if ratio > SLOWEST} == {}


def tiled(text: str, size: int) -> str:
    return text * max(1, size // len(text.encode()))


def pace(target: Target, text: str) -> float:
    """Return the seconds per byte that a target takes."""
    content = text.encode()
    began = process_time()
    with suppress(*target.refuses):
        target.run(content)
    return (process_time() - began) / len(content)


def one_pass(text: str) -> float:
    """Return the seconds per byte of a loop that looks at every character once."""
    text = tiled(text, 1 << 16)
    began = process_time()
    [char.isspace() for char in text]
    return (process_time() - began) / len(text.encode())


def test_the_fuzzer_finds_a_planted_fault() -> None:
    def trips(content: bytes) -> None:
        assert not (b"\r" in content and b"---\n" in content)

    with pytest.raises(AssertionError):
        test_no_input_breaks_a_parser(Target("planted", trips, (TARGETS[0].seeds[0],)), 30)


def test_a_planted_slow_parser_is_found() -> None:
    def slow(content: bytes) -> None:
        if content.startswith(b"aaa"):
            [sum(content[n:]) for n in (*range(len(content)),) * 8]

    with pytest.raises(AssertionError, match="'a'"):
        test_no_input_takes_long_for_its_size(Target("planted", slow, ("words ",)), is_long=False)
