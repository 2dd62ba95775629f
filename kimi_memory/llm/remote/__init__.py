"""Servers of models: their settings, keys, requests and failures, for plugins that ask one."""
