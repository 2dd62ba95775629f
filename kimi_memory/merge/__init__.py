"""Three-way merge of memories: of values and not of lines, the same from either side."""
