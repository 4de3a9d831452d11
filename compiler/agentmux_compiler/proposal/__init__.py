"""Propose the sources of a project that has none: from the files its agents read today, or from nothing."""
