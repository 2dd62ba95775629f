"""A memory in any editor, over the Language Server Protocol; reads only, what writes is a job."""
