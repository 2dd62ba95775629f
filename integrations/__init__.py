"""Packages for agent programs: what each of them needs to have this memory."""
