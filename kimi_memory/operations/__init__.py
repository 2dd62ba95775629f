"""What a person or a schedule asks of an opened memory: check it, correct it, look after it."""
