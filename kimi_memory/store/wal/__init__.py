"""The write-ahead log: journal, plans, transactions, recovery."""
