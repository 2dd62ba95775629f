"""Values: what a memory is made of. No I/O here."""
