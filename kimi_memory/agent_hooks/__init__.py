"""Hooks of agent programs: what each sends, what memory answers, and a server that keeps it quick.

`entrypoint` comes first in every process and knows only a few modules of the standard library.
"""
