"""memsearch with its hybrid search; all-MiniLM-L6-v2 serves it over its OpenAI provider.

It has no search without embeddings. The model is that of `benchmarks.minilm`, so nothing
is fetched, and a local server gives memsearch what a remote one would.
"""

from __future__ import annotations

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from pathlib import Path

from served import Ask, serve


def model_server() -> str:
    """Serve the model on this machine and return its address."""
    sys.path.append(str(Path(__file__).parents[2]))
    model = import_module("benchmarks.minilm").MiniLM()
    guard = threading.Lock()

    class Model(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            said = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            texts = [said["input"]] if isinstance(said["input"], str) else said["input"]
            with guard:
                vectors = model.embed_texts(texts=texts, purpose="note").vectors
            data = [
                {"object": "embedding", "index": at, "embedding": vector}
                for at, vector in enumerate(vectors)
            ]
            usage = {"prompt_tokens": 0, "total_tokens": 0}
            body = json.dumps(
                {"object": "list", "model": said["model"], "data": data, "usage": usage}
            ).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *said: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/v1"


async def index(folder: str) -> Ask:
    """Index the folder into Milvus Lite."""
    store = import_module("memsearch").MemSearch(
        [folder],
        embedding_provider="openai",
        embedding_model="all-MiniLM-L6-v2",
        embedding_base_url=model_server(),
        embedding_api_key="none",
        milvus_uri=str(Path.home() / "milvus.db"),
    )
    await store.index()

    async def ask(question: str, limit: int) -> list[str]:
        return [one["source"] for one in await store.search(question, top_k=limit)]

    return ask


if __name__ == "__main__":
    serve("memsearch", index)
