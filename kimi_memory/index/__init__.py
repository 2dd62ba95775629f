"""The index: units of recall read from the files, their postings, and generations on disk."""
