"""The one gateway that writes: files, locks, journal, transactions and history."""
