"""The HTTP API: the library over the wire, for programs in any language."""
