"""Files of a memory: paths, locks, system calls, the folder itself."""
