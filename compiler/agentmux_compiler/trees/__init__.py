"""Trees other than a folder as it is: one laid over it, and a git revision."""
