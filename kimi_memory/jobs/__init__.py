"""Jobs: what was said becomes knowledge, step by step, and every job can be undone."""
