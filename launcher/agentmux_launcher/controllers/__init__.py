"""How a CLI is driven: one process for many turns, a process for each, or its own screen."""
