"""Basic text: sentences, words, patterns, similarity; no rule about what is meant."""
