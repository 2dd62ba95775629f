"""Values: what a memory is made of, and their text form. No I/O here."""
