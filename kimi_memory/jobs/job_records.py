"""Records of jobs: where each lies, and whether a job ran over the same inputs before."""

from __future__ import annotations

from kimi_memory.store.store import Store

FOLDER = "mid-term/jobs"


def job_path(id: str) -> str:
    """Return the path of a job's record."""
    return f"{FOLDER}/{id}.json"


def job_id(kind: str, inputs: str) -> str:
    """Return the id of the job over these inputs: the same inputs, the same job."""
    return f"{kind}-{inputs[:12]}"


def is_recorded(store: Store, kind: str, inputs: str) -> bool:
    """Whether a job of a kind ran over the same inputs and was not undone."""
    return store.exists(job_path(job_id(kind, inputs)))
