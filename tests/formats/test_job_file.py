"""Files of jobs keep what they hold and refuse what is broken."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from kimi_memory.formats import job_file
from tests.formats.strategies import examples, jobs


@examples(40)
@given(jobs())
def test_a_job_is_read_as_it_was_written(job):
    content = job_file.job_json(job)
    assert job_file.job_of(content) == job
    assert job_file.job_json(job_file.job_of(content)) == content


def test_a_job_with_broken_parts_is_refused():
    for broken in ({"operations": 1}, {"effects": [1]}, {"at": None}):
        record = {"id": "j", "kind": "daily", "at": "2026-02-27T09:10:00Z", **broken}
        with pytest.raises(ValueError, match=r"should|missing"):
            job_file.job_of(json.dumps(record).encode())
