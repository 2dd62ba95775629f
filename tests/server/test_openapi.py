"""The OpenAPI document: valid, complete, and true of what the server answers."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fakes.served import Served, environment

from kimi_memory import Memory
from kimi_memory.server.openapi import document
from kimi_memory.server.routes import ROUTES

spec = pytest.importorskip("openapi_spec_validator", reason="needs a validator of OpenAPI")


def test_the_document_is_valid_openapi_3_1() -> None:
    made = document(ROUTES)
    assert made["openapi"] == "3.1.0"
    spec.validate(made)


def test_every_route_is_in_it_once_with_its_scope() -> None:
    paths = document(ROUTES)["paths"]
    names = [operation["operationId"] for path in paths.values() for operation in path.values()]
    assert len(names) == len(set(names)) == len(ROUTES) + 2
    for route in ROUTES:
        operation = paths[route.path][route.method.lower()]
        assert operation["security"] == ([{"token": [route.scope]}, {}] if route.scope else [{}])


@pytest.mark.parametrize(
    ("method", "path", "sent"),
    [
        ("post", "/search", {"query": "部署 port"}),
        ("post", "/append", {"content": "缓存用 Redis。"}),
        ("get", "/get", {"path": "MEMORY.md"}),
        ("post", "/v1/recall", {"query": "staging port"}),
        ("post", "/v1/context", {"query": "staging"}),
        ("get", "/v1/get", {"what": "USER.md"}),
        ("get", "/v1/log", {"limit": 3}),
        ("get", "/v1/diff", {}),
        ("get", "/v1/status", {}),
        ("get", "/v1/health", {}),
        ("get", "/v1/sessions", {}),
        ("get", "/v1/review", {}),
        ("get", "/v1/conflicts", {}),
        ("post", "/v1/sessions", {"id": "told"}),
        ("post", "/v1/remember", {"text": "The mast is 21 m high.", "key": "mast"}),
        ("post", "/v1/consolidate", {"period": "daily"}),
        ("post", "/v1/forget", {"key": "mast", "dry_run": True}),
        ("post", "/v1/compact", {"messages": [{"role": "user", "content": "早"}], "session": "c"}),
        ("post", "/v1/flush", {"messages": [{"role": "user", "content": "早"}], "session": "c"}),
        ("get", "/v1/trace", {"id": "none"}),
        ("post", "/search", {}),
    ],
)
def test_answers_are_what_the_document_says(
    served: Served, method: str, path: str, sent: dict[str, Any]
) -> None:
    from openapi_schema_validator import OAS31Validator

    with served.client() as client:
        told = client.get("/openapi.json").json()
        place = "json" if method == "post" else "params"
        answer = client.request(method, path, **{place: sent})
    response = told["paths"][path][method]["responses"][str(answer.status_code)]
    schema = response["content"]["application/json"]["schema"]
    OAS31Validator({**schema, "components": told["components"]}).validate(answer.json())


def test_no_request_that_fits_the_document_or_nearly_breaks_the_server(
    serving: Callable[..., Served], tmp_path: Path
) -> None:
    """Requests are made from the document by its own rules, and by breaking them."""
    pytest.importorskip("schemathesis", reason="needs a tester of OpenAPI")
    with Memory.create(tmp_path / "memory") as memory:
        memory.remember("部署定在每周五下午。", key="deploy.day")
    server = serving(tmp_path / "memory", tmp_path / "home")
    checks = ("not_a_server_error", "status_code_conformance", "content_type_conformance",
              "response_schema_conformance", "unsupported_method")  # fmt: skip
    command = [
        *(sys.executable, "-m", "schemathesis.cli", "run", f"{server.url}/openapi.json"),
        *("--checks", ",".join(checks), "--exclude-path", "/v1/events"),
        *("--seed", "11", "--generation-deterministic"),
        *("--max-examples", "5", "--max-time", "20", "--no-color"),
    ]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env=environment(tmp_path / "home"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6000:]
