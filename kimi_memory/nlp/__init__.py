"""Words, sentences, languages and lengths of Chinese and English text. No I/O here."""
