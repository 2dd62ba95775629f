"""The wire between a hook and a server."""

from __future__ import annotations

import json
import socket
import threading
from pathlib import Path

import pytest

from kimi_memory.agent_hooks import socket_protocol


def serve_once(root: Path, answer: bytes) -> threading.Thread:
    (root / ".kimi").mkdir(parents=True)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(socket_protocol.address(str(root)))
    listener.listen()

    def work() -> None:
        line, _ = listener.accept()
        with line:
            socket_protocol.receive(line)
            line.sendall(answer)
        listener.close()

    thread = threading.Thread(target=work)
    thread.start()
    return thread


@pytest.mark.parametrize("depth", [0, 6])
def test_a_memory_may_lie_as_deep_as_it_likes(tmp_path: Path, depth: int) -> None:
    root = tmp_path.joinpath(*["一个很长的文件夹名字"] * depth)
    thread = serve_once(root, b'{"out": "\\u597d"}\n')
    assert socket_protocol.ask(str(root), {"a": 1}) == {"out": "好"}
    thread.join()


@pytest.mark.parametrize("answer", [b"", b"{", b"[1]\n", b"\xff\n"])
def test_nonsense_is_no_answer(tmp_path: Path, answer: bytes) -> None:
    thread = serve_once(tmp_path, answer)
    assert socket_protocol.ask(str(tmp_path), {}) is None
    thread.join()


def test_nobody_there_is_no_answer(tmp_path: Path) -> None:
    assert socket_protocol.ask(str(tmp_path), {}) is None


def test_a_request_comes_whole_however_long_it_is() -> None:
    here, there = socket.socketpair()
    sent = json.dumps({"prompt": "长" * 100_000}).encode() + b"\n"
    thread = threading.Thread(target=here.sendall, args=(sent,))
    thread.start()
    assert socket_protocol.receive(there) == sent
    thread.join()
    here.close()
    there.close()


def test_a_line_without_end_is_refused() -> None:
    here, there = socket.socketpair()

    def send() -> None:
        try:
            while True:
                here.sendall(b"x" * 65536)
        except OSError:
            here.close()

    thread = threading.Thread(target=send)
    thread.start()
    with there, pytest.raises(ValueError, match="too long"):
        socket_protocol.receive(there)
    thread.join()
