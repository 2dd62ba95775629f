"""Rules for Chinese and English: what a sentence states, asks, changes or orders."""
