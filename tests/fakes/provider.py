"""A real provider of OpenID Connect, in a process of its own: Canaille, with people and a client.

``python provider.py PORT CLIENT REDIRECT NAME…`` serves until it is killed. Each person has a
password of the own name and ``-password``. ``make test-browser`` installs it, apart from us.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PYTHON = Path(sys.prefix) / "issuer/bin/python"
"""What runs it."""


@contextmanager
def provider(logs: Path, client: str, redirect: str, *names: str) -> Iterator[str]:
    """Give the address of a provider; it is called by another name than our server is."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    call = [str(PYTHON), __file__, str(port), client, redirect, *names]
    log = logs / "provider"
    with log.open("w") as said:
        process = subprocess.Popen(call, stdout=said, stderr=said)
    try:
        end = time.monotonic() + 120
        while not _answers(port):
            assert process.poll() is None and time.monotonic() < end, log.read_text()
            time.sleep(0.05)
        yield f"http://localhost:{port}"
    finally:
        process.kill()
        process.wait()


def _answers(port: int) -> bool:
    with socket.socket() as asked:
        return asked.connect_ex(("127.0.0.1", port)) == 0


def serve(port: int, client: str, redirect: str, names: list[str]) -> None:
    """Serve people and a client until the process is killed."""
    from canaille import create_app
    from canaille.app import models
    from canaille.backends import Backend
    from werkzeug.serving import make_server

    settings = {
        "SECRET_KEY": "of a test",
        "SERVER_NAME": f"localhost:{port}",
        "PREFERRED_URL_SCHEME": "http",
        "CANAILLE": {"DATABASE": "memory", "JAVASCRIPT": False, "HTMX": False},
        "CANAILLE_OIDC": {},
    }
    app = create_app(settings)
    with app.app_context():
        save = Backend.instance.save
        for name in names:
            mail, words = f"{name}@example.com", f"{name}-password"
            person = {"user_name": name, "formatted_name": name, "family_name": name}
            save(models.User(**person, password=words, emails=[mail]))
        # A public client: without a secret, so that only its verifier tells that it began.
        made = models.Client(
            client_id=client, client_name="The memory", client_uri=redirect,
            redirect_uris=[redirect], grant_types=["authorization_code"],
            response_types=["code"], scope=["openid", "profile", "groups"],
            token_endpoint_auth_method="none",
        )  # fmt: skip
        save(made)
        made.audience = [made]
        save(made)
    make_server("127.0.0.1", port, app, threaded=True).serve_forever()


if __name__ == "__main__":
    serve(int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4:])
