"""Nouns: one name in both languages."""

from __future__ import annotations
