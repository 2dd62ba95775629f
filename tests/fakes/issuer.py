"""An issuer of identities on this machine: real keys, real HTTP, and what it answers wrongly."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

AUDIENCE = "kimi-memory"


class LocalIssuer:
    """Signs what it is asked to, and serves its keys."""

    def __init__(self) -> None:
        self.keys: dict[str, Any] = {"one": ec.generate_private_key(ec.SECP256R1())}
        self.asked: list[str] = []
        self.forms: list[dict[str, str]] = []
        self.says = ""
        """What it calls itself, where that is not its address."""
        self.down = False
        self.names_algorithms = True
        self.profile: dict[str, Any] = {}
        """What it tells of a person only to who asks with an access token."""
        self.answers: list[dict[str, Any]] = []
        """To those who log in with a code, one after the other."""
        issuer = self

        class Answering(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                issuer.asked.append(self.path)
                known = self.headers["authorization"] == "Bearer access"
                pages: dict[str, Any] = {
                    "/.well-known/openid-configuration": issuer.describe(),
                    "/keys": {"keys": issuer.publish()},
                    "/profile": issuer.profile if known else None,
                }
                if issuer.down or pages.get(self.path) is None:
                    self.send_error(503 if issuer.down else 404)
                else:
                    self._send(pages[self.path])

            def do_POST(self) -> None:
                length = int(self.headers["content-length"])
                form = parse_qs(self.rfile.read(length).decode())
                issuer.forms.append({name: value[0] for name, value in form.items()})
                answer = issuer.answers.pop(0)
                self._send(answer, 400 if "error" in answer else 200)

            def _send(self, body: dict[str, Any], status: int = 200) -> None:
                content = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *said: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def describe(self) -> dict[str, str]:
        return {
            "issuer": self.says or self.url,
            "jwks_uri": f"{self.url}/keys",
            "device_authorization_endpoint": f"{self.url}/device",
            "token_endpoint": f"{self.url}/token",
            "authorization_endpoint": f"{self.url}/authorize",
            "userinfo_endpoint": f"{self.url}/profile",
        }

    def publish(self) -> list[dict[str, Any]]:
        return [
            {**_algorithm(key).to_jwk(key.public_key(), as_dict=True), "kid": id, "use": "sig",
             **({"alg": _name(key)} if self.names_algorithms else {})}
            for id, key in self.keys.items()
        ]  # fmt: skip

    def sign(self, key: str = "one", algorithm: str = "", **claims: Any) -> str:
        """Return a token that is right but for what is given; None takes a claim out."""
        now = int(time.time())
        found = {"iss": self.url, "aud": AUDIENCE, "sub": "lin", "iat": now, "exp": now + 300}
        found = {name: value for name, value in (found | claims).items() if value is not None}
        name = algorithm or _name(self.keys[key])
        return jwt.encode(found, self.keys[key], name, {"kid": key})


def make_key(kind: str) -> Any:
    """Return a private key of a kind."""
    if kind == "RSA":
        return rsa.generate_private_key(65537, 2048)
    return ed25519.Ed25519PrivateKey.generate() if kind == "OKP" else ec.generate_private_key(
        ec.SECP256R1()
    )  # fmt: skip


def _name(key: Any) -> str:
    if isinstance(key, rsa.RSAPrivateKey):
        return "RS256"
    return "EdDSA" if isinstance(key, ed25519.Ed25519PrivateKey) else "ES256"


def _algorithm(key: Any) -> Any:
    return jwt.get_algorithm_by_name(_name(key))
