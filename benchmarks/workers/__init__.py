"""Scripts that run inside the environments of other programs, each asked over its input."""
